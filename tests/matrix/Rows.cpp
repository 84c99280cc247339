#include "tests/matrix/Rows.h"

#include "compiler/passes/FeatureTable.h"
#include "ops/Profiles.h"
#include "ops/ShippedOps.h"
#include "tests/matrix/Pairwise.h"

#include <algorithm>
#include <functional>

namespace fw::matrix {
namespace {

/// What no shipped op has: bools that are known at launch, in selects and in logic of elements and
/// of the scalar program.
constexpr const char *kSwitches = R"(op switches over elements {
  in x, y;  out z;  state n = 0
  hyper swap : bool = false, negate : bool = true, k = 2
  a = if swap then y else x
  b = if swap then x else y
  c = if negate and not swap then -k else k + 1
  grows = swap == negate or k > 1
  n = if grows then n + a else n
  z = if negate == (x > y) and grows then fma(a, c, b) else if swap then n else b
}
)";

/// Something a request can choose: one of `count` values.
struct Factor {
  unsigned count;
  std::function<void(Request &, unsigned value)> choose;
};

/// 8-bit formats are in the language for casts; optimizers take the arithmetic ones.
std::vector<std::string> dtypesFor(const std::string &op) {
  std::vector<std::string> names = {"f32", "bf16", "f16", "f64"};
  if (op == "cast")
    for (const char *name : {"e4m3fn", "e4m3fn.sat", "e5m2", "e5m2.sat"})
      names.emplace_back(name);
  return names;
}

/// All operands that some choice of options has.
std::vector<std::string> allOperands(const language::OpHandle &op,
                                     const std::vector<language::OptionInfo> &options) {
  std::vector<std::string> names;
  size_t combinations = 1;
  for (const language::OptionInfo &option : options)
    combinations *= option.values.size();
  for (size_t number = 0; number < combinations; ++number) {
    language::OptionValues chosen;
    size_t rest = number;
    for (const language::OptionInfo &option : options) {
      chosen[option.name] = option.values[rest % option.values.size()];
      rest /= option.values.size();
    }
    if (auto resolved = language::resolve(*op, chosen))
      for (const language::OperandInfo &operand : resolved->info.operands)
        if (std::find(names.begin(), names.end(), operand.name) == names.end())
          names.push_back(operand.name);
  }
  return names;
}

void addOptionFactors(std::vector<Factor> &factors,
                      const std::vector<language::OptionInfo> &options) {
  for (const language::OptionInfo &option : options)
    factors.push_back({unsigned(option.values.size()), [option](Request &request, unsigned value) {
                         request.options[option.name] = option.values[value];
                       }});
}

/// Dtypes to try for what a feature adds to each operand; none where it adds nothing of the kind.
std::vector<std::string> addedDtypes(const passes::Feature &feature) {
  const bool isPerOperand = feature.operand.find("{0}") != feature.operand.npos;
  return isPerOperand ? std::vector<std::string>{"bf16", "f16"} : std::vector<std::string>();
}

/// Off, or on with each dtype of what the feature adds.
void addFeatureFactors(std::vector<Factor> &factors, const language::OpHandle &op) {
  for (const std::string &name : validFeatures(*op)) {
    const passes::Feature *feature = passes::findFeature(name);
    const std::vector<std::string> dtypes = addedDtypes(*feature);
    factors.push_back(
        {unsigned(1 + std::max<size_t>(dtypes.size(), 1)),
         [name, feature, op, dtypes](Request &request, unsigned value) {
           if (value == 0)
             return;
           request.features.insert(name);
           auto resolved = language::resolve(*op, request.options);
           for (const language::OperandInfo &operand : resolved->info.operands)
             if (!dtypes.empty() && language::info(operand.role).name == feature->role)
               request.dtypes[passes::addedName(*feature, operand.name)] = dtypes[value - 1];
         }});
  }
}

std::vector<Factor> factorsOf(const language::OpHandle &op, std::span<const std::string> archs,
                              std::vector<std::string> &operands) {
  std::vector<Factor> factors;
  auto resolved = language::resolve(*op, {});
  addOptionFactors(factors, resolved->info.options);
  operands = allOperands(op, resolved->info.options);
  for (const std::string &operand : operands)
    factors.push_back(
        {unsigned(dtypesFor(op->name).size()), [operand](Request &request, unsigned value) {
           request.dtypes[operand] = dtypesFor(request.op->name)[value];
         }});
  addFeatureFactors(factors, op);
  factors.push_back({unsigned(archs.size()),
                     [archs](Request &request, unsigned value) { request.target = archs[value]; }});
  return factors;
}

/// Operands that the chosen options leave out must not be named.
void dropUnknownOperands(Request &request, const std::vector<std::string> &operands) {
  auto resolved = language::resolve(*request.op, request.options);
  for (const std::string &operand : operands)
    if (!resolved->info.operand(operand))
      request.dtypes.erase(operand);
}

void addPairwise(std::vector<Request> &rows, const language::OpHandle &op,
                 std::span<const std::string> archs) {
  std::vector<std::string> operands;
  std::vector<Factor> factors = factorsOf(op, archs, operands);
  std::vector<unsigned> levels;
  for (const Factor &factor : factors)
    levels.push_back(factor.count);
  for (const std::vector<unsigned> &choice : pairwise(levels)) {
    Request request{.op = op};
    for (size_t f = 0; f < factors.size(); ++f)
      factors[f].choose(request, choice[f]);
    dropUnknownOperands(request, operands);
    rows.push_back(std::move(request));
  }
}

/// One row for each arch, and for each dtype.
Result<void> addSwitches(std::vector<Request> &rows, std::span<const std::string> archs) {
  auto op = language::parseOp(kSwitches, "switches.fuse");
  if (!op)
    return op.takeError();
  std::vector<std::string> dtypes = dtypesFor("switches");
  for (size_t i = 0; i < std::max(archs.size(), dtypes.size()); ++i)
    rows.push_back({.op = *op,
                    .dtypes = {{"x", dtypes[i % dtypes.size()]},
                               {"y", dtypes[(i + 1) % dtypes.size()]},
                               {"z", dtypes[i % dtypes.size()]},
                               {"n", dtypes[(i + i / dtypes.size()) % dtypes.size()]}},
                    .target = archs[i % archs.size()]});
  return {};
}

} // namespace

Result<std::vector<Request>> matrixRows(std::span<const std::string> archs,
                                        const std::string &profileArch) {
  std::vector<Request> rows;
  for (const std::string &name : archs.empty() ? std::vector<std::string>() : compiledOpNames()) {
    auto op = findShippedOp(name);
    if (!op)
      return op.takeError();
    addPairwise(rows, *op, archs);
  }
  for (const Profile &profile : shippedProfiles()) {
    auto op = findShippedOp(profile.op);
    if (!op)
      return op.takeError();
    Request request{.op = *op, .options = profile.options, .target = profileArch};
    for (const auto &[operand, dtype] : profile.dtypes)
      request.dtypes[operand] = dtype;
    request.features.insert(profile.features.begin(), profile.features.end());
    rows.push_back(std::move(request));
  }
  if (!archs.empty())
    if (auto added = addSwitches(rows, archs); !added)
      return added.takeError();
  return rows;
}

std::string rowName(const Request &request, size_t number) {
  std::string digits = std::to_string(number);
  return request.op->name + "_" + std::string(4 - std::min<size_t>(4, digits.size()), '0') + digits;
}

std::string kernelFile(const std::string &row, size_t kernel) {
  return row + (kernel ? "_" + std::to_string(kernel) : "") + ".cu";
}

} // namespace fw::matrix
