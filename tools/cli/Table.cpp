#include "tools/cli/Table.h"

#include <algorithm>
#include <cstdio>

namespace fw::cli {

Table::Table(std::vector<std::string> columns) {
  for (std::string &name : columns) {
    right.push_back(name.starts_with('>'));
    if (right.back())
      name.erase(0, 1);
  }
  rows.push_back(std::move(columns));
}

void Table::print(std::ostream &out) const {
  std::vector<size_t> widths(right.size());
  for (const auto &row : rows)
    for (size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], row[c].size());
  for (const auto &row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      std::string blanks(widths[c] - row[c].size(), ' ');
      line += (c ? "  " : "") + (right[c] ? blanks + row[c] : row[c] + blanks);
    }
    out << line.substr(0, line.find_last_not_of(' ') + 1) << "\n";
  }
}

std::string countText(size_t count, const std::string &one, const std::string &many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string decimal(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string scientific(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

} // namespace fw::cli
