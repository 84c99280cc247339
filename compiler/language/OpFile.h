// The entry of this room: op text -> checked ops.
#pragma once

#include "compiler/language/Ast.h"
#include "compiler/language/Diagnostics.h"
#include "compiler/language/OpInfo.h"

#include <memory>
#include <string_view>
#include <vector>

namespace fw::language {

constexpr size_t maxTextBytes = 64 * 1024;

struct OpHandle;

/// Ops that a text may call beside its own.
class OpLibrary {
public:
  virtual ~OpLibrary() = default;
  /// The op called `name`, or nothing.
  virtual std::optional<OpHandle> find(std::string_view name) const = 0;
  virtual std::vector<std::string> names() const = 0;
};

/// An op file that passed the checks. Its ops refer to its text, so it must outlive them: OpHandle.
class OpFile {
public:
  const std::string &name() const { return source.name(); }
  const std::vector<Op> &ops() const { return all; }
  /// The op called `name`, or null.
  const Op *find(std::string_view name) const;
  /// Rendered warnings; empty if there are none.
  const std::string &warnings() const { return rendered; }
  const Source &text() const { return source; }

  /// Parses and checks op text. The error is the first one, with all diagnostics in its log. What
  /// its ops call is looked for in the text first, then in `library`.
  static Result<std::shared_ptr<const OpFile>>
  parse(std::string_view text, std::string_view fileName, const OpLibrary *library = nullptr);

private:
  OpFile(std::string_view text, std::string_view fileName)
      : source(std::string(fileName), std::string(text)) {}
  void read(Diagnostics &diagnostics, const OpLibrary *library);
  void link(const OpLibrary *library);
  void computeHashes();

  Source source;
  TokenList tokens;
  std::vector<Op> all;
  std::vector<std::shared_ptr<const OpFile>> called; ///< files of the library that ops refer to
  std::string rendered;
};

/// An op together with the file that it lives in.
struct OpHandle {
  std::shared_ptr<const OpFile> file;
  const Op *op = nullptr;

  const Op *operator->() const { return op; }
  const Op &operator*() const { return *op; }
};

/// The op called `name` of op text; with an empty name the text must have one op only.
Result<OpHandle> parseOp(std::string_view text, std::string_view fileName,
                         std::string_view name = {}, const OpLibrary *library = nullptr);

} // namespace fw::language
