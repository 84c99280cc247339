// The codec against the hardware's f32 and f64, the cases of casts, and the vocabulary's own text.
#include "compiler/dialect/evaluator/Storage.h"
#include "templates/vocab/bf16.h"
#include "templates/vocab/f16.h"
#include "templates/vocab/fp8.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace fw::evaluator {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
const double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

const Dtype &dtype(const char *name) { return *findDtype(name); }

TEST(Storage, SmallFormatsDecodeAndEncodeToThemselves) {
  for (const Dtype &format : allDtypes()) {
    if (format.bytes > 2)
      continue;
    for (uint64_t word = 0; word < (uint64_t(1) << (8 * format.bytes)); ++word) {
      const double x = decode(format, word);
      const bool keptBySaturation = !(format.saturate && std::isinf(x));
      if (!std::isnan(x) && keptBySaturation)
        EXPECT_EQ(encode(format, x), word) << format.name;
      else
        EXPECT_TRUE(!keptBySaturation || std::isnan(decode(format, encode(format, x))));
    }
  }
}

TEST(Storage, SinglesAreRoundedAsTheMachineRounds) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    const auto x = std::bit_cast<double>(random());
    const int shift = int(random() % 300) - 160;
    const bool hasExponent =
        std::isfinite(x) && x != 0; // ilogb's answers for others are no numbers
    const double near = hasExponent ? std::ldexp(x, shift - std::ilogb(x)) : x;
    for (double y : {x, near})
      if (!std::isnan(y))
        ASSERT_EQ(encode(dtype("f32"), y), std::bit_cast<uint32_t>(static_cast<float>(y))) << y;
    if (!std::isnan(x))
      ASSERT_EQ(encode(dtype("f64"), x), std::bit_cast<uint64_t>(x));
  }
}

TEST(Storage, LongDoublesRoundOnceToDoubles) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100000; ++i) {
    const long double x = std::ldexp((long double)(random()) + 0.5L, int(random() % 2200) - 1140);
    ASSERT_EQ(encode(dtype("f64"), x), std::bit_cast<uint64_t>(static_cast<double>(x)));
  }
}

TEST(Storage, L01_E4m3fnOverflowsToNanOrTheLargestValue) {
  const double inputs[] = {1000, 448, 464, 465, -1000};
  const uint64_t nans[] = {0x7f, 0x7e, 0x7e, 0x7f, 0xff};
  const uint64_t saturated[] = {0x7e, 0x7e, 0x7e, 0x7e, 0xfe};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(encode(dtype("e4m3fn"), inputs[i]), nans[i]);
    EXPECT_EQ(encode(dtype("e4m3fn.sat"), inputs[i]), saturated[i]);
  }
}

TEST(Storage, L03_E4m3fnOfInfinitiesAndNans) {
  EXPECT_EQ(encode(dtype("e4m3fn"), INF), 0x7fu);
  EXPECT_EQ(encode(dtype("e4m3fn"), -INF), 0xffu);
  EXPECT_EQ(encode(dtype("e4m3fn.sat"), INF), 0x7eu);
  EXPECT_EQ(encode(dtype("e4m3fn.sat"), -INF), 0xfeu);
  for (const char *name : {"e4m3fn", "e4m3fn.sat"}) {
    EXPECT_EQ(encode(dtype(name), std::copysign(NOT_A_NUMBER, 1.0)), 0x7fu);
    EXPECT_EQ(encode(dtype(name), std::copysign(NOT_A_NUMBER, -1.0)), 0xffu);
  }
}

TEST(Storage, L05_E5m2RoundsBeforeItOverflows) {
  EXPECT_EQ(encode(dtype("e5m2"), 58000.0), 0x7bu);
  EXPECT_EQ(encode(dtype("e5m2"), std::nextafter(61440.0, 0.0)), 0x7bu);
  EXPECT_EQ(encode(dtype("e5m2"), 61440.0), 0x7cu);
  EXPECT_EQ(encode(dtype("e5m2.sat"), 61440.0), 0x7bu);
  EXPECT_EQ(encode(dtype("e5m2.sat"), INF), 0x7bu);
}

TEST(Storage, L07_Bf16RoundsToEvenAndKeepsNan) {
  auto stored = [](uint32_t f32) {
    return encode(dtype("bf16"), double(std::bit_cast<float>(f32)));
  };
  EXPECT_EQ(stored(0x40008000), 0x4000u);
  EXPECT_EQ(stored(0x40018000), 0x4002u);
  EXPECT_EQ(stored(0x7F800001), 0x7fffu);
  EXPECT_EQ(stored(0xFF800001), 0x7fffu);
  EXPECT_EQ(stored(0x7F7FFFFF), 0x7f80u);
}

struct VocabularyDtype {
  const char *name;
  double (*decode)(uint64_t word);
  uint64_t (*encodeSingle)(float x);
  uint64_t (*encodeDouble)(double x);
};

template <class T> constexpr VocabularyDtype row(const char *name) {
  return {name,
          [](uint64_t word) -> double {
            return Codec<T>::decode(static_cast<typename Codec<T>::Bits>(word));
          },
          [](float x) -> uint64_t { return Codec<T>::encode(x); },
          [](double x) -> uint64_t { return Codec<T>::encode(x); }};
}

constexpr VocabularyDtype kVocabulary[] = {row<f16>("f16"),       row<bf16>("bf16"),
                                           row<e4m3fn>("e4m3fn"), row<e4m3fn_sat>("e4m3fn.sat"),
                                           row<e5m2>("e5m2"),     row<e5m2_sat>("e5m2.sat")};

TEST(Storage, AgreesWithTheVocabularyOnEveryWordAndNearEveryTie) {
  for (const VocabularyDtype &row : kVocabulary) {
    const Dtype &format = dtype(row.name);
    const uint64_t words = uint64_t(1) << (8 * format.bytes);
    for (uint64_t word = 0; word < words; ++word) {
      const double x = decode(format, word), theirs = row.decode(word);
      ASSERT_TRUE(std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(theirs) ||
                  (std::isnan(x) && std::isnan(theirs) && std::signbit(x) == std::signbit(theirs)))
          << row.name << " " << word;
      const double next = decode(format, (word + 1) & (words - 1));
      for (double y : {x, (x + next) / 2, double(std::nextafter(float((x + next) / 2), 0.0f)),
                       double(std::nextafter(float((x + next) / 2), 1e38f)), 1.5 * x, -x}) {
        ASSERT_EQ(encode(format, double(float(y))), row.encodeSingle(float(y)))
            << row.name << " " << y;
        ASSERT_EQ(encode(format, y * (1 + 0x1p-50)), row.encodeDouble(y * (1 + 0x1p-50)))
            << row.name << " " << y;
      }
    }
  }
}

TEST(Storage, MemoryHoldsWordsDensely) {
  const uint64_t words[] = {0x1234, 0xabcd};
  const std::vector<std::byte> memory = pack(dtype("bf16"), words);
  ASSERT_EQ(memory.size(), 4u);
  EXPECT_EQ(memory[0], std::byte{0x34});
  EXPECT_EQ(memory[3], std::byte{0xab});
  EXPECT_EQ(unpack(dtype("bf16"), memory), std::vector<uint64_t>(words, words + 2));
}

TEST(Storage, NansAreTheSameValue) {
  EXPECT_TRUE(sameValue(dtype("f32"), 0x7fc00000, 0xffffffff));
  EXPECT_FALSE(sameValue(dtype("f32"), 0x7f800000, 0x7fc00000));
  EXPECT_FALSE(sameValue(dtype("f32"), 0x00000000, 0x80000000));
  EXPECT_TRUE(sameValue(dtype("e4m3fn"), 0x7f, 0xff));
  EXPECT_FALSE(sameValue(dtype("e4m3fn"), 0x7e, 0x7f));
}

} // namespace
} // namespace fw::evaluator
