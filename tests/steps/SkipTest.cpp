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

/// One-shot launches decide for their list.
TEST_P(Skips, launches_too) {
  const ProgramRow row = handStep(GetParam()).row("", "guard,unscale,clip,master,zero_grad");
  api::Context context = api::context();
  const auto kernel = makeCpuKernel(context.get(), row);
  Random random(1);
  Trial trial(context.get(), onCpu, {{kernel.get(), randomList(random), {}, Values::USUAL}});
  const Scalars scalars = kernel->step().empty() ? Scalars() : step(1);
  Bytes bad = trial.image();
  const size_t last = trial.arena().list.size() - 1,
               entry = trial.arena().list[last].elements() ? last : last - 1;
  trial.arena().set(bad, entry, kernel->operand("g"), 0, 0x7fc00000);
  trial.write(0, bad);
  trial.launch(scalars);
  Bytes image = trial.image();
  EXPECT_EQ(trial.arena().numbers(image, "all.skipped").front(), double(entry + 1));
  for (const char *report : {"all.norm", "all.skipped"})
    trial.arena().set(image, 0, kernel->operand(report), 0,
                      trial.arena().words(bad, kernel->operand(report)).front());
  EXPECT_TRUE(image == bad);
  trial.reset();
  trial.launch(scalars);
  EXPECT_EQ(trial.arena().numbers(trial.image(), "all.skipped").front(), 0);
  EXPECT_EQ(trial.arena().check(trial.image(), scalars), "");
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Skips, testing::Values("adam", "adamw", "sgd", "lion", "pair"),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace suite
