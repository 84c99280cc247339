// Splitting of work is a function of sizes.
#include "runtime/launch/Work.h"

#include <gtest/gtest.h>

#include <random>

using namespace fw::launch;

namespace {

/// Every element of every entry in exactly one piece, in order.
void expectCovers(const WorkPlan &plan, const std::vector<int64_t> &elements) {
  size_t entry = 0;
  int64_t next = 0;
  for (const Piece &piece : plan.pieces) {
    if (next == elements[entry])
      ++entry, next = 0;
    ASSERT_EQ(piece.entry, entry);
    ASSERT_EQ(piece.first, next);
    ASSERT_GT(piece.count, 0);
    next += piece.count;
  }
  if (!elements.empty()) {
    EXPECT_EQ(entry + 1, elements.size());
    EXPECT_EQ(next, elements.back());
  }
  EXPECT_EQ(plan.starts.front(), 0u);
  EXPECT_EQ(plan.starts.back(), plan.pieces.size());
  for (size_t s = 0; s + 1 < plan.starts.size(); ++s)
    EXPECT_LT(plan.starts[s], plan.starts[s + 1]);
}

TEST(Work, nothingIsNoShare) { EXPECT_EQ(planWork({}, 28, 8).shares(), 0u); }

TEST(Work, smallWorkIsOneShare) {
  std::vector<int64_t> elements = {100, 1, 200};
  WorkPlan plan = planWork(elements, 28, 8);
  EXPECT_EQ(plan.shares(), 1u);
  expectCovers(plan, elements);
}

TEST(Work, oneThreadIsOneShare) {
  std::vector<int64_t> elements = {1 << 30};
  EXPECT_EQ(planWork(elements, 28, 1).shares(), 1u);
}

TEST(Work, largeTensorsAreCutAtAlignedElements) {
  std::vector<int64_t> elements = {10'000'001};
  WorkPlan plan = planWork(elements, 28, 4);
  expectCovers(plan, elements);
  EXPECT_GE(plan.shares(), 10'000'001 * 28 / shareBytes);
  for (const Piece &piece : plan.pieces)
    EXPECT_EQ(piece.first % pieceAlignment, 0);
}

TEST(Work, smallTensorsAreGathered) {
  std::vector<int64_t> elements(10'000, 1000);
  WorkPlan plan = planWork(elements, 28, 4);
  expectCovers(plan, elements);
  EXPECT_LT(plan.shares(), 1000u);
}

TEST(Work, everyElementIsInOnePiece) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> elements(1 + random() % 20);
    for (int64_t &count : elements)
      count = 1 + int64_t(random()) % (1 << (random() % 22));
    expectCovers(planWork(elements, 1 + random() % 64, 1 + random() % 16), elements);
  }
}

TEST(Work, piecesOfReductionsAreFixed) {
  const std::vector<int64_t> elements = {1, reductionPiece, 3 * reductionPiece + 5, 17, 1'000'000};
  const WorkPlan alone = planReduction(elements, 4, 1);
  EXPECT_EQ(alone.shares(), 1u);
  EXPECT_EQ(alone.pieces.size(), 1u + 1 + 4 + 1 + 16);
  for (unsigned threads : {1u, 2u, 7u}) {
    const WorkPlan plan = planReduction(elements, 4, threads);
    expectCovers(plan, elements);
    ASSERT_EQ(plan.pieces.size(), alone.pieces.size());
    for (size_t p = 0; p < plan.pieces.size(); ++p) {
      EXPECT_EQ(plan.pieces[p].first, alone.pieces[p].first);
      EXPECT_EQ(plan.pieces[p].count, alone.pieces[p].count);
    }
    EXPECT_EQ(plan.shares() > 1, threads > 1);
  }
  EXPECT_EQ(planReduction({}, 4, 7).shares(), 0u);
}

} // namespace
