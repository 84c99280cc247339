// Handed cases A (Adam family) on the CPU, through the public C header.
#include "tests/cases/Harness.h"

#include <cmath>
#include <cstring>
#include <limits>

using cases::Kernel;

namespace {

/// One-element parameters with their Adam states.
struct Scalar {
  float p = 0, g = 0, m = 0, v = 0, vmax = 0;
  Kernel::Entry entry() {
    return {1, {{"p", &p}, {"g", &g}, {"m", &m}, {"v", &v}, {"vmax", &vmax}}};
  }
};

TEST(cases, case_A01_step_count_is_per_parameter) {
  Kernel adam("adam");
  Scalar first, second;
  std::map<std::string, std::vector<double>> scalars = {
      {"lr", {0.1}}, {"eps", {0}}, {"weight_decay", {0}}, {"t", {1}}};
  first.g = 1;
  adam.launch({first.entry()}, scalars);
  second.g = 1;
  scalars["t"] = {2, 1}; // the second parameter meets its first gradient at the second call
  adam.launch({first.entry(), second.entry()}, scalars);
  EXPECT_NEAR(second.p, -0.1, 0.1 * 3 * 0x1p-24);
}

TEST(cases, case_A03_running_maximum_of_v_is_stored) {
  Kernel adam("adam", {{"amsgrad", "true"}});
  Scalar x;
  const float grads[] = {1, 0, 0, 0.1f}, v[] = {0.5f, 0.25f, 0.125f, 0.0675f};
  for (int call = 0; call < 4; ++call) {
    x.g = grads[call];
    adam.launch({x.entry()}, {{"beta1", {0}}, {"beta2", {0.5}}, {"t", {call + 1.0}}});
    EXPECT_NEAR(x.v, v[call], v[call] * 4 * 0x1p-24) << "call " << call;
    EXPECT_EQ(x.vmax, 0.5f) << "call " << call;
  }
}

TEST(cases, case_A05_eps_is_added_after_the_corrected_root) {
  Kernel adam("adam");
  Scalar x;
  x.g = 1;
  adam.launch({x.entry()}, {{"lr", {0.1}}, {"eps", {1}}, {"weight_decay", {0}}, {"t", {1}}});
  EXPECT_NEAR(x.p, -0.05, 0.05 * 4 * 0x1p-24);
}

TEST(cases, case_A07_lr_zero_and_tiny) {
  Kernel adam("adamw");
  for (double lr : {0.0, 1e-20, 1e-30}) {
    Scalar still, moving;
    still.p = 3;
    moving.g = 1;
    adam.launch({still.entry(), moving.entry()}, {{"lr", {lr}}, {"weight_decay", {0}}, {"t", {1}}});
    EXPECT_EQ(still.p, 3.0f) << lr;
    EXPECT_NEAR(moving.p, -lr / (1 + 1e-8), lr * 4 * 0x1p-24) << lr;
  }
}

} // namespace
