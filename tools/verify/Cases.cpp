#include "tools/verify/Cases.h"

#include "compiler/Stages.h"
#include "compiler/dialect/Dtypes.h"
#include "tools/verify/Values.h"

#include <algorithm>

namespace fw::verify {
namespace {

/// How the bases of the operands stand.
enum class Bases { ALIGNED, ALL_OFF, ONE_OFF };

struct Plan {
  std::string name;
  std::vector<uint64_t> sizes;
  Values values = Values::MIXED;
  Bases bases = Bases::ALIGNED;
  bool scalarsPerTensor = false;
};

constexpr std::pair<Values, const char *> kKinds[] = {{Values::NORMAL, "normal"},
                                                      {Values::TINY, "tiny"},
                                                      {Values::HUGE_, "huge"},
                                                      {Values::TIES, "ties"},
                                                      {Values::SPECIAL, "special"}};

/// Bytes that an element of all operands moves, as a launch counts them.
uint64_t bytesPerElement(const ResolvedRequest &request) {
  uint64_t bytes = 0;
  for (const RequestOperand &operand : request.operands)
    if (operand.present && operand.scope == "element")
      bytes +=
          findDtype(operand.dtype)->bytes * (unsigned(operand.read) + unsigned(operand.written));
  return bytes;
}

bool hasElements(const ResolvedRequest &request) {
  return std::ranges::any_of(
      request.operands, [](const RequestOperand &operand) { return operand.scope == "element"; });
}

std::vector<Plan> makePlans(const ResolvedRequest &request, const CaseOptions &options) {
  const uint64_t vec = options.vec, chunk = options.chunk;
  std::vector<Plan> plans;
  if (!hasElements(request)) { // an op over scalars has no list
    for (auto &[values, name] : kKinds)
      plans.push_back({name, {}, values});
    return plans;
  }
  for (auto &[values, name] : kKinds)
    for (uint64_t size : {uint64_t(1), vec - 1, vec})
      if (size > 0)
        plans.push_back({std::to_string(size) + " " + name, {size}, values});
  plans.push_back({"chunk - 1", {chunk - 1}});
  plans.push_back({"chunk + 1", {chunk + 1}});
  plans.push_back({"three tensors", {5, 3 * vec + 1, 67}, Values::MIXED, Bases::ALIGNED, true});
  plans.push_back({"empty first and last", {0, 33, 0}});
  plans.push_back({"bases one element off", {chunk / 4 + 3, 1}, Values::MIXED, Bases::ALL_OFF});
  plans.push_back(
      {"one base one element off", {chunk / 4 + 3, vec}, Values::MIXED, Bases::ONE_OFF});
  if (options.longBytes) {
    uint64_t half = options.longBytes / bytesPerElement(request) / 2;
    plans.push_back({"long list", {half + 1, half + vec}});
  }
  return plans;
}

/// The kind of element `i`: mixed lists change it every other element, so that a vector holds
/// several.
Values kindOf(Values values, uint64_t i) {
  return values == Values::MIXED ? kKinds[i / 2 % std::size(kKinds)].first : values;
}

/// Second moments and the like are not negative: with a sign half of them would only give NaN.
bool isMostlyPositive(const RequestOperand &operand, uint64_t i) {
  return operand.role == "state" && i % 8 != 7;
}

/// The scalars of features have one value for the plan; a random one would skip most steps.
bool isOfPlan(const RequestScalar &scalar) { return scalar.name.starts_with("all."); }

std::vector<uint64_t> makeTensor(const RequestOperand &operand, uint64_t size, Values values,
                                 uint64_t seed) {
  const Dtype &dtype = *findDtype(operand.dtype);
  std::vector<uint64_t> words(size);
  for (uint64_t i = 0; i < size; ++i) {
    Random random(mix(seed, i));
    words[i] = drawWord(random, dtype, kindOf(values, i), isMostlyPositive(operand, i));
  }
  return words;
}

Case makeCase(const ResolvedRequest &request, const Plan &plan, uint64_t seed) {
  Case out;
  out.name = plan.name;
  out.seed = seed;
  out.sizes = plan.sizes;
  for (size_t k = 0; k < request.operands.size(); ++k) {
    const RequestOperand &operand = request.operands[k];
    bool isOff = plan.bases == Bases::ALL_OFF || (plan.bases == Bases::ONE_OFF && k == 0);
    out.misaligned.push_back(isOff ? 1 : 0);
    std::vector<std::vector<uint64_t>> tensors;
    const size_t count = operand.scope == "all" ? 1 : plan.sizes.size();
    for (size_t t = 0; operand.present && t < count; ++t)
      tensors.push_back(makeTensor(operand, operand.scope == "element" ? plan.sizes[t] : 1,
                                   plan.values, mix(seed, k * 1000 + t)));
    out.words.push_back(std::move(tensors));
  }
  size_t rows = plan.scalarsPerTensor ? plan.sizes.size() : 1;
  for (size_t row = 0; row < rows; ++row) {
    Random random(mix(seed, 1000000 + row));
    std::vector<double> scalars;
    for (const RequestScalar &scalar : request.scalars)
      scalars.push_back(drawScalar(random, scalar, row == 0 || isOfPlan(scalar)));
    out.scalars.push_back(std::move(scalars));
  }
  return out;
}

} // namespace

Result<CaseOptions> caseOptions(const Request &request, const std::string &arch, uint64_t seed) {
  Request scheduled = request;
  scheduled.target = arch;
  auto resolved = resolve(scheduled);
  if (!resolved)
    return resolved.takeError();
  auto lowered = lower(*resolved);
  if (!lowered)
    return lowered.takeError();
  if (lowered->record.kernels.empty())
    return CaseOptions{.vec = 1, .chunk = 1, .seed = seed};
  const jit::LaunchRecord &launch = lowered->record.kernels.front().launch;
  if (launch.schedule.empty())
    return Error{.code = Code::USAGE,
                 .text = "expected an arch, which has a schedule, got '" + arch + "'",
                 .remedy = "name one of a GPU; `fusewright doctor` lists them"};
  return CaseOptions{.vec = uint64_t(launch.vec), .chunk = uint64_t(launch.chunk), .seed = seed};
}

std::vector<Case> makeCases(const ResolvedRequest &request, const CaseOptions &options) {
  std::vector<Case> cases;
  for (const Plan &plan : makePlans(request, options))
    cases.push_back(makeCase(request, plan, mix(options.seed, cases.size())));
  return cases;
}

} // namespace fw::verify
