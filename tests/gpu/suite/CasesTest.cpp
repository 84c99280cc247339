// Handed cases of lists and layouts (E and F), on the GPU. Others stand where their subject is.
#include "tests/gpu/suite/Trial.h"

#include <cmath>

namespace suite {
namespace {

class Cases : public GpuTest {
protected:
  /// By a plan and by a launch: what the CPU gives, within the reference's bounds.
  void expectRight(const std::string &program, const List &list, const Scalars &scalars) {
    const Kernel &kernel = compiled(program);
    Trial onDevice(context(), onGpu, {{&kernel, list}}),
        reference(context(), onCpu, {{&kernel, list}});
    reference.run(scalars);
    onDevice.run(scalars);
    expectSame(onDevice, reference);
    EXPECT_EQ(onDevice.arena().check(onDevice.image(), scalars), "");
    onDevice.reset();
    onDevice.launch(scalars);
    expectSame(onDevice, reference);
  }
};

Scalars firstStep() { return Scalars().set("t", 1); }

/// A parameter of ones with gradients of one and zero states; its tensors live in one buffer.
std::vector<float> adamOfOnes(fw_context *context, const Kernel &adam, int64_t count,
                              bool withEmpty) {
  std::vector<float> start(size_t(count) * 4, 0.0f);
  std::fill(start.begin(), start.begin() + 2 * count, 1.0f);
  Numbers<float> memory(context, onGpu, start);
  const int64_t none = 0;
  std::vector<fw_tensor> tensors;
  for (int k = 0; k < 4; ++k)
    tensors.push_back(api::tensor("f32", memory.data() + k * count, &count));
  for (int k = 0; withEmpty && k < 4; ++k)
    tensors.push_back(api::tensor("f32", nullptr, &none));
  for (fw_tensor &tensor : tensors)
    tensor.device = FW_DEVICE_CUDA;
  const Scalars scalars = firstStep().set("lr", 0.5).set("eps", 0);
  const auto &given = scalars.array();
  EXPECT_OK(fw_launch(context, adam.gpu.get(), tensors.data(), tensors.size(), given.data(),
                      given.size(), nullptr));
  std::vector<float> after = memory.read();
  after.resize(size_t(count));
  return after;
}

TEST_F(Cases, case_E01_an_empty_tensor_behind_a_full_one) {
  const std::vector<float> moved(4, 0.5f); // the first step is lr, whatever the gradient
  EXPECT_EQ(adamOfOnes(context(), compiled("adam"), 4, true), moved);
  expectRight("adam", vectors({4, 0}), firstStep());
}

TEST_F(Cases, case_E07_a_mixed_list_is_halved_and_its_guards_stay) {
  const List list = vectors({49152, 49152, 49152, 24576, 0, 0, 49152, 1});
  expectRight("scale", isQuick() ? vectors({491, 491, 245, 0, 0, 491}) : list,
              Scalars().set("a", 0.5));
}

TEST_F(Cases, case_E09_many_empty_shards_among_real_ones) {
  Sizes sizes;
  for (int64_t i = 0; i < 200; ++i)
    sizes.push_back(i % 9 == 4 ? 3 * i + 1 : 0);
  expectRight("adam", vectors(sizes), firstStep());
  expectRight("adam", vectors(sizes, /*offByOne=*/1), firstStep());
}

TEST_F(Cases, case_F01_strides_of_dimensions_of_size_1_mean_nothing) {
  const List list = {{{2, 1, 100}, {100, 100, 1}, {100, 1, 1}}};
  EXPECT_EQ(Trial(context(), onGpu, {{&compiled("adam"), list}}).info().blocks, 1u);
  expectRight("adam", list, firstStep());
}

TEST_F(Cases, case_F03_channels_last_in_three_dimensions) {
  const Sizes shape = {2, 3, 4, 5, 6}, channelsLast = dense(shape, {0, 2, 3, 4, 1});
  for (const char *program : {"adam", "sgd"}) {
    EXPECT_EQ(
        Trial(context(), onGpu, {{&compiled(program), {{shape, channelsLast}}}}).info().blocks, 1u);
    expectRight(program, {{shape, channelsLast}},
                compiled(program).step().empty() ? Scalars() : firstStep());
  }
}

} // namespace
} // namespace suite
