// Operations of arithmetic.h at their corners, and the packing of elements into words.
#include <cmath>
#include <gtest/gtest.h>

#include "templates/vocab/arithmetic.h"
#include "templates/vocab/bf16.h"
#include "templates/vocab/fp8.h"
#include "templates/vocab/memory.h"

extern "C" void fw_emulator_access(const void *, unsigned, int) {} // no emulator in this test

namespace fw {
namespace {

template <class T> class Arithmetic : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Arithmetic, Reals);

TYPED_TEST(Arithmetic, MaxAndMinPropagateNaNAndOrderZeros) {
  using T = TypeParam;
  const T inf = INFINITY, nan = NAN, zero = 0;
  EXPECT_EQ(math::max(T(1), T(2)), 2);
  EXPECT_EQ(math::min(T(1), T(-2)), -2);
  EXPECT_EQ(math::max(-inf, T(-3)), -3);
  EXPECT_FALSE(std::signbit(math::max(-zero, zero)));
  EXPECT_FALSE(std::signbit(math::max(zero, -zero)));
  EXPECT_TRUE(std::signbit(math::min(-zero, zero)));
  EXPECT_TRUE(std::signbit(math::min(zero, -zero)));
  for (T x : {T(1), inf, nan}) {
    EXPECT_TRUE(std::isnan(math::max(x, nan)));
    EXPECT_TRUE(std::isnan(math::max(nan, x)));
    EXPECT_TRUE(std::isnan(math::min(x, nan)));
    EXPECT_TRUE(std::isnan(math::min(nan, x)));
  }
}

TYPED_TEST(Arithmetic, SignKeepsZerosAndNaN) {
  using T = TypeParam;
  EXPECT_EQ(math::sign(T(3)), 1);
  EXPECT_EQ(math::sign(T(-INFINITY)), -1);
  EXPECT_FALSE(std::signbit(math::sign(T(0.0))));
  EXPECT_TRUE(std::signbit(math::sign(T(-0.0))));
  EXPECT_TRUE(std::isnan(math::sign(T(NAN))));
}

TYPED_TEST(Arithmetic, RoundingToIntegers) {
  using T = TypeParam;
  const T inputs[] = {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.7, -2.7};
  const T even[] = {-2, -2, -0.0, 0, 2, 2, 3, -3}, down[] = {-3, -2, -1, 0, 1, 2, 2, -3};
  for (int k = 0; k < 8; ++k) {
    EXPECT_EQ(math::roundEven(inputs[k]), even[k]);
    EXPECT_EQ(math::floor(inputs[k]), down[k]);
    EXPECT_EQ(math::ceil(inputs[k]), -math::floor(-inputs[k]));
    EXPECT_EQ(math::trunc(inputs[k]), std::trunc(inputs[k]));
  }
}

TYPED_TEST(Arithmetic, ClassesOfNumbers) {
  using T = TypeParam;
  for (T x : {T(INFINITY), T(-INFINITY), T(NAN)})
    EXPECT_FALSE(math::isFinite(x));
  for (T x : {T(0), T(-1), std::numeric_limits<T>::max(), std::numeric_limits<T>::denorm_min()})
    EXPECT_TRUE(math::isFinite(x));
  EXPECT_TRUE(math::isNan(T(NAN)));
  EXPECT_FALSE(math::isNan(T(INFINITY)));
}

TEST(Arithmetic, FmaAndRootAreRoundedOnce) {
  EXPECT_EQ(math::fma(1.0f + 0x1p-12f, 1.0f + 0x1p-12f, -1.0f), 0x1p-11f + 0x1p-24f);
  EXPECT_EQ(math::sqrt(2.0f), 1.41421354f);
  EXPECT_TRUE(std::signbit(math::sqrt(-0.0f)));
}

TEST(Arithmetic, MulHighIsTheUpperHalf) {
  EXPECT_EQ(math::mulHigh(0xFFFFFFFFu, 0xFFFFFFFFu), 0xFFFFFFFEu);
  EXPECT_EQ(math::mulHigh(~u64{0}, ~u64{0}), ~u64{1});
}

template <class T, int W> void expectPacking() {
  alignas(16) T memory[W], copy[W];
  for (int k = 0; k < W; ++k) {
    const auto bits =
        static_cast<typename Codec<T>::Bits>(Codec<T>::encode(static_cast<float>(k + 1)));
    memcpy(&memory[k], &bits, sizeof(T));
  }
  Raw<T, W> raw, written;
  load<W>(raw, memory, 0, 0);
  for (int k = 0; k < W; ++k) {
    EXPECT_EQ(get(raw, k), k + 1);
    set(written, k, static_cast<float>(k + 1));
  }
  store<W>(written, copy, 0);
  EXPECT_EQ(memcmp(memory, copy, sizeof(memory)), 0) << sizeof(T) << " x " << W;
}
TEST(Memory, GetAndSetAgreeWithTheOrderInMemory) {
  expectPacking<float, 1>(), expectPacking<float, 2>(), expectPacking<float, 4>();
  expectPacking<double, 1>(), expectPacking<double, 2>();
  expectPacking<bf16, 1>(), expectPacking<bf16, 2>(), expectPacking<bf16, 4>(),
      expectPacking<bf16, 8>();
  expectPacking<e4m3fn, 1>(), expectPacking<e4m3fn, 2>(), expectPacking<e4m3fn, 4>(),
      expectPacking<e4m3fn, 8>(), expectPacking<e4m3fn, 16>();
}

} // namespace
} // namespace fw
