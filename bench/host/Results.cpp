#include "bench/host/Results.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace bench {

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

namespace {

/// Percentages grow towards the goal, times shrink.
const char *verdict(const Row &row) {
  bool more = row.goal > row.floor;
  if (more ? row.value >= row.goal : row.value <= row.goal)
    return "goal";
  return (more ? row.value >= row.floor : row.value <= row.floor) ? "floor" : "below floor";
}

} // namespace

void printTable(const std::vector<Row> &rows) {
  std::printf("%-4s %-44s %10s %-8s %8s %8s  %s\n", "id", "case", "value", "unit", "floor", "goal",
              "reached");
  for (const Row &row : rows)
    std::printf("%-4s %-44s %10.3f %-8s %8g %8g  %s\n", row.id.c_str(), row.what.c_str(), row.value,
                row.unit.c_str(), row.floor, row.goal, verdict(row));
}

void writeJson(const std::string &path, const std::vector<Row> &rows,
               const nlohmann::ordered_json &versions) {
  auto list = nlohmann::ordered_json::array();
  for (const Row &row : rows)
    list.push_back({{"id", row.id},
                    {"case", row.what},
                    {"value", row.value},
                    {"unit", row.unit},
                    {"floor", row.floor},
                    {"goal", row.goal},
                    {"peers", row.peers},
                    {"versions", versions}});
  std::ofstream(path) << list.dump(2) << "\n";
}

} // namespace bench
