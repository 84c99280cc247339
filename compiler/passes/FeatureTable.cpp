#include "compiler/passes/FeatureTable.h"

#include <algorithm>
#include <limits>

namespace fw::passes {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(); // as the table spells it

constexpr Feature kFeatures[] = {
#define FW_FEATURE(pass, ...) Feature{__VA_ARGS__},
#include "compiler/passes/features.def"
#undef FW_FEATURE
};

const Feature *find(std::span<const Feature> table, std::string_view name) {
  auto found = std::find_if(table.begin(), table.end(),
                            [&](const Feature &feature) { return feature.name == name; });
  return found == table.end() ? nullptr : &*found;
}

std::string listNames(std::span<const Feature> table) {
  std::string out;
  for (const Feature &feature : table)
    out += (out.empty() ? "" : ", ") + std::string(feature.name);
  return out;
}

bool isListed(std::string_view list, std::string_view name) {
  return (" " + std::string(list) + " ").find(" " + std::string(name) + " ") != std::string::npos;
}

Error usage(std::string text, std::string remedy) {
  return {.code = Code::USAGE, .text = std::move(text), .remedy = std::move(remedy)};
}

Result<void> checkNames(std::span<const std::string> names, std::span<const Feature> table) {
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (!find(table, *name))
      return usage("expected a feature (" + listNames(table) + "), got '" + *name + "'",
                   "choose one of the list");
    if (std::find(names.begin(), name, *name) != name)
      return usage("expected each feature once, got '" + *name + "' twice", "give it once");
  }
  return {};
}

Result<void> checkConflicts(std::span<const std::string> names, std::span<const Feature> table) {
  for (const std::string &name : names) {
    const Feature &feature = *find(table, name);
    for (const std::string &other : names)
      if (isListed(feature.conflicts, other))
        return usage("expected feature '" + name + "' without '" + other +
                         "', got both: " + std::string(feature.reason),
                     "drop one of the two");
  }
  return {};
}

bool isPerOperand(const Feature &feature) {
  return feature.operand.find("{0}") != feature.operand.npos;
}

/// False when no operand has the feature's role.
bool addFor(const Feature &feature, std::span<const FeatureOperand> operands,
            std::vector<AddedOperand> &added) {
  bool found = false;
  for (const FeatureOperand &operand : operands) {
    if (operand.role != feature.role)
      continue;
    found = true;
    if (isPerOperand(feature))
      added.push_back({addedName(feature, operand.name), std::string(feature.added),
                       std::string(feature.dtype)});
  }
  if (found && !feature.operand.empty() && !isPerOperand(feature))
    added.push_back({std::string(feature.operand), std::string(feature.added),
                     std::string(feature.dtype), "all"});
  return found;
}

} // namespace

std::span<const Feature> allFeatures() { return kFeatures; }

bool writesRole(const Feature &feature) { return feature.effect == "written"; }
bool unreadsRole(const Feature &feature) { return feature.effect == "unread"; }

const Feature *findFeature(std::string_view name) { return find(kFeatures, name); }

std::string addedName(const Feature &feature, std::string_view operand) {
  std::string out(feature.operand);
  if (size_t place = out.find("{0}"); place != std::string::npos)
    out.replace(place, 3, operand);
  return out;
}

bool isAddedBy(const Feature &feature, std::string_view operand) {
  if (feature.operand.empty())
    return false;
  size_t place = feature.operand.find("{0}");
  if (place == std::string_view::npos)
    return operand == feature.operand;
  return operand.starts_with(feature.operand.substr(0, place)) &&
         operand.ends_with(feature.operand.substr(place + 3));
}

Result<void> checkFeatures(std::span<const std::string> names, std::span<const Feature> table) {
  if (auto known = checkNames(names, table); !known)
    return known;
  return checkConflicts(names, table);
}

Result<std::vector<AddedOperand>> addedOperands(std::span<const FeatureOperand> operands,
                                                std::span<const std::string> names,
                                                std::span<const Feature> table) {
  if (auto legal = checkFeatures(names, table); !legal)
    return legal.takeError();
  std::vector<AddedOperand> added;
  for (const Feature &feature : table) {
    if (std::find(names.begin(), names.end(), feature.name) == names.end())
      continue;
    if (!addFor(feature, operands, added))
      return usage("expected an op with an operand of role " + std::string(feature.role) +
                       " for feature '" + std::string(feature.name) + "', got none",
                   "drop the feature");
  }
  return added;
}

} // namespace fw::passes
