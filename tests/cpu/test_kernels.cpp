// Whole kernels against plain loops of the same operations, bit for bit.
#include "tests/cpu/Harness.h"

#include <cmath>
#include <random>

namespace fw::cpu::test {
namespace {

const std::string kSgd = program({{"p", "param", "f32"}, {"g", "grad", "f32"}}, {"lr"}, R"(
  %p = fuse.load "p" : f32
  %g = fuse.load "g" : f32
  %n = arith.negf %lr : f32
  %new = math.fma %n, %g, %p : f32
  fuse.store "p", %new : f32)");

std::vector<float> randomFloats(size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> out(n);
  for (float &x : out)
    x = normal(generator);
  return out;
}

TEST(Kernels, SgdEqualsALoopAtEverySizeAndStart) {
  Kernel kernel(kSgd);
  const float lr = 0.1f;
  for (int64_t begin : {0, 1, 5})
    for (int64_t n = 0; n <= 133; ++n) {
      std::vector<float> p = randomFloats(begin + n + 3, 1), g = randomFloats(p.size(), 2),
                         want = p;
      for (int64_t i = begin; i < begin + n; ++i)
        want[i] = std::fma(-lr, g[i], p[i]);
      kernel({p.data(), g.data()}, begin, begin + n, &lr);
      ASSERT_EQ(std::memcmp(p.data(), want.data(), p.size() * sizeof(float)), 0)
          << "begin " << begin << ", n " << n;
    }
}

} // namespace
} // namespace fw::cpu::test
