// Whole kernels against plain loops of the same operations, bit for bit.
#include "templates/vocab/bf16.h"
#include "templates/vocab/f16.h"
#include "tests/cpu/Adamw.h"
#include "tests/cpu/Harness.h"

#include <atomic>
#include <random>
#include <thread>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

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

// A loop of more than 16384 instructions, whose code is generated without optimization. With it
// this takes minutes.
TEST(Kernels, AHugeLoopComputesTheSame) {
  constexpr int kSteps = 12000;
  std::string body = "\n  %x0 = fuse.load \"x\" : f32\n  %y0 = arith.mulf %x0, %a : f32";
  auto name = [](char letter, int i) { return std::string(1, letter) + std::to_string(i); };
  for (int i = 0; i < kSteps; ++i) {
    std::string x = "%" + name('x', i), y = "%" + name('y', i), next = std::to_string(i + 1);
    body += "\n  %x" + next + " = math.fma " + y + ", %a, " + x + " : f32";
    body += "\n  %y" + next + " = math.fma %x" + next + ", %b, " + y + " : f32";
  }
  body += "\n  fuse.store \"y\", %" + name('x', kSteps) + " : f32";
  Kernel kernel(program({{"x", "in", "f32"}, {"y", "out", "f32"}}, {"a", "b"}, body));
  const float scalars[] = {0.25f, -0.25f}; // a turn in the plane, so that numbers stay in range
  std::vector<float> x = randomFloats(37, 1), y(x.size()), want(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    float u = x[i], v = u * scalars[0];
    for (int step = 0; step < kSteps; ++step) {
      u = std::fma(v, scalars[0], u);
      v = std::fma(u, scalars[1], v);
    }
    want[i] = u;
  }
  kernel({x.data(), y.data()}, 0, int64_t(x.size()), scalars);
  EXPECT_EQ(std::memcmp(y.data(), want.data(), y.size() * sizeof(float)), 0);
}

/// Runs AdamW over n elements by `kernel` and by the loop; counts the elements that differ, and
/// checks that nothing behind the end was touched.
int adamwDifferences(const Kernel &kernel, int64_t n, bool narrowGradient) {
  AdamwScalars scalars;
  std::vector<float> p = randomFloats(n + 4, 1), g = randomFloats(n + 4, 2),
                     m = randomFloats(n + 4, 3), v = randomFloats(n + 4, 4);
  std::vector<uint16_t> raw(n + 4);
  for (int64_t i = 0; i < n + 4; ++i) {
    v[i] = std::fabs(v[i]);
    raw[i] = Codec<bf16>::encode(g[i]);
  }
  std::vector<float> wantP = p, wantM = m, wantV = v;
  for (int64_t i = 0; i < n; ++i)
    adamwElement(scalars, wantP[i], narrowGradient ? Codec<bf16>::decode(raw[i]) : g[i], wantM[i],
                 wantV[i]);
  const void *gradient = narrowGradient ? static_cast<const void *>(raw.data()) : g.data();
  kernel({p.data(), gradient, m.data(), v.data()}, 0, n, &scalars);
  int wrong = 0;
  for (int64_t i = 0; i < n + 4; ++i)
    wrong += !sameBits(p[i], wantP[i]) || !sameBits(m[i], wantM[i]) || !sameBits(v[i], wantV[i]);
  return wrong;
}

TEST(case_R09, AdamwEqualsALoopForOneToSixtySevenElements) {
  for (const char *gradient : {"f32", "bf16"})
    for (const std::string &features : testedFeatures()) {
      Kernel kernel(adamwProgram(gradient), "kernel", features.c_str());
      for (int64_t n = 1; n <= 67; ++n)
        EXPECT_EQ(adamwDifferences(kernel, n, std::string(gradient) == "bf16"), 0)
            << n << " elements, gradient " << gradient << ", " << features;
    }
}

TEST(Kernels, AdamwEqualsALoopOverManyElementsAndEveryUnroll) {
  for (int unroll : {1, 2, 3, 4})
    EXPECT_EQ(
        adamwDifferences(Kernel(adamwProgram("bf16"), "kernel", nullptr, unroll), 100003, true), 0)
        << "unroll " << unroll;
}

TEST(case_R01, SgdWithF16ParametersAndGradients) {
  Kernel kernel(program({{"p", "param", "f16"}, {"g", "grad", "f16"}}, {"lr"}, R"(
    %praw = fuse.load "p" : f16
    %graw = fuse.load "g" : f16
    %p = fuse.cast %praw : f16 to f32
    %g = fuse.cast %graw : f16 to f32
    %n = arith.negf %lr : f32
    %new = math.fma %n, %g, %p : f32
    %out = fuse.cast %new : f32 to f16
    fuse.store "p", %out : f16)"));
  const int64_t n = 1024;
  const float lr = 0.25f;
  std::vector<uint16_t> p(n), g(n), want(n);
  std::vector<float> x = randomFloats(n, 5), y = randomFloats(n, 6);
  for (int64_t i = 0; i < n; ++i) {
    p[i] = Codec<f16>::encode(x[i]), g[i] = Codec<f16>::encode(y[i]);
    want[i] = Codec<f16>::encode(std::fma(-lr, Codec<f16>::decode(g[i]), Codec<f16>::decode(p[i])));
  }
  kernel({p.data(), g.data()}, 0, n, &lr);
  EXPECT_EQ(p, want);
}

TEST(Kernels, F64ParametersMixWithF32AndBf16) {
  Kernel kernel(program({{"p", "param", "f64"}, {"g", "grad", "f32"}, {"c", "out", "bf16"}}, {"lr"},
                        R"(
    %p = fuse.load "p" : f64
    %raw = fuse.load "g" : f32
    %g = fuse.cast %raw : f32 to f64
    %n = arith.negf %lr : f64
    %new = math.fma %n, %g, %p : f64
    %copy = fuse.cast %new : f64 to bf16
    fuse.store "p", %new : f64
    fuse.store "c", %copy : bf16)",
                        "f64"));
  const int64_t n = 259;
  const double lr = 0.1;
  std::vector<float> g = randomFloats(n, 1), x = randomFloats(n, 2);
  std::vector<double> p(x.begin(), x.end()), want = p;
  std::vector<uint16_t> copy(n), wantCopy(n);
  for (int64_t i = 0; i < n; ++i) {
    want[i] = std::fma(-lr, double(g[i]), p[i]);
    wantCopy[i] = Codec<bf16>::encode(want[i]);
  }
  kernel({p.data(), g.data(), copy.data()}, 0, n, &lr);
  EXPECT_EQ(p, want);
  EXPECT_EQ(copy, wantCopy);
}

TEST(Kernels, BoolSlotTravelsAsZeroOrOneAndUniformArithmeticIsHoisted) {
  std::string phases = R"(module {
  fuse.program @test
      operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
                #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
      scalars [#fuse.hyper<name = "a">, #fuse.hyper<name = "flag", kind = bool>] {
    fuse.scalars {
      %a = fuse.scalar "a" : f64
      %flag = fuse.scalar "flag" : i1
      fuse.result "a", %a : f64 to f32
      fuse.result "flag", %flag : i1 to i1
    }
    fuse.kernel @kernel elements f32 {
      %a = fuse.slot "a" : f32
      %flag = fuse.slot "flag" : i1
      %b = arith.negf %a : f32
      fuse.each {
        %x = fuse.load "x" : f32
        %y = arith.mulf %x, %a : f32
        %z = arith.mulf %x, %b : f32
        %w = arith.select %flag, %y, %z : f32
        fuse.store "y", %w : f32
      }
    }
  }
})";
  Kernel kernel(phases);
  std::vector<float> x = randomFloats(77, 1), y(77);
  for (float flag : {0.0f, 1.0f}) {
    const float scalars[] = {3.0f, flag};
    kernel({x.data(), y.data()}, 0, 77, scalars);
    for (int i = 0; i < 77; ++i)
      EXPECT_EQ(y[i], x[i] * (flag != 0 ? 3.0f : -3.0f));
  }
}

#if defined(__x86_64__)
TEST(Kernels, CallersModeNeitherChangesResultsNorIsChanged) {
  Kernel kernel(adamwProgram("f32"));
  const unsigned before = _mm_getcsr();
  const unsigned flushing = before | 0x8040; // flush to zero, denormals are zero
  const unsigned upward = before | 0x4000;
  const float tiny = 0x1p-140f;
  for (unsigned mode : {before, flushing, upward}) {
    std::vector<float> p(37, tiny), g(37, tiny), m(37, tiny), v(37, 0.3f);
    std::vector<float> wantP = p, wantM = m, wantV = v;
    AdamwScalars scalars;
    for (int i = 0; i < 37; ++i)
      adamwElement(scalars, wantP[i], g[i], wantM[i], wantV[i]);
    _mm_setcsr(mode);
    kernel({p.data(), g.data(), m.data(), v.data()}, 0, 37, &scalars);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(after & ~0x3fu, mode & ~0x3fu); // but for the sticky flags
    EXPECT_EQ(std::memcmp(p.data(), wantP.data(), 37 * sizeof(float)), 0);
    EXPECT_EQ(std::memcmp(m.data(), wantM.data(), 37 * sizeof(float)), 0);
    EXPECT_EQ(std::memcmp(v.data(), wantV.data(), 37 * sizeof(float)), 0);
  }
}
#endif

TEST(Kernels, ThreadsCompileLinkAndRunTogether) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      const bool narrow = t % 2 == 0;
      for (int i = 0; i < 4; ++i)
        wrong += adamwDifferences(Kernel(adamwProgram(narrow ? "bf16" : "f32")), 500 + t, narrow);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Kernels, ObjectIsTheSameEachTimeAndLinksMoreThanOnce) {
  std::string object = compileStage(adamwProgram("bf16"), "object");
  EXPECT_EQ(object, compileStage(adamwProgram("bf16"), "object"));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(adamwDifferences(Kernel(adamwProgram("bf16")), 100, true), 0);
}

} // namespace
} // namespace fw::cpu::test
