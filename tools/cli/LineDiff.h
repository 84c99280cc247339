// The lines by which two texts differ.
#pragma once

#include <string>
#include <vector>

namespace fw::cli {

/// What is left of either text once their longest common subsequence of lines is taken out.
struct LineDiff {
  std::vector<std::string> onlyFirst, onlySecond;
  size_t count() const { return onlyFirst.size() + onlySecond.size(); }
};

LineDiff diffLines(const std::vector<std::string> &first, const std::vector<std::string> &second);

} // namespace fw::cli
