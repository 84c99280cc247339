#include "tools/cli/LineDiff.h"

#include <algorithm>

namespace fw::cli {

LineDiff diffLines(const std::vector<std::string> &first, const std::vector<std::string> &second) {
  // common[i][j]: lines that first from i on and second from j on share
  std::vector<std::vector<size_t>> common(first.size() + 1,
                                          std::vector<size_t>(second.size() + 1, 0));
  for (size_t i = first.size(); i-- > 0;)
    for (size_t j = second.size(); j-- > 0;)
      common[i][j] = first[i] == second[j] ? common[i + 1][j + 1] + 1
                                           : std::max(common[i + 1][j], common[i][j + 1]);
  LineDiff diff;
  size_t i = 0, j = 0;
  while (i < first.size() || j < second.size()) {
    if (i < first.size() && j < second.size() && first[i] == second[j])
      ++i, ++j;
    else if (j == second.size() || (i < first.size() && common[i + 1][j] >= common[i][j + 1]))
      diff.onlyFirst.push_back(first[i++]);
    else
      diff.onlySecond.push_back(second[j++]);
  }
  return diff;
}

} // namespace fw::cli
