// Aligned tables on a terminal.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace fw::cli {

class Table {
public:
  /// Names of columns; one that starts with '>' is aligned to the right.
  explicit Table(std::vector<std::string> columns);
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  void print(std::ostream &out) const;

private:
  std::vector<bool> right;
  std::vector<std::vector<std::string>> rows; ///< the first one holds the names
};

/// "1 entry", "3 entries".
std::string countText(size_t count, const std::string &one, const std::string &many);
/// "12.3", with so many decimals.
std::string decimal(double value, int decimals);
/// "1.25e-07"
std::string scientific(double value);

} // namespace fw::cli
