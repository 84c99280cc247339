// The features by name (features.def) and what they add to an op's operands, without MLIR.
#pragma once

#include "compiler/support/Error.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fw::passes {

struct Feature {
  std::string_view name;
  std::string_view kind;
  std::string_view role;
  std::string_view operand;
  std::string_view added;
  std::string_view dtype;
  std::string_view effect;
  std::string_view scalar;
  double value;
  double low;
  bool open;
  std::string_view conflicts;
  std::string_view reason;
  std::string_view help;
};

/// An operand as far as features look at it.
struct FeatureOperand {
  std::string name;
  std::string role;

  bool operator==(const FeatureOperand &) const = default;
};

/// An operand that a feature adds, with the dtype it has where a request binds none.
struct AddedOperand {
  std::string name;
  std::string role;
  std::string dtype;
  std::string scope = "element"; ///< or "all"

  bool operator==(const AddedOperand &) const = default;
};

/// All features in the table's order, which is the order of their passes.
std::span<const Feature> allFeatures();

/// The feature called `name`, or null.
const Feature *findFeature(std::string_view name);

/// The name of the operand that `feature` adds for `operand`.
std::string addedName(const Feature &feature, std::string_view operand);

/// Whether `operand` is called like those that `feature` adds.
bool isAddedBy(const Feature &feature, std::string_view operand);

/// Whether `feature` makes the operands of its role written, or no longer read.
bool writesRole(const Feature &feature);
bool unreadsRole(const Feature &feature);

/// USAGE for an unknown or repeated name, or for two features that exclude each other.
Result<void> checkFeatures(std::span<const std::string> names,
                           std::span<const Feature> table = allFeatures());

/// What the features called `names` append to `operands`, in the order in which their passes append
/// it. USAGE where checkFeatures says so, or for an op without the operands needed.
Result<std::vector<AddedOperand>> addedOperands(std::span<const FeatureOperand> operands,
                                                std::span<const std::string> names,
                                                std::span<const Feature> table = allFeatures());

} // namespace fw::passes
