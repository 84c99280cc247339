// Handed cases A (Adam family) on the CPU, through the public C header.
#include "tests/cases/Harness.h"

#include <string>

using cases::expectRight;
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
  Kernel::Scalars scalars = {{"lr", {0.1}}, {"eps", {0}}, {"weight_decay", {0}}, {"t", {1}}};
  first.g = 1;
  adam.launch({first.entry()}, scalars);
  second.g = 1;
  scalars["t"] = {2, 1}; // the second parameter meets its first gradient at the second call
  auto reference = adam.evaluate({first.entry(), second.entry()}, scalars);
  adam.launch({first.entry(), second.entry()}, scalars);
  expectRight(second.p, -0.1, reference[1]["p"][0]);
}

TEST(cases, case_A03_running_maximum_of_v_is_stored) {
  Kernel adam("adam", {{"amsgrad", "true"}});
  Scalar x;
  const float grads[] = {1, 0, 0, 0.1f}, v[] = {0.5f, 0.25f, 0.125f, 0.0675f};
  for (int call = 0; call < 4; ++call) {
    x.g = grads[call];
    Kernel::Scalars scalars = {{"beta1", {0}}, {"beta2", {0.5}}, {"t", {call + 1.0}}};
    auto reference = adam.evaluate({x.entry()}, scalars);
    adam.launch({x.entry()}, scalars);
    SCOPED_TRACE("call " + std::to_string(call));
    expectRight(x.v, v[call], reference[0]["v"][0]);
    expectRight(x.vmax, 0.5, reference[0]["vmax"][0]);
    EXPECT_EQ(x.vmax, 0.5f);
  }
}

TEST(cases, case_A05_eps_is_added_after_the_corrected_root) {
  Kernel adam("adam");
  Scalar x;
  x.g = 1;
  Kernel::Scalars scalars = {{"lr", {0.1}}, {"eps", {1}}, {"weight_decay", {0}}, {"t", {1}}};
  auto reference = adam.evaluate({x.entry()}, scalars);
  adam.launch({x.entry()}, scalars);
  expectRight(x.p, -0.05, reference[0]["p"][0]);
}

TEST(cases, case_A07_lr_zero_and_tiny) {
  Kernel adam("adamw");
  for (double lr : {0.0, 1e-20, 1e-30}) {
    Scalar still, moving;
    still.p = 3;
    moving.g = 1;
    Kernel::Scalars scalars = {{"lr", {lr}}, {"weight_decay", {0}}, {"t", {1}}};
    auto reference = adam.evaluate({still.entry(), moving.entry()}, scalars);
    adam.launch({still.entry(), moving.entry()}, scalars);
    SCOPED_TRACE(lr);
    EXPECT_EQ(still.p, 3.0f);
    expectRight(moving.p, -lr / (1 + 1e-8), reference[1]["p"][0]);
  }
}

} // namespace
