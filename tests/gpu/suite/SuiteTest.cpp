// The suite's own checks notice what they are for.
#include "tests/gpu/suite/Trial.h"

namespace suite {
namespace {

class Suite : public GpuTest {
protected:
  const List list = {{.shape = {700}}, {{20, 30}, {41, 1}}};
  const Scalars scalars = Scalars().set("t", 2);
};

TEST_F(Suite, notices_a_word_that_is_wrong_by_a_little) {
  const Kernel &adamw = compiled("adamw");
  Trial trial(context(), onCpu, {{&adamw, list}});
  trial.run(scalars);
  const Bytes right = trial.image();
  EXPECT_EQ(trial.arena().check(right, scalars), "");
  const std::vector<uint64_t> words = trial.arena().words(right, 0);
  size_t numbers = 0, noticed = 0;
  for (size_t element = 0; element < 700; ++element) {
    if (isNaN(formatOf("f32"), words[element]))
      continue;
    ++numbers;
    Bytes wrong = right;
    wrong[trial.arena().offset(0, 0) + 4 * element] ^= std::byte{0x40}; // 64 ulps
    EXPECT_NE(trial.arena().compare(wrong, right), "");
    noticed += trial.arena().check(wrong, scalars) != "";
  }
  EXPECT_GT(numbers, 500u);
  // Cancellation, infinities and NaN leave room at some elements only.
  EXPECT_GT(noticed, numbers * 3 / 4);
}

TEST_F(Suite, notices_bytes_that_are_no_outputs) {
  const Kernel &adamw = compiled("adamw");
  Trial trial(context(), onCpu, {{&adamw, list}});
  trial.run(scalars);
  const Bytes right = trial.image();
  const Arena &arena = trial.arena();
  // Before and behind p, in the gradient, between two rows of p.
  for (size_t at : {arena.offset(0, 0) - 1, arena.offset(0, 0) + 2800, arena.offset(0, 1),
                    arena.offset(1, 0) + 120}) {
    Bytes wrong = right;
    wrong[at] ^= std::byte{1};
    EXPECT_NE(arena.compare(wrong, right), "") << at;
    EXPECT_NE(arena.check(wrong, scalars), "") << at;
  }
}

TEST_F(Suite, formats_are_what_they_are_called) {
  EXPECT_EQ(decode(formatOf("f16"), 0x3555), 0x1.554p-2);
  EXPECT_EQ(decode(formatOf("bf16"), 0xC0A0), -5);
  EXPECT_EQ(decode(formatOf("e4m3fn"), 0x7E), 448);
  EXPECT_EQ(decode(formatOf("e5m2"), 0x01), 0x1p-16);
  EXPECT_EQ(decode(formatOf("f64"), 1), 0x1p-1074);
  EXPECT_TRUE(isNaN(formatOf("e4m3fn"), 0xFF));
  EXPECT_FALSE(isNaN(formatOf("e5m2"), 0x7C));
  EXPECT_TRUE(isNaN(formatOf("f32"), 0x7F800001));
}

} // namespace
} // namespace suite
