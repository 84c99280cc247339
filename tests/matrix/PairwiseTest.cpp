#include "tests/matrix/Pairwise.h"

#include <gtest/gtest.h>

using fw::matrix::pairwise;

static bool covers(const std::vector<std::vector<unsigned>> &rows, size_t a, unsigned i, size_t b,
                   unsigned j) {
  for (auto &row : rows)
    if (row[a] == i && row[b] == j)
      return true;
  return false;
}

TEST(pairwise, every_pair_of_values_occurs) {
  std::vector<unsigned> levels = {13, 4, 4, 4, 4, 3, 2, 2};
  auto rows = pairwise(levels);
  for (size_t a = 0; a < levels.size(); ++a)
    for (size_t b = a + 1; b < levels.size(); ++b)
      for (unsigned i = 0; i < levels[a]; ++i)
        for (unsigned j = 0; j < levels[b]; ++j)
          ASSERT_TRUE(covers(rows, a, i, b, j)) << a << "=" << i << " " << b << "=" << j;
  EXPECT_LE(rows.size(), 13u * 4u + 12u);
}

TEST(pairwise, one_factor_gives_each_value_once) {
  std::vector<unsigned> levels = {3};
  EXPECT_EQ(pairwise(levels).size(), 3u);
}

TEST(pairwise, two_runs_are_equal) {
  std::vector<unsigned> levels = {5, 3, 2};
  EXPECT_EQ(pairwise(levels), pairwise(levels));
}
