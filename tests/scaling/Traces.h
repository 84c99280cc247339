// 1000 random patterns of overflows each: our scales and those of others, step by step and to the
// bit. `Ours` is made of options, whose defaults() it has, and has update() and state().
#pragma once

#include "fusewright/fusewright.h"
#include "tests/scaling/References.h"

#include <gtest/gtest.h>

#include <random>

namespace scaling {

inline constexpr int patterns = 1000, stepsOfPattern = 120;

inline int among(std::mt19937_64 &random, int low, int high) {
  return std::uniform_int_distribution(low, high)(random);
}
inline double within(std::mt19937_64 &random, double low, double high) {
  return std::uniform_real_distribution(low, high)(random);
}
/// Anything from near the smallest f32 to near the largest.
inline float anyScale(std::mt19937_64 &random) {
  return std::ldexp(float(within(random, 1, 2)), among(random, -140, 126));
}

template <class Ours> class Traces : public testing::Test {
protected:
  /// A pattern's options, which `choose` takes from `random`, and its steps: bursts of overflows
  /// between clean steps, as often as not long enough to grow.
  template <class Reference, class Choose> void compare(Choose choose) {
    std::mt19937_64 random(2018);
    for (int pattern = 0; pattern < patterns; ++pattern) {
      fw_scaler_options options = Ours::defaults();
      Reference reference = choose(random, options);
      Ours ours(options);
      const double rate = std::uniform_real_distribution(0.0, 0.7)(random);
      std::bernoulli_distribution overflows(rate * rate);
      for (int step = 0; step < stepsOfPattern; ++step) {
        const bool isBad = overflows(random);
        ours.update(isBad ? float(1 + step) : 0);
        reference.update(isBad);
        ASSERT_TRUE(agree(ours.state(), reference))
            << "pattern " << pattern << ", step " << step << ": " << ours.state().scale << " and "
            << reference.scale;
      }
    }
  }

  static bool agree(const fw_scaler_state &ours, const TorchScaler &other) {
    return ours.scale == other.scale && ours.growth_count == uint64_t(other.tracker);
  }
  static bool agree(const fw_scaler_state &ours, const ApexLossScaler &other) {
    return ours.scale == other.scale && ours.growth_count == uint64_t(other.unskipped);
  }
  static bool agree(const fw_scaler_state &ours, const ApexHysteresis &other) {
    return ours.scale == other.scale && ours.growth_count == uint64_t(other.tracker) &&
           ours.hysteresis_left == uint64_t(std::max(0, other.left));
  }
  static bool agree(const fw_scaler_state &ours, const MegatronHysteresis &other) {
    return ours.scale == other.scale && ours.growth_count == uint64_t(other.tracker) &&
           ours.hysteresis_left == uint64_t(std::max(0, other.left));
  }
};

TYPED_TEST_SUITE_P(Traces);

TYPED_TEST_P(Traces, are_torch_amp_GradScaler) {
  this->template compare<TorchScaler>([](auto &random, fw_scaler_options &options) {
    TorchScaler torch;
    torch.scale = anyScale(random);
    torch.growthFactor = among(random, 0, 1) ? 2 : within(random, 1.01, 9);
    torch.backoffFactor = among(random, 0, 1) ? 0.5 : within(random, 0.01, 0.99);
    torch.interval = among(random, 1, 9);
    options.init_scale = torch.scale;
    options.growth_factor = torch.growthFactor;
    options.backoff_factor = torch.backoffFactor;
    options.growth_interval = torch.interval;
    options.min_scale = 0;
    return torch;
  });
}

TYPED_TEST_P(Traces, are_apex_amp_LossScaler) {
  this->template compare<ApexLossScaler>([](auto &random, fw_scaler_options &options) {
    ApexLossScaler apex;
    apex.floor = among(random, 0, 1) ? 0 : std::ldexp(1.0, among(random, -4, 16));
    apex.ceiling = std::ldexp(1.0, among(random, 17, 24));
    apex.window = among(random, 1, 9);
    options.min_scale = apex.floor;
    options.max_scale = apex.ceiling;
    options.growth_interval = apex.window;
    return apex;
  });
}

TYPED_TEST_P(Traces, are_the_hysteresis_of_apex) {
  this->template compare<ApexHysteresis>([](auto &random, fw_scaler_options &options) {
    ApexHysteresis apex;
    apex.scale = anyScale(random);
    apex.growthFactor = within(random, 1.01, 9);
    apex.backoffFactor = within(random, 0.01, 0.99);
    apex.interval = among(random, 1, 9);
    apex.left = apex.hysteresis = among(random, 1, 4);
    options.init_scale = apex.scale;
    options.growth_factor = apex.growthFactor;
    options.backoff_factor = apex.backoffFactor;
    options.growth_interval = apex.interval;
    options.hysteresis = apex.hysteresis;
    options.min_scale = 0;
    options.refill = "clean";
    options.denormals = "flush";
    return apex;
  });
}

TYPED_TEST_P(Traces, are_the_hysteresis_of_megatron) {
  this->template compare<MegatronHysteresis>([](auto &random, fw_scaler_options &options) {
    MegatronHysteresis megatron;
    megatron.floor = std::ldexp(1.0f, among(random, -3, 10));
    megatron.interval = among(random, 2, 9); // its scale may become inf, which ours refuses
    megatron.left = megatron.hysteresis = among(random, 1, 4);
    options.min_scale = megatron.floor;
    options.growth_interval = megatron.interval;
    options.hysteresis = megatron.hysteresis;
    options.refill = "growth";
    return megatron;
  });
}

REGISTER_TYPED_TEST_SUITE_P(Traces, are_torch_amp_GradScaler, are_apex_amp_LossScaler,
                            are_the_hysteresis_of_apex, are_the_hysteresis_of_megatron);

} // namespace scaling
