// Sharing of memory between strided views. Addresses are numbers here; nothing reads them.
#include "runtime/launch/Overlap.h"

#include "tests/runtime/Lists.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

using namespace fw;
using namespace fw::launch;

namespace {

float *at(size_t element) { return reinterpret_cast<float *>(1 << 20) + element; }

std::string errorOf(const List &list) {
  std::vector<Operand> operands = paramAndGrad();
  Result<TensorList> checked = checkTensors(operands, list.array());
  return checked ? "no error" : render(checked.error());
}

/// p and g of one entry, 100 rows of 8 columns each, in rows of 32.
std::string sharing(float *p, float *g, int64_t gRow = 32, int64_t pRow = 32) {
  List list;
  list.add("f32", p, {100, 8}, {pRow, 1});
  list.add("f32", g, {100, 8}, {gRow, 1});
  return errorOf(list);
}

const char *shared =
    "tensor 0 (p of entry 0): expected memory of its own, since it is written, got "
    "memory that tensor 1 (g of entry 0) holds too; pass separate tensors";

TEST(Overlap, columnsOfOneTensorAreSeparate) {
  EXPECT_EQ(sharing(at(0), at(8)), "no error");
  EXPECT_EQ(sharing(at(8), at(0)), "no error");
  EXPECT_EQ(sharing(at(24), at(0)), "no error");
  EXPECT_EQ(sharing(at(0), at(5 * 32 + 8)), "no error");
}

TEST(Overlap, viewsThatShareAColumnAreRefused) {
  EXPECT_EQ(sharing(at(0), at(7)), shared);
  EXPECT_EQ(sharing(at(7), at(0)), shared);
  EXPECT_EQ(sharing(at(0), at(25)), shared); // its last column is the first one, a row below
  EXPECT_EQ(sharing(at(0), at(5 * 32)), shared);
  EXPECT_EQ(sharing(at(0), at(99 * 32 + 7)), shared);
  EXPECT_EQ(sharing(at(0), at(100 * 32)), "no error"); // below the last row
}

TEST(Overlap, inPlaceViewsHaveTheSameStrides) {
  EXPECT_EQ(sharing(at(0), at(0)), "no error");
  EXPECT_EQ(sharing(at(0), at(0), 64), shared);
  EXPECT_EQ(sharing(at(0), at(0), 0), shared); // an expanded row
  EXPECT_EQ(sharing(at(0), at(8), 0), "no error");
}

TEST(Overlap, viewsMayRunBackwards) {
  EXPECT_EQ(sharing(at(99 * 32), at(8), 32, -32), "no error");
  EXPECT_EQ(sharing(at(99 * 32), at(0), 32, -32), shared);
  EXPECT_EQ(sharing(at(99 * 32), at(99 * 32), -32, -32), "no error"); // in place
}

TEST(Overlap, aDenseTensorMayNotLieInAView) {
  List list;
  list.add("f32", at(0), {100, 8}, {32, 1});
  list.add("f32", at(10000), {100, 8}, {32, 1});
  list.add("f32", at(20000), {8});
  list.add("f32", at(3 * 32 + 8), {8});
  EXPECT_EQ(errorOf(list), "no error");
  list.tensors[3].data = at(3 * 32 + 4);
  EXPECT_EQ(errorOf(list),
            "tensor 0 (p of entry 0): expected memory of its own, since it is written, "
            "got memory that tensor 3 (g of entry 1) holds too; pass separate tensors");
}

TEST(Overlap, slicesOfHeadsAreSeparate) {
  // q and k of a packed [batch 4, query 16, 3, head 2, 8], each as [batch, head, query, 8].
  List list;
  for (int64_t part : {0, 1})
    list.add("f32", at(part * 16), {4, 2, 16, 8}, {16 * 48, 8, 48, 1});
  EXPECT_EQ(errorOf(list), "no error");
  list.tensors[1].data = at(8);
  EXPECT_EQ(errorOf(list), shared);
}

/// Every byte of an operand of the list's entry.
std::set<uintptr_t> bytesOf(const Operand &operand, const TensorList &list, size_t entry,
                            size_t k) {
  const Entry &shape = list.entries[entry];
  std::set<uintptr_t> places = {
      reinterpret_cast<uintptr_t>(list.pointers[entry * list.operands + k])};
  for (const Loop &loop : shape.loops) {
    std::set<uintptr_t> more;
    for (uintptr_t place : places)
      for (int64_t i = 0; i < loop.extent; ++i)
        more.insert(place + uintptr_t(i * loop.byteStrides[k]));
    places = std::move(more);
  }
  std::set<uintptr_t> bytes;
  for (uintptr_t place : places)
    for (uintptr_t i = 0; i < uintptr_t(shape.run) * operand.bytes; ++i)
      bytes.insert(place + i);
  return bytes;
}

TEST(Overlap, equalsTheSetsOfBytes) {
  std::vector<Operand> operands = paramAndGrad();
  std::mt19937 random(1);
  auto below = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  int sharing = 0, apart = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    operands[0].bytes = 1u << below(3);
    operands[1].bytes = 1u << below(3);
    TensorList list;
    list.operands = list.length = 2;
    for (int e = 0; e < 2; ++e) {
      Entry entry;
      entry.run = 1 + below(4);
      entry.position = size_t(e);
      for (int64_t l = below(4); l-- > 0;)
        entry.loops.push_back({1 + below(4), {(below(49) - 24) * 2, (below(49) - 24) * 2}});
      list.entries.push_back(entry);
    }
    // Of each entry one operand is far away, so that the two others decide.
    for (uintptr_t place : {4096 + below(300), below(2) ? int64_t(1) << 20 : int64_t(1) << 21,
                            int64_t(1) << 30, 4096 + below(300)})
      list.pointers.push_back(reinterpret_cast<void *>(place));
    std::set<uintptr_t> written = bytesOf(operands[0], list, 0, 0);
    bool expected = false;
    for (uintptr_t byte : bytesOf(operands[1], list, 1, 1))
      expected |= written.contains(byte);
    const ListOfRun alone{operands, &list};
    EXPECT_EQ(!checkOverlap({&alone, 1}), expected) << "trial " << trial;
    ++(expected ? sharing : apart);
  }
  EXPECT_GT(sharing, 2000);
  EXPECT_GT(apart, 2000);
}

TEST(Overlap, stridesOfAnySizeAreCompared) {
  List list;
  list.add("f32", at(0), {3, 8}, {32, 1});
  list.add("f32", at(8), {3, 8}, {INT64_MAX / 8, 1});
  EXPECT_EQ(errorOf(list), "no error");
}

} // namespace
