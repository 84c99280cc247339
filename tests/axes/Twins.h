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
  const int64_t width = even[p / 2 % 4], oddWidth = odd[p / 2 % 6];
  const bool isEven = p % 2 == 0;
  std::vector<Twin> twins;
  // Masks that heads share are off the boundaries of what each has of its own.
  const bool hasMask = profile.op == "masked_softmax" || profile.op == "biased_softmax";
  if (hasHeads(profile.op))
    return {hasMask ? Twin{{}, {1, 33, 1025}, 3} : Twin{{{"together", 1}}, {1, 33, 1025}, 3},
            isEven ? Twin{{{"aligned", 16}}, {64, 1024}, 0}
                   : Twin{{{"aligned", 16}, {"columns", width}}, {width}, 0}};
  if (isEven)
    return {{{{"together", 1}}, {1, 3, 33, 100, 1025}, 3},
            {{{"aligned", 16}, {"columns", width}}, {width}, 0}};
  return {{{{"aligned", 16}}, {64, 192, 1024}, 0},
          {{{"together", 1}, {"columns", oddWidth}}, {oddWidth}, 3}};
}

} // namespace axes
