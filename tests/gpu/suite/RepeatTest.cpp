// Norms and whole steps give the same bits in every run: by other plans, in graphs, and for every
// order of blocks that the fake driver draws.
#include "tests/gpu/suite/Steps.h"

namespace suite {
namespace {

class Repeats : public GpuTest {
protected:
  /// Two steps, the second one a replay of a graph where `isCaptured`.
  std::vector<Bytes> twoSteps(const std::vector<const Kernel *> &kernels, bool isCaptured) {
    const int64_t unit = gpu.isFake || isQuick() ? 65'536 : 400'003;
    const List lists[] = {vectors({unit + 3, 3, 0, unit}, /*offByOne=*/1), vectors({unit + 1, 1})};
    std::vector<GroupSpec> groups;
    for (const Kernel *kernel : kernels)
      groups.push_back({kernel, lists[groups.size()], {}, Values::USUAL});
    Trial trial(context(), onGpu, groups);
    Numbers<int64_t> t(context(), onGpu, {0});
    Scalars scalars = stepScalars(*kernels.front());
    if (const std::string step = kernels.front()->step(); !step.empty())
      scalars.setData(step, t.data(), "i64", 1, true);
    cuda::Stream stream;
    trial.run(scalars, stream);
    if (isCaptured) {
      cuda::Graph graph(stream, [&] { trial.run(scalars, stream); });
      graph.launch(stream);
      stream.synchronize();
    } else {
      trial.run(scalars, stream);
    }
    return trial.images(stream);
  }

  void expectRepeats(const std::vector<std::string> &programs) {
    SCOPED_TRACE(programs.front());
    std::vector<const Kernel *> kernels;
    for (const std::string &program : programs)
      kernels.push_back(&compiled(program));
    std::vector<Bytes> first;
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      if (gpu.isFake)
        gpu.fake.seed(seed);
      const std::vector<Bytes> images = twoSteps(kernels, /*isCaptured=*/seed % 2 == 0);
      first = first.empty() ? images : first;
      EXPECT_TRUE(images == first) << "seed " << seed;
    }
  }
};

TEST_F(Repeats, norms) {
  expectRepeats({"l2norm", "l2norm_in_bf16"});
  expectRepeats({"l2norm_each_true", "l2norm_each_true_in_bf16"});
  expectRepeats({"infnorm", "infnorm_in_bf16"});
  expectRepeats({"nonfinite", "nonfinite_in_f16"});
}

TEST_F(Repeats, whole_steps) {
  const std::string all = "unscale,clip,clip_value,master,copy,ema,zero_grad,guard",
                    norm = "all.norm=f64";
  auto named = [&](const char *op, const std::string &dtypes) {
    return handStep(op).row(dtypes + norm, all).name();
  };
  expectRepeats({"adamw_unscale_clip_guard", "adamw_grad_bf16_unscale_clip_guard"});
  expectRepeats({named("adam", ""), named("adam", "param=bf16,grad=f16,")});
  expectRepeats({named("sgd", ""), named("sgd", "grad=bf16,")});
  expectRepeats({named("lion", "")});
  expectRepeats({named("pair", ""), named("pair", "param=f64,grad=f64,state=f64,")});
}

} // namespace
} // namespace suite
