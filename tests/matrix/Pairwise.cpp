#include "tests/matrix/Pairwise.h"

#include <cstddef>
#include <optional>
#include <utility>

namespace fw::matrix {
namespace {

/// The pairs that no row has covered yet.
class Uncovered {
public:
  explicit Uncovered(std::span<const unsigned> levels) : levels(levels.begin(), levels.end()) {
    unsigned next = 0;
    for (unsigned count : levels) {
      first.push_back(next);
      next += count;
    }
    values = next;
    open.assign(size_t(values) * values, false);
    for (size_t a = 0; a < levels.size(); ++a)
      for (size_t b = a + 1; b < levels.size(); ++b)
        for (unsigned i = 0; i < levels[a]; ++i)
          for (unsigned j = 0; j < levels[b]; ++j)
            at(a, i, b, j) = true;
  }

  struct Pair {
    size_t a, b;
    unsigned i, j;
  };
  /// The first open pair, in a fixed order.
  std::optional<Pair> next() const {
    for (size_t a = 0; a < levels.size(); ++a)
      for (size_t b = a + 1; b < levels.size(); ++b)
        for (unsigned i = 0; i < levels[a]; ++i)
          for (unsigned j = 0; j < levels[b]; ++j)
            if (isOpen(a, i, b, j))
              return Pair{a, b, i, j};
    return std::nullopt;
  }

  bool isOpen(size_t a, unsigned i, size_t b, unsigned j) const {
    if (a > b)
      return isOpen(b, j, a, i);
    return open[size_t(first[a] + i) * values + first[b] + j];
  }

  void cover(const std::vector<unsigned> &row) {
    for (size_t a = 0; a < row.size(); ++a)
      for (size_t b = a + 1; b < row.size(); ++b)
        at(a, row[a], b, row[b]) = false;
  }

private:
  std::vector<bool>::reference at(size_t a, unsigned i, size_t b, unsigned j) {
    return open[size_t(first[a] + i) * values + first[b] + j];
  }

  std::vector<unsigned> levels, first;
  unsigned values = 0;
  std::vector<bool> open;
};

/// The value of `factor` that covers most open pairs with the values chosen so far. Ties go to the
/// value after the one the last row used, so that rows without a choice still differ.
unsigned bestValue(const Uncovered &uncovered, size_t factor, unsigned count, unsigned after,
                   const std::vector<std::optional<unsigned>> &row) {
  unsigned best = after % count;
  int most = -1;
  for (unsigned k = 0; k < count; ++k) {
    unsigned value = (after + k) % count;
    int gain = 0;
    for (size_t other = 0; other < row.size(); ++other)
      if (row[other] && other != factor)
        gain += uncovered.isOpen(factor, value, other, *row[other]);
    if (gain > most) {
      most = gain;
      best = value;
    }
  }
  return best;
}

} // namespace

std::vector<std::vector<unsigned>> pairwise(std::span<const unsigned> levels) {
  std::vector<std::vector<unsigned>> rows;
  if (levels.size() < 2) {
    for (unsigned i = 0; !levels.empty() && i < levels[0]; ++i)
      rows.push_back({i});
    return rows;
  }
  Uncovered uncovered(levels);
  while (auto pair = uncovered.next()) {
    std::vector<std::optional<unsigned>> chosen(levels.size());
    chosen[pair->a] = pair->i;
    chosen[pair->b] = pair->j;
    for (size_t factor = 0; factor < levels.size(); ++factor)
      if (!chosen[factor])
        chosen[factor] = bestValue(uncovered, factor, levels[factor],
                                   rows.empty() ? 0 : rows.back()[factor] + 1, chosen);
    std::vector<unsigned> row;
    for (auto value : chosen)
      row.push_back(*value);
    uncovered.cover(row);
    rows.push_back(std::move(row));
  }
  return rows;
}

} // namespace fw::matrix
