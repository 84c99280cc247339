// The kernels of shipped ops over rows that the emulator has: by turns of any width and of one, on
// boundaries and off them.
#pragma once

#include "tests/axes/Filled.h"

namespace axes {

constexpr const char *twinTarget = "sm_90"; // of the fake device

struct Twin {
  std::map<std::string, int64_t> facts;
  std::vector<int64_t> widths; ///< that launches of it have
  size_t shift;                ///< elements behind a boundary

  bool isExact() const { return facts.count("columns") != 0; }
};

/// Of profile number `p` of evaluatedProfiles().
inline std::vector<Twin> twinsOf(size_t p, const fw::Profile &profile) {
  constexpr int64_t even[] = {64, 128, 320, 1024}, odd[] = {1, 7, 33, 257, 1000, 1025};
  const int64_t width = even[p / 4 % 4], oddWidth = odd[p / 4 % 6];
  const Twin exactEven{{{"aligned", 16}, {"columns", width}}, {width}, 0};
  const Twin allEven{{{"aligned", 16}}, {64, 192, 1024}, 0};
  // Masks that heads share are off the boundaries of what each has of its own.
  const bool hasMask = profile.op == "masked_softmax" || profile.op == "biased_softmax";
  if (hasMask)
    return {{{}, {1, 33, 1025}, 3}, p % 2 ? exactEven : allEven};
  switch (p % 4) {
  case 0:
    return {allEven};
  case 1:
    return {{{{"together", 1}}, {1, 3, 33, 100, 1025}, 3}};
  case 2:
    return {exactEven};
  default:
    break;
  }
  return {{{{"together", 1}, {"columns", oddWidth}}, {oddWidth}, 3}};
}

} // namespace axes
