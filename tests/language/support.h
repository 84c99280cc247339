// Helpers of this folder's tests.
#pragma once

#include "compiler/language/OpFile.h"
#include "compiler/language/Parser.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

/// A file as the grammar alone sees it.
struct Syntax {
  explicit Syntax(std::string_view text)
      : source("test.fuse", std::string(text)), diagnostics(source),
        tokens(fw::language::lex(source, diagnostics)),
        ops(fw::language::Parser(source, tokens, diagnostics).parseFile()) {}

  fw::language::Source source;
  fw::language::Diagnostics diagnostics;
  fw::language::TokenList tokens;
  std::vector<fw::language::Op> ops;
};

/// The op of a text that has no error.
inline fw::language::OpHandle parsed(std::string_view text, std::string_view name = {}) {
  fw::Result<fw::language::OpHandle> op = fw::language::parseOp(text, "test.fuse", name);
  EXPECT_TRUE(bool(op)) << (op ? "" : op.error().log);
  return op ? *op : fw::language::OpHandle{};
}

/// All diagnostics of a text that has an error.
inline std::string errorsOf(std::string_view text) {
  fw::Result<std::shared_ptr<const fw::language::OpFile>> file =
      fw::language::OpFile::parse(text, "test.fuse");
  return file ? "no error" : file.error().log;
}

/// An op over elements with operands x and y and a hyper a, whose body is `body`.
inline std::string opWith(std::string_view body) {
  return "op test over elements {\n  in x;  out y;  hyper a = 1\n  " + std::string(body) + "\n}\n";
}
