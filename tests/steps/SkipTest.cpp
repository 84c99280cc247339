// Every optimizer with every set of features that has the guard, on the CPU: a skipped step changes
// no byte, and one that is applied is what equations by hand give.
#include "tests/gpu/suite/Steps.h"

#include <deque>

namespace suite {
namespace {

const std::vector<std::string> features = {"unscale", "clip", "clip_value", "master",
                                           "copy",    "ema",  "zero_grad"};

/// The guard alone, with each feature, with each pair, with all.
std::vector<std::string> featureSets() {
  std::vector<std::string> sets = {"guard"};
  std::string all = "guard";
  for (size_t i = 0; i < features.size(); ++i) {
    sets.push_back("guard," + features[i]);
    for (size_t k = i + 1; k < features.size(); ++k)
      sets.push_back("guard," + features[i] + "," + features[k]);
    all += "," + features[i];
  }
  sets.push_back(all);
  return sets;
}

/// Beside f32.
const char *const otherDtypes[] = {"grad=bf16", "param=bf16,grad=f16",
                                   "param=f64,grad=f64,state=f64"};

class Skips : public testing::TestWithParam<std::string> {};

TEST_P(Skips, change_no_byte) {
  const HandStep &step = handStep(GetParam());
  api::Context context = api::context();
  uint64_t seed = 0;
  for (const std::string &set : featureSets()) {
    const std::string norm =
        set.find("clip,") != set.npos || set.ends_with("clip") ? ",all.norm=f64" : "";
    const ProgramRow rows[] = {step.row(norm.empty() ? "" : norm.substr(1), set),
                               step.row(otherDtypes[seed % 3] + norm, set)};
    const auto plain = makeCpuKernel(context.get(), rows[0]),
               other = makeCpuKernel(context.get(), rows[1]);
    SCOPED_TRACE(rows[1].dtypes);
    for (int lists = 0; lists < 3; ++lists) {
      expectStepsAreSkippedWhole(context.get(), onCpu, {plain.get(), other.get()}, ++seed);
      if (HasFailure())
        return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Skips, testing::Values("adam", "adamw", "sgd", "lion", "pair"),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace suite
