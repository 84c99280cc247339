// Bools and ints as they are stored, against the table of storage dtypes: every word of the narrow
// ones, ends and random words of the wide ones, alone and in vectors.
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <set>
#include <type_traits>
#include <vector>

#include "compiler/dialect/Dtypes.h"
#include "templates/vocab/columns.h"
#include "templates/vocab/pack.h"
#include "templates/vocab/wholes.h"

namespace fw {
namespace {

/// Spelling of a type in the table's rows.
template <class T> constexpr const char *spelling = nullptr;
template <> constexpr const char *spelling<b8> = "fw::b8";
template <> constexpr const char *spelling<w8u> = "fw::w8u";
template <> constexpr const char *spelling<w8> = "fw::w8";
template <> constexpr const char *spelling<w16> = "fw::w16";
template <> constexpr const char *spelling<w32> = "fw::w32";
template <> constexpr const char *spelling<w64> = "fw::w64";

template <class T> const IntDtype &dtypeOf() {
  for (const IntDtype &dtype : allIntDtypes())
    if (dtype.cuda == spelling<T>)
      return dtype;
  ADD_FAILURE() << "no dtype is spelled " << spelling<T>;
  return allIntDtypes().front();
}

template <class T> class Wholes : public testing::Test {};
using WholeTypes = testing::Types<b8, w8u, w8, w16, w32, w64>;
TYPED_TEST_SUITE(Wholes, WholeTypes);

u64 next(u64 &state) {
  state = state * 6364136223846793005 + 1442695040888963407;
  return state >> 11 ^ state << 21;
}

/// Numbers at the ends of every width, and others.
std::vector<i64> numbers() {
  std::vector<i64> all = {0, 1, -1};
  for (int bits : {7, 8, 15, 16, 31, 32, 63})
    for (i64 by : {-1, 0, 1}) {
      const i64 x = static_cast<i64>((u64{1} << bits) + static_cast<u64>(by));
      all.push_back(x);
      all.push_back(static_cast<i64>(u64{0} - static_cast<u64>(x)));
    }
  u64 state = 1;
  for (int k = 0; k < 2000; ++k)
    all.push_back(static_cast<i64>(next(state)) >> k % 64);
  return all;
}

TYPED_TEST(Wholes, StandInTheTable) {
  const IntDtype &dtype = dtypeOf<TypeParam>();
  EXPECT_EQ(sizeof(TypeParam), dtype.bytes);
  EXPECT_EQ((std::is_same_v<typename Codec<TypeParam>::Real, bool>), dtype.isBool);
}

TEST(Wholes, AreAllOfTheTable) {
  std::set<std::string_view> spelled = {spelling<b8>,  spelling<w8u>, spelling<w8>,
                                        spelling<w16>, spelling<w32>, spelling<w64>};
  for (const IntDtype &dtype : allIntDtypes())
    EXPECT_EQ(spelled.erase(dtype.cuda), 1u) << dtype.cuda;
  EXPECT_TRUE(spelled.empty());
}

TYPED_TEST(Wholes, DecodeEveryWord) {
  using Bits = typename Codec<TypeParam>::Bits;
  const IntDtype &dtype = dtypeOf<TypeParam>();
  const auto expectWord = [&](u64 word) {
    const auto bits = static_cast<Bits>(word);
    const i64 got = Codec<TypeParam>::decode(bits);
    ASSERT_EQ(got, decodeInt(dtype, bits)) << word;
    ASSERT_EQ(Codec<TypeParam>::encode(Codec<TypeParam>::decode(bits)), encodeInt(dtype, got));
  };
  for (u64 word = 0; word <= std::min<u64>(std::numeric_limits<Bits>::max(), 0xFFFF); ++word)
    expectWord(word);
  for (i64 x : numbers())
    expectWord(static_cast<u64>(x));
}

TYPED_TEST(Wholes, EncodeWrapsToTheWidth) {
  const IntDtype &dtype = dtypeOf<TypeParam>();
  for (i64 x : numbers())
    ASSERT_EQ(Codec<TypeParam>::encode(x), encodeInt(dtype, x)) << x;
}

template <class T> u64 wordAt(const char *memory, int k) {
  typename Codec<T>::Bits bits;
  memcpy(&bits, memory + static_cast<size_t>(k) * sizeof(T), sizeof(T));
  return bits;
}

/// A vector of W elements of any bytes: loaded, read, written whole and one by one.
template <class T, int W> void expectVectors() {
  using Real = typename Codec<T>::Real;
  const IntDtype &dtype = dtypeOf<T>();
  const std::vector<i64> values = numbers();
  u64 state = W;
  for (size_t round = 0; round + W < values.size(); ++round) {
    alignas(16) char from[16], to[16];
    for (char &c : from)
      c = static_cast<char>(next(state));
    Raw<T, W> raw, packed, put;
    load<W>(raw, reinterpret_cast<const T *>(from), 0, 0);
    put = raw;
    Real x[W];
    for (int k = 0; k < W; ++k) {
      ASSERT_EQ(get(raw, k), decodeInt(dtype, wordAt<T>(from, k))) << W << " " << k;
      x[k] = static_cast<Real>(values[round + static_cast<size_t>(k)]);
    }
    pack(packed, x);
    store<W>(packed, reinterpret_cast<T *>(to), 0);
    for (int k = 0; k < W; ++k)
      ASSERT_EQ(wordAt<T>(to, k), encodeInt(dtype, x[k])) << W << " " << k;
    const int at = static_cast<int>(round % W);
    // As everywhere, elements of a whole word or more are set in any order.
    fw::put(put, at, x[at]);
    store<W>(put, reinterpret_cast<T *>(to), 0);
    for (int k = 0; k < W; ++k)
      ASSERT_EQ(wordAt<T>(to, k), k == at ? encodeInt(dtype, x[k]) : wordAt<T>(from, k))
          << W << " " << k << " beside " << at;
  }
}

TYPED_TEST(Wholes, InVectorsOfEverySize) {
  expectVectors<TypeParam, 1>();
  expectVectors<TypeParam, 2>();
  if constexpr (sizeof(TypeParam) <= 4)
    expectVectors<TypeParam, 4>();
  if constexpr (sizeof(TypeParam) <= 2)
    expectVectors<TypeParam, 8>();
  if constexpr (sizeof(TypeParam) == 1)
    expectVectors<TypeParam, 16>();
}

TYPED_TEST(Wholes, PerColumnOnAnyBoundary) {
  const IntDtype &dtype = dtypeOf<TypeParam>();
  alignas(16) char memory[16 * sizeof(TypeParam) + 64];
  u64 state = 3;
  for (char &c : memory)
    c = static_cast<char>(next(state));
  for (int from = 0; from < 8; ++from) {
    ColumnRaw<TypeParam, 8> column;
    loadColumnShifted<8>(column, reinterpret_cast<const TypeParam *>(memory),
                         static_cast<u32>(from));
    for (int k = 0; k < 8; ++k)
      ASSERT_EQ(get(column, k), decodeInt(dtype, wordAt<TypeParam>(memory, from + k)));
  }
}

} // namespace
} // namespace fw
