// Handed cases R (CPU JIT and offloaded optimizers) that need the whole road.
#include "tests/cases/Harness.h"

#include <cmath>
#include <string>

using cases::expectRight;
using cases::Kernel;

namespace {

constexpr uint16_t kHalfOne = 0x3c00; // 1.0 in f16

TEST(cases, case_R01_f16_parameters_and_gradients) {
  Kernel sgd("sgd", {}, {{"param", "f16"}, {"grad", "f16"}});
  std::vector<uint16_t> p(1024, kHalfOne), g(1024, kHalfOne);
  sgd.launch({{1024, {{"p", p.data()}, {"g", g.data()}}}}, {{"lr", {0.5}}});
  for (uint16_t value : p)
    ASSERT_EQ(value, 0x3800); // 1 - 0.5 * 1 = 0.5
}

TEST(cases, case_R03_each_low_precision_copy_goes_to_its_own_memory) {
  Kernel sgd("sgd", {}, {{"p.copy", "f16"}}, {"copy"});
  std::vector<float> p1(5, 1.0f), g1(5, 0.0f), p2(7, 0.5f), g2(7, 0.0f);
  std::vector<uint16_t> c1(5), c2(7);
  sgd.launch({{5, {{"p", p1.data()}, {"g", g1.data()}, {"p.copy", c1.data()}}},
              {7, {{"p", p2.data()}, {"g", g2.data()}, {"p.copy", c2.data()}}}},
             {{"lr", {0.5}}});
  EXPECT_EQ(c1, std::vector<uint16_t>(5, 0x3c00));
  EXPECT_EQ(c2, std::vector<uint16_t>(7, 0x3800));
}

/// AdamW's first step in double from the published formula.
double adamwFirstStep(double p, double g) {
  const double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, decay = 1e-2;
  double m = (1 - beta1) * g, v = (1 - beta2) * g * g;
  double u = (m / (1 - beta1)) / (std::sqrt(v / (1 - beta2)) + eps);
  return p - lr * (u + decay * p);
}

TEST(cases, case_R09_every_tail_length_against_double) {
  Kernel adamw("adamw");
  for (int64_t n = 1; n <= 67; ++n) {
    std::vector<float> p(n), g(n), m(n), v(n);
    for (int64_t i = 0; i < n; ++i) {
      p[i] = std::sin(0.7f * i + n);
      g[i] = std::cos(0.3f * i - n);
    }
    std::vector<float> before = p;
    Kernel::Entry entry = {n, {{"p", p.data()}, {"g", g.data()}, {"m", m.data()}, {"v", v.data()}}};
    auto reference = adamw.evaluate({entry}, {{"t", {1}}});
    adamw.launch({entry}, {{"t", {1}}});
    for (int64_t i = 0; i < n; ++i) {
      SCOPED_TRACE("n " + std::to_string(n) + ", element " + std::to_string(i));
      expectRight(p[i], adamwFirstStep(before[i], g[i]), reference[0]["p"][size_t(i)]);
    }
  }
}

} // namespace
