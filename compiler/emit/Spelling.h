// The table spelling.def, and texts that know how tightly they bind. No MLIR.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fw::emit {

/// Binding strength, loosest first; C's order, with powers for comments.
enum class Level {
  Structure,
  Choice,
  Or,
  And,
  Bits, // & | ^: each in parentheses beside another
  Equality,
  Order,
  Sum,
  Product,
  Prefix,
  Power,
  Call,
  Name
};

struct Spelling {
  std::string_view op;
  std::string_view text = {};
  std::string_view plain = {};
  std::string_view scalar = {};
  Level level;
};

/// All rows, in the table's order.
std::span<const Spelling> allSpellings();

/// The row of `op` ("arith.addf", "arith.cmpf olt"), or null.
const Spelling *findSpelling(std::string_view op);

/// An expression; `depth` counts nested operations.
struct Text {
  std::string text;
  Level level = Level::Name;
  int depth = 0;
};

/// `pattern` with {k} replaced by operand k, in parentheses where it binds less tightly than the
/// pattern; calls separate their operands themselves.
Text fill(std::string_view pattern, Level level, std::span<const Text> operands);

} // namespace fw::emit
