// Every shipped profile on this machine's CPU against the evaluator: bounds, bits, stray writes.
#include "ops/Profiles.h"
#include "ops/ShippedOps.h"
#include "tools/cli/Runner.h"
#include "tools/verify/Verify.h"

#include <gtest/gtest.h>

namespace fw {
namespace {

class Profiles : public testing::TestWithParam<Profile> {};

TEST_P(Profiles, verifiesOnTheCpu) {
  auto op = findShippedOp(GetParam().op);
  ASSERT_TRUE(bool(op));
  Request request;
  request.op = *op;
  request.options = GetParam().options;
  request.dtypes = {GetParam().dtypes.begin(), GetParam().dtypes.end()};
  request.features = {GetParam().features.begin(), GetParam().features.end()};
  auto resolved = resolve(request);
  ASSERT_TRUE(bool(resolved)) << render(resolved.error());
  auto options = verify::caseOptions(request, "sm_90", /*seed=*/20);
  ASSERT_TRUE(bool(options)) << render(options.error());

  auto runner = cli::Runner::create(host::Device{});
  ASSERT_TRUE(bool(runner)) << render(runner.error());
  auto compiled = runner->compile(*resolved);
  ASSERT_TRUE(bool(compiled)) << render(compiled.error());
  auto report = verify::verify(*resolved, *options, runner->ways(*resolved));
  ASSERT_TRUE(bool(report)) << render(report.error());
  EXPECT_EQ(report->failures, std::vector<std::string>());
  EXPECT_GT(report->elements, 0u);
}

std::string profileName(const testing::TestParamInfo<Profile> &info) {
  return info.param.op + "_" + std::to_string(info.index);
}

const std::vector<Profile> &all() {
  static const std::vector<Profile> profiles = shippedProfiles();
  return profiles;
}

INSTANTIATE_TEST_SUITE_P(Shipped, Profiles, testing::ValuesIn(all()), profileName);

} // namespace
} // namespace fw
