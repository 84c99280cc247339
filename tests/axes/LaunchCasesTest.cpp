// Handed cases of norms and softmaxes that only launches show, on the CPU.
#include "tests/axes/Evaluated.h"

#include <algorithm>

using namespace axes;

namespace {

/// y of layer_norm at one row, in double.
double normalized(const Numbers &x, size_t row, size_t n, size_t i) {
  double mean = 0, squares = 0;
  for (size_t k = 0; k < n; ++k)
    mean += x[row * n + k] / double(n);
  for (size_t k = 0; k < n; ++k)
    squares += std::pow(x[row * n + k] - mean, 2) / double(n);
  return (x[row * n + i] - mean) / std::sqrt(squares + 1e-5);
}

} // namespace

/// One element expanded to a whole weight: its one place is not read beyond.
TEST(LaunchCases, case_F07_AWeightOfStrideZeroIsRefusedByName) {
  Evaluated op("rms_norm");
  op.set("x", {2, 8}, wavy(16)).set("y", {2, 8}).set("rstd", {2});
  op.set("w", {1}, {3}).reshape("w", {8}, {0});
  EXPECT_NE(op.launch().find("(w of entry 0): expected stride 1 along axis 'column', which a row "
                             "spans, got 0; make the tensor contiguous"),
            std::string::npos)
      << op.launch();
}

TEST(LaunchCases, case_G01_VarianceOfNumbersFarFromZero) {
  Numbers x;
  for (int i = 0; i < 16; ++i)
    x.push_back(1000 + i * 1e-3);
  Evaluated op("layer_norm", {.absent = {"w", "b"}});
  op.set("x", {1, 16}, x).set("y", {1, 16}).set("mean", {1}).set("rstd", {1});
  ASSERT_EQ(op.launch(), "");
  // The equations' values; a sum of 16000 has steps of 1e-3 in f32, and one pass would be off by 1.
  EXPECT_NEAR(op.stored("y")[0], -1.341508, 0.05);
  EXPECT_NEAR(op.stored("y")[15], 1.344237, 0.05);
  op.expectLaunchWithinBounds();
}

TEST(LaunchCases, case_I01_RowsAroundAPowerOfTwo) {
  const size_t n = 4;
  for (int64_t rows : {65535, 65536, 65537}) {
    Evaluated op("layer_norm", {.absent = {"w", "b"}});
    op.set("x", {rows, 4}, wavy(size_t(rows) * n)).set("y", {rows, 4});
    op.set("mean", {rows}).set("rstd", {rows});
    ASSERT_EQ(op.launch(), "");
    const Numbers x = op.stored("x"), y = op.stored("y");
    double worst = 0;
    for (size_t i = 0; i < y.size(); ++i)
      worst = std::max(worst, std::abs(y[i] - normalized(x, i / n, n, i % n)));
    EXPECT_LT(worst, 1e-4) << rows;
  }
}

TEST(LaunchCases, case_I03_MoreThanEightMillionRows) {
  const int64_t rows = (1 << 23) + 3;
  Evaluated op("layer_norm", {.dtypes = {{"in", "bf16"}}, .absent = {"w", "b"}});
  op.set("x", {rows, 5}, {1, 2, 3, 4, 5}).set("y", {rows, 5}).strides("x", {0, 1});
  op.set("mean", {rows}).set("rstd", {rows});
  ASSERT_EQ(op.launch(), "");
  const Numbers mean = op.stored("mean");
  EXPECT_EQ(std::ranges::count(mean, 3.0), rows);
  const Numbers y = op.stored("y");
  for (size_t row = 1; row < size_t(rows); ++row)
    for (size_t i = 0; i < 5; ++i)
      if (y[row * 5 + i] != y[i])
        FAIL() << "row " << row;
  EXPECT_NEAR(y[0], -std::sqrt(2), 4e-3);
}

TEST(LaunchCases, case_J03_CausalWithoutAnUpperLimit) {
  for (int64_t keys : {2049, 4096, 16385}) {
    Evaluated op("causal_softmax", {.dtypes = {{"in", "f16"}}});
    op.set("x", {1, 1, 2, keys}, wavy(size_t(2 * keys))).set("y", {1, 1, 2, keys});
    op.expectLaunchWithinBounds();
    EXPECT_EQ(op.stored("y")[size_t(keys - 1)], 0);
  }
}

TEST(LaunchCases, case_J09_BatchesTimesHeadsBeyondSixteenBits) {
  for (int64_t batches : {65532, 65536, 65538}) {
    Evaluated op("masked_softmax");
    op.set("x", {batches, 1, 1, 3}, wavy(size_t(batches * 3))).set("y", {batches, 1, 1, 3});
    op.set("keep", {batches, 1, 1, 3}, Numbers(size_t(batches * 3), 1));
    ASSERT_EQ(op.launch(), "");
    const Numbers y = op.stored("y");
    for (size_t row = 0; row < size_t(batches); ++row)
      ASSERT_NEAR(y[3 * row] + y[3 * row + 1] + y[3 * row + 2], 1, 1e-6) << row;
  }
}

/// Row counts are numbers of a launch: one program serves them all.
TEST(LaunchCases, case_Q03_OneCompileForEveryNumberOfRows) {
  auto context = api::context();
  auto op = api::find(context, "softmax");
  auto request = api::request(op);
  auto program = api::compile(context, request);
  for (int64_t rows : {1, 3, 8, 16, 32}) {
    std::vector<float> x(size_t(rows * 7), 0.5f), y(x.size());
    const int64_t shape[] = {rows, 7};
    fw_tensor tensors[2] = {};
    for (int k = 0; k < 2; ++k) {
      tensors[k].struct_size = sizeof(fw_tensor);
      tensors[k].device = FW_DEVICE_CPU;
      tensors[k].dtype = "f32";
      tensors[k].rank = 2;
      tensors[k].shape = shape;
      tensors[k].data = k ? y.data() : x.data();
    }
    ASSERT_EQ(fw_launch(context.get(), program.get(), tensors, 2, nullptr, 0, nullptr), FW_OK)
        << api::lastError();
    EXPECT_NEAR(y.back(), 1.0 / 7, 1e-7);
  }
}
