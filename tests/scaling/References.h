// The published rules of loss scalers, as their libraries have them, in plain C++.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace scaling {

/// torch.amp.GradScaler: the scale in f32, factors in double, the growth refused where it
/// overflows.
struct TorchScaler {
  float scale = 65536;
  double growthFactor = 2, backoffFactor = 0.5;
  int interval = 2000, tracker = 0;

  void update(bool isBad) {
    if (isBad) {
      scale = float(double(scale) * backoffFactor);
      tracker = 0;
    } else if (++tracker == interval) {
      const float grown = float(double(scale) * growthFactor);
      if (std::isfinite(grown))
        scale = grown;
      tracker = 0;
    }
  }
};

/// LossScaler of apex.amp: Python floats, factor 2, a floor if there is one, a ceiling.
struct ApexLossScaler {
  double scale = 65536, floor = 0, ceiling = 0x1p24;
  int window = 2000, unskipped = 0;

  void update(bool isBad) {
    if (isBad) {
      scale = floor ? std::max(floor, scale / 2) : scale / 2;
      unskipped = 0;
    } else if (++unskipped == window) {
      scale = std::min(ceiling, scale * 2);
      unskipped = 0;
    }
  }
};

inline float flushed(float x) { return std::abs(x) < FLT_MIN ? 0 : x; }

/// Apex's update_scale_hysteresis: whole again after each clean step; built to flush denormals.
struct ApexHysteresis {
  float scale = 65536;
  double growthFactor = 2, backoffFactor = 0.5;
  int interval = 2000, hysteresis = 1, tracker = 0, left = 1;

  void update(bool isBad) {
    if (isBad) {
      tracker = 0;
      if (--left <= 0)
        scale = flushed(float(double(flushed(scale)) * backoffFactor));
      return;
    }
    if (++tracker == interval) {
      const float grown = flushed(float(double(flushed(scale)) * growthFactor));
      if (std::isfinite(grown))
        scale = grown;
      tracker = 0;
    }
    left = hysteresis;
  }
};

/// Megatron's DynamicGradScaler: whole again when the scale grows; a floor.
struct MegatronHysteresis {
  float scale = 65536, floor = 1;
  float growthFactor = 2, backoffFactor = 0.5;
  int interval = 1000, hysteresis = 2, tracker = 0, left = 2;

  void update(bool isBad) {
    if (isBad) {
      tracker = 0;
      if (--left <= 0)
        scale = std::max(scale * backoffFactor, floor);
    } else if (++tracker == interval) {
      tracker = 0;
      left = hysteresis;
      scale *= growthFactor;
    }
  }
};

} // namespace scaling
