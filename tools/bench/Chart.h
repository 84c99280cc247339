// A bar chart as SVG.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fw::bench {

struct Bar {
  std::string label;
  double percent;
  std::optional<double> floor, goal; ///< marks on the bar
};

std::string barChart(const std::string &title, const std::vector<Bar> &bars);

} // namespace fw::bench
