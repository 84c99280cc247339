// What the reference says of a guarded step whose scalars are outside their ranges, which nobody
// checks where they are read from memory. tests/runtime and tests/gpu/suite run kernels over the
// same rows.
#include "compiler/Reference.h"
#include "ops/ShippedOps.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fw {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// sgd over one tensor of three elements that are 1, with all other numbers 1 too.
class Step {
public:
  explicit Step(std::set<std::string> features) : request(resolved(std::move(features))) {
    for (const RequestOperand &operand : request.operands)
      inputs.data.push_back({operand.scope == "element" ? std::span<const double>(ones)
                                                        : std::span<const double>(ones, 1)});
    inputs.sizes = {std::size(ones)};
    inputs.scalars.emplace_back();
    for (const RequestScalar &scalar : request.scalars)
      inputs.scalars[0].push_back(scalar.value.value_or(1));
  }
  double &operator[](const std::string &scalar) {
    const auto found = std::ranges::find(request.scalars, scalar, &RequestScalar::name);
    return inputs.scalars[0][size_t(found - request.scalars.begin())];
  }
  std::vector<evaluator::Bound> of(const std::string &operand) const {
    Result<Reference> reference = Reference::make(request);
    EXPECT_TRUE(reference) << render(reference.error());
    Result<evaluator::Evaluation> result = reference->evaluate(inputs);
    EXPECT_TRUE(result) << render(result.error());
    return result->find(operand)->tensors.front();
  }

private:
  static ResolvedRequest resolved(std::set<std::string> features) {
    Request request;
    request.op = *findShippedOp("sgd");
    request.features = std::move(features);
    return *resolve(request);
  }
  static constexpr double ones[] = {1, 1, 1};
  const ResolvedRequest request;
  evaluator::Inputs inputs;
};

TEST(Guard, a_scalar_outside_its_range_skips_the_step) {
  const struct {
    const char *feature, *scalar;
    double value, report;
  } rows[] = {{"clip", "all.max_norm", NAN, -2},       {"clip", "all.max_norm", -1, -2},
              {"clip", "all.max_norm", -infinity, -2}, {"clip", "all.max_norm", 0, 0},
              {"clip", "all.max_norm", infinity, 0},   {"clip_value", "all.max_value", NAN, -2},
              {"clip_value", "all.max_value", -1, -2}, {"ema", "all.ema_decay", NAN, -2},
              {"unscale", "all.scale", -4, -2},        {"unscale", "all.scale", NAN, infinity},
              {"unscale", "all.scale", 0, infinity}};
  for (const auto &row : rows) {
    SCOPED_TRACE(testing::Message() << row.scalar << " = " << row.value);
    Step step({row.feature, "guard"});
    step[row.scalar] = row.value;
    const evaluator::Bound report = step.of("all.skipped").front();
    EXPECT_EQ(report.lo, row.report);
    EXPECT_EQ(report.hi, row.report);
    EXPECT_FALSE(report.nan);
    for (const evaluator::Bound &p : step.of("p")) {
      EXPECT_FALSE(p.nan || std::isnan(p.value));
      if (row.report != 0) {
        EXPECT_EQ(p.lo, 1);
        EXPECT_EQ(p.hi, 1);
      }
    }
  }
}

/// Without the guard the equations hold as they stand.
TEST(Guard, without_it_a_limit_that_is_nan_is_seen_in_every_parameter) {
  Step step({"clip"});
  step["all.max_norm"] = NAN;
  for (const evaluator::Bound &p : step.of("p"))
    EXPECT_TRUE(p.nan || std::isnan(p.value));
}

TEST(Guard, scalars_that_tensors_share_are_known) {
  auto shared = [](std::set<std::string> features) {
    Request request;
    request.op = *findShippedOp("sgd");
    request.features = std::move(features);
    const ResolvedRequest resolved = *resolve(request);
    const std::vector<bool> marked = Reference::make(resolved)->sharedScalars();
    std::string names;
    for (size_t i = 0; i < marked.size(); ++i)
      names += marked[i] ? resolved.scalars[i].name + " " : "";
    return names;
  };
  EXPECT_EQ(shared({}), "");
  EXPECT_EQ(shared({"unscale"}), "");
  EXPECT_EQ(shared({"unscale", "clip"}), "all.scale ");
  EXPECT_EQ(shared({"guard"}), "all.skip ");
  EXPECT_EQ(shared({"unscale", "clip", "guard"}), "all.scale all.max_norm all.skip ");
}

} // namespace
} // namespace fw
