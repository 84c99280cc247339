// Storage conversions against the codecs of templates/vocab, bit for bit, between every two dtypes.
#include "templates/vocab/bf16.h"
#include "templates/vocab/f16.h"
#include "templates/vocab/fp8.h"
#include "tests/cpu/Harness.h"

#include <bit>
#include <cmath>
#include <random>
#include <type_traits>

namespace fw::cpu::test {
namespace {

/// A storage dtype: its name, its MLIR type, and the overflow mode that casts to it have.
template <class T> struct Storage {
  const char *name;
  const char *type;
  bool saturate = false;
};

template <class F> void forEachStorage(F f) {
  f(Storage<float>{"f32", "f32"});
  f(Storage<double>{"f64", "f64"});
  f(Storage<f16>{"f16", "f16"});
  f(Storage<bf16>{"bf16", "bf16"});
  f(Storage<e4m3fn>{"e4m3fn", "f8E4M3FN"});
  f(Storage<e4m3fn_sat>{"e4m3fn.sat", "f8E4M3FN", true});
  f(Storage<e5m2>{"e5m2", "f8E5M2"});
  f(Storage<e5m2_sat>{"e5m2.sat", "f8E5M2", true});
}

/// Values at and around every code of a narrow dtype and every midpoint between two of them, as
/// doubles: the places where rounding could go wrong.
template <class Narrow> void addBoundaries(std::vector<double> &out) {
  using Bits = typename Codec<Narrow>::Bits;
  for (uint32_t code = 0; code < (1u << (8 * sizeof(Bits))); ++code) {
    double x = Codec<Narrow>::decode(Bits(code));
    double next = Codec<Narrow>::decode(Bits(code + 1));
    double middle = (x + next) / 2;
    out.insert(out.end(), {x, middle, std::nextafter(middle, -1e300), std::nextafter(middle, 1e300),
                           double(std::nextafterf(float(middle), -1e38f)),
                           double(std::nextafterf(float(middle), 1e38f))});
  }
}

std::vector<double> doubles() {
  std::vector<double> out = {
      0.0,      -0.0,  464,      465,        -1000,    448,       57344,        58000,
      61439.99, 61440, 65504,    65519.999,  65520,    1e300,     -1e300,       5e-324,
      1e-40,    1e-46, 0x1p-150, 0x1.8p-150, HUGE_VAL, -HUGE_VAL, std::nan(""), -std::nan("")};
  addBoundaries<f16>(out);
  addBoundaries<e4m3fn>(out);
  addBoundaries<e5m2>(out);
  std::vector<double> wide;
  addBoundaries<bf16>(wide);
  for (size_t i = 0; i < wide.size(); i += 5) // an odd stride: each kind of neighbour in turn
    out.push_back(wide[i]);
  return out;
}

/// All codes of a narrow dtype, or the values of doubles() in a wide one.
template <class T> std::vector<typename Codec<T>::Bits> inputs() {
  using Bits = typename Codec<T>::Bits;
  std::vector<Bits> out;
  if constexpr (sizeof(Bits) <= 2) {
    for (uint32_t code = 0; code < (1u << (8 * sizeof(Bits))); ++code)
      out.push_back(Bits(code));
  } else {
    for (double x : doubles())
      out.push_back(Codec<T>::encode(x));
  }
  return out;
}

template <class From, class To> void expectSameCast(Storage<From> from, Storage<To> to) {
  using Out = typename Codec<To>::Bits;
  auto in = inputs<From>();
  std::string line = std::string("%y = fuse.cast ") + (to.saturate ? "saturate " : "") +
                     "%x : " + from.type + " to " + to.type;
  std::string real = std::is_same_v<To, double> || std::is_same_v<From, double> ? "f64" : "f32";
  std::string phases = program({{"x", "in", from.name}, {"y", "out", to.name}}, {},
                               std::string("%x = fuse.load \"x\" : ") + from.type + "\n" + line +
                                   "\nfuse.store \"y\", %y : " + to.type,
                               real);
  for (const std::string &features : testedFeatures()) {
    Kernel kernel(phases, "kernel", features.c_str());
    std::vector<Out> out(in.size());
    kernel({in.data(), out.data()}, 0, in.size());
    int wrong = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      auto value = Codec<From>::decode(in[i]);
      Out want = Codec<To>::encode(value);
      bool same = out[i] == want;
      if constexpr (sizeof(Out) >= 4) // a NaN's payload is nobody's promise where there is room
        same = sameBits(Codec<To>::decode(out[i]), Codec<To>::decode(want));
      if (!same && ++wrong < 5)
        ADD_FAILURE() << line << " of " << std::hexfloat << value << ": expected " << std::hex
                      << +want << ", got " << +out[i] << " with " << features;
    }
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Codec, EveryPairOfDtypesCastsAsTheVocabularyDoes) {
  forEachStorage([](auto from) {
    forEachStorage([&](auto to) {
      if (!from.saturate && std::string(from.type) != to.type)
        expectSameCast(from, to);
    });
  });
}

} // namespace
} // namespace fw::cpu::test
