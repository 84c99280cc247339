// What an op asks for and gives, for one choice of its options. The order of the operands here is
// the order of every array of the C interface (before features add theirs).
#pragma once

#include "compiler/language/Ast.h"
#include "compiler/language/Scope.h"
#include "compiler/support/Error.h"

#include <map>
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
  Scope scope;                   ///< element, tensor or all, as it prints
  std::optional<double> neutral; ///< value of an absent optional operand; nothing: not optional
  std::optional<double> initial; ///< value of a state before the first step; nothing: no state
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

  const OperandInfo *operand(std::string_view name) const;
  const HyperInfo *hyper(std::string_view name) const;
  /// Names of the operands that the op writes.
  std::vector<std::string> outputs() const;
};

/// Type and scope of an expression.
struct ValueInfo {
  Type type = Type::Real;
  Scope scope = Scope::constant();
  /// Set where the value follows from the options alone; a select on it has only the chosen arm.
  std::optional<bool> option = {};
};

/// An op with its options folded: what becomes the semantic level.
struct ResolvedOp {
  const Op *op;
  OptionValues options; ///< every option has a value
  OpInfo info;
  std::vector<const Assignment *> body; ///< the assignments of the chosen arms, in order
  std::vector<ValueInfo> values;        ///< by Expr::id; meaningful for what `body` reaches
};

/// The options of an op with `chosen` and else the defaults; an error for an unknown option or
/// value.
Result<OptionValues> completeOptions(const Op &op, const OptionValues &chosen);

/// The op for these options. The op must have passed the checks.
Result<ResolvedOp> resolve(const Op &op, const OptionValues &chosen);

/// An error unless `value` is within the hyper's range, or 0 or 1 for a bool.
Result<void> validateHyper(const HyperInfo &hyper, double value);

} // namespace fw::language
