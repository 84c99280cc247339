// Rows of a benchmark: a table for people, JSON as bench/results keeps it (DESIGN 11).
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace bench {

struct Row {
  std::string id;   ///< of PERFORMANCE 2: "H4"
  std::string what; ///< the case
  double value;
  std::string unit;
  double floor, goal; ///< of PERFORMANCE 2, in the same unit
  nlohmann::ordered_json peers = nlohmann::ordered_json::object();
};

/// The middle one; the values are reordered.
double median(std::vector<double> values);

void printTable(const std::vector<Row> &rows);
/// An array of rows, each with the versions that it was measured with.
void writeJson(const std::string &path, const std::vector<Row> &rows,
               const nlohmann::ordered_json &versions);

} // namespace bench
