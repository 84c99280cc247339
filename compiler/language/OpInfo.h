// What an op asks for and gives, for one choice of its options. The order of the operands here is
// the order of every array of the C interface (before features add theirs).
#pragma once

#include "compiler/language/Ast.h"
#include "compiler/language/Scope.h"
#include "compiler/support/Error.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fw::language {

/// Option -> value; ordered, since it becomes part of keys.
using OptionValues = std::map<std::string, std::string>;

enum class Access : uint8_t { Read, Write, ReadWrite };
std::string_view spelling(Access access);

struct OperandInfo {
  std::string name;
  Role role;
  Access access;
  Type type;
  Scope scope;                   ///< element, tensor or all, or the axes kept, as it prints
  std::optional<double> neutral; ///< value of an absent optional operand; nothing: not optional
  std::optional<double> initial; ///< value of a state before the first step; nothing: no state
  /// In an op over axes, the axes of each tensor, slowest first: of the header, `1` for one place,
  /// or an axis of its own that is read at an index. Empty for one value, and over elements.
  std::vector<std::string> axes = {};
  bool gathered = false; ///< the body reads it at an index

  /// "element", "row", "[batch, 1, query, key]": the scope, or the axes where they say more.
  std::string printScope(const std::vector<std::string> &header) const;
};

struct HyperInfo {
  std::string name;
  Type type;
  std::optional<double> value; ///< the default; nothing: the caller must give one
  Range range;
};

struct OptionInfo {
  std::string name;
  std::vector<std::string> values; ///< the first one is the default
};

struct OpInfo {
  std::string name;
  std::string summary;
  std::vector<OptionInfo> options;   ///< of the op, whatever was chosen
  std::vector<OperandInfo> operands; ///< in the order of the text
  std::vector<HyperInfo> hypers;     ///< in the order of the text
  std::optional<std::string> step;   ///< name of the step count, if the op has one
  std::vector<std::string> axes;     ///< of the header; of an op over elements or scalars none
  size_t outer = 0;                  ///< axes before `;`
  bool usesStorage = false;          ///< asks what storage makes of an operand
  bool needsAxes = false;            ///< reads at an index of an axis, or swaps places on one
  bool swaps = false; ///< swaps places, so that nothing written may lie on what is read
  bool draws = false; ///< has the scalars seed and offset

  const OperandInfo *operand(std::string_view name) const;
  const HyperInfo *hyper(std::string_view name) const;
  /// Names of the operands that the op writes.
  std::vector<std::string> outputs() const;
};

/// Which of an operand's axes a read at an index of scope `place` gets along: the one that is not
/// of `header`, else the first that the index does not vary with.
std::optional<size_t> gatheredAxis(const std::vector<std::string> &axes,
                                   const std::vector<std::string> &header, const Scope &place);

/// Type and scope of an expression.
struct ValueInfo {
  Type type = Type::Real;
  Scope scope = Scope::constant();
  /// Set where the value follows from the options alone; a select on it has only the chosen arm.
  std::optional<bool> option = {};
  bool across = false; ///< made of a reduction over rows, for which all rows must have been seen
};

struct ResolvedCall;

/// An op with its options folded: what becomes the semantic level.
struct ResolvedOp {
  const Op *op;
  OptionValues options; ///< every option has a value
  OpInfo info;
  std::vector<const Assignment *> body; ///< the assignments of the chosen arms, in order
  std::vector<ValueInfo> values;        ///< by Expr::id; meaningful for what `body` reaches
  std::map<unsigned, std::shared_ptr<const ResolvedCall>> calls = {}; ///< by Expr::id of the call
};

/// A call: the op that it inlines, and what stands for the op's operands and hypers.
struct ResolvedCall {
  ResolvedOp op;
  std::map<std::string, const Expr *> arguments; ///< by the callee's name
  /// For each axis of the callee's header the caller's axes that it runs over, slowest first.
  std::vector<std::vector<size_t>> axes;
};

/// The options of an op with `chosen` and else the defaults; an error for an unknown option or
/// value.
Result<OptionValues> completeOptions(const Op &op, const OptionValues &chosen);

/// The op for these options. The op must have passed the checks.
Result<ResolvedOp> resolve(const Op &op, const OptionValues &chosen);

/// An error unless `value` is within the hyper's range, or 0 or 1 for a bool.
Result<void> validateHyper(const HyperInfo &hyper, double value);

} // namespace fw::language
