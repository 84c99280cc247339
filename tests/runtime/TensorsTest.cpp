// Which tensors a launch takes, and the loops that it makes of them.
#include "tests/runtime/Lists.h"

#include <gtest/gtest.h>

using namespace fw;
using namespace fw::launch;

namespace {

float memory[4096];

Result<TensorList> check(const List &list) { return checkTensors(paramAndGrad(), list.array()); }

std::string errorOf(const List &list) {
  Result<TensorList> result = check(list);
  return result ? "no error" : render(result.error());
}

/// An entry of one param and one grad of the same shape.
List pair(std::vector<int64_t> shape, std::vector<int64_t> first, std::vector<int64_t> second) {
  List list;
  list.add("f32", memory, shape, first);
  list.add("f32", memory + 2048, shape, second);
  return list;
}

TEST(Tensors, rowMajorIsOneRun) {
  Result<TensorList> list = check(pair({3, 4, 5}, {}, {20, 5, 1}));
  ASSERT_TRUE(list);
  EXPECT_EQ(list->entries[0].elements, 60);
  EXPECT_EQ(list->entries[0].run, 60);
  EXPECT_TRUE(list->entries[0].loops.empty());
}

// F01: strides of dimensions of size 1 mean nothing.
TEST(Tensors, case_F01) {
  Result<TensorList> list = check(pair({2, 1, 100}, {100, 100, 1}, {100, 1, 1}));
  ASSERT_TRUE(list) << errorOf(pair({2, 1, 100}, {100, 100, 1}, {100, 1, 1}));
  EXPECT_EQ(list->entries[0].run, 200);
}

// F03: channels-last in three space dimensions, the same in param and grad.
TEST(Tensors, case_F03) {
  std::vector<int64_t> channelsLast = {3 * 4 * 5 * 6, 1, 4 * 5 * 3, 5 * 3, 3};
  List list = pair({2, 3, 6, 4, 5}, channelsLast, channelsLast);
  Result<TensorList> checked = check(list);
  ASSERT_TRUE(checked) << errorOf(list);
  EXPECT_EQ(checked->entries[0].run, 720);
}

TEST(Tensors, permutedDenseIsOneRun) {
  Result<TensorList> list = check(pair({3, 4}, {1, 3}, {1, 3}));
  ASSERT_TRUE(list);
  EXPECT_EQ(list->entries[0].run, 12);
}

TEST(Tensors, columnSliceIsALoopOverRows) {
  Result<TensorList> list = check(pair({5, 8}, {20, 1}, {8, 1}));
  ASSERT_TRUE(list);
  const Entry &entry = list->entries[0];
  EXPECT_EQ(entry.elements, 40);
  EXPECT_EQ(entry.run, 8);
  ASSERT_EQ(entry.loops.size(), 1u);
  EXPECT_EQ(entry.loops[0].extent, 5);
  EXPECT_EQ(entry.loops[0].byteStrides, (std::vector<int64_t>{80, 32}));
}

TEST(Tensors, dimensionsMergeOnlyWhereAllOperandsAllow) {
  Result<TensorList> list = check(pair({2, 3, 4}, {12, 4, 1}, {16, 4, 1}));
  ASSERT_TRUE(list);
  EXPECT_EQ(list->entries[0].run, 12);
  EXPECT_EQ(list->entries[0].loops.size(), 1u);
}

TEST(Tensors, emptyEntriesVanishAndKeepTheirPosition) {
  List list;
  for (int64_t count : {0, 7, 0}) {
    list.add("f32", count ? memory : nullptr, {count});
    list.add("f32", count ? memory + 2048 : nullptr, {count});
  }
  Result<TensorList> checked = check(list);
  ASSERT_TRUE(checked) << errorOf(list);
  ASSERT_EQ(checked->entries.size(), 1u);
  EXPECT_EQ(checked->entries[0].position, 1u);
  EXPECT_EQ(checked->pointers, (std::vector<void *>{memory, memory + 2048}));
}

TEST(Tensors, scalarTensorsHaveOneElement) {
  Result<TensorList> list = check(pair({}, {}, {}));
  ASSERT_TRUE(list);
  EXPECT_EQ(list->entries[0].elements, 1);
}

TEST(Tensors, newerCallersWithALargerStructAreRead) {
  struct Larger {
    fw_tensor known;
    uint64_t unknown;
  };
  int64_t shape = 3;
  Larger larger[2] = {};
  for (int k = 0; k < 2; ++k) {
    List list;
    larger[k].known = list.add("f32", memory + 2048 * k, {3});
    larger[k].known.struct_size = sizeof(Larger);
    larger[k].known.shape = &shape;
    larger[k].known.dtype = "f32";
  }
  Result<TensorList> list = checkTensors(paramAndGrad(), TensorArray(&larger[0].known, 2));
  ASSERT_TRUE(list) << render(list.error());
  EXPECT_EQ(list->pointers[1], memory + 2048);
}

TEST(TensorErrors, transposedGradient) {
  EXPECT_EQ(errorOf(pair({3, 4}, {4, 1}, {1, 3})),
            "tensor 1 (g of entry 0): expected strides of the same meaning as [4, 1] of p, got [1, "
            "3] for shape "
            "[3, 4]; pass a copy with the layout of the other operands");
}

TEST(TensorErrors, everySecondElement) {
  EXPECT_EQ(errorOf(pair({4}, {2}, {2})), "tensor 0 (p of entry 0): expected a dimension of stride "
                                          "1, got [2] for shape [4]; pass a dense copy");
}

// The reference, which is written, is told before what is only read.
TEST(TensorErrors, noOperandHasADimensionOfStrideOne) {
  const std::vector<Operand> operands = {
      {.name = "x", .dtype = "f32", .bytes = 4, .read = true},
      {.name = "z", .dtype = "f32", .bytes = 4, .written = true}};
  auto error = [&](std::vector<int64_t> x, std::vector<int64_t> z) {
    return render(checkTensors(operands, pair({4}, x, z).array()).error());
  };
  EXPECT_EQ(error({2}, {2}), "tensor 1 (z of entry 0): expected a dimension of stride 1, got [2] "
                             "for shape [4]; pass a dense copy");
  EXPECT_EQ(error({2}, {1}), "tensor 0 (x of entry 0): expected a dimension of stride 1, got [2] "
                             "for shape [4]; pass a dense copy");
}

TEST(TensorErrors, ranksHaveARemedy) {
  List list = pair({4}, {}, {});
  list.tensors[1].rank = -1;
  EXPECT_EQ(errorOf(list),
            "tensor 1 (g of entry 0): expected a rank from 0 to 64 and a shape of that length, got "
            "rank -1; set rank to the number of dimensions, and shape to their sizes");
  list.tensors[1].rank = 1 << 30; // of a shape that ends after one number
  EXPECT_EQ(errorOf(list),
            "tensor 1 (g of entry 0): expected a rank from 0 to 64 and a shape of that length, got "
            "rank 1073741824; set rank to the number of dimensions, and shape to their sizes");
}

TEST(TensorErrors, expandedParam) {
  EXPECT_EQ(errorOf(pair({3, 4}, {0, 1}, {4, 1})),
            "tensor 0 (p of entry 0): expected elements that do not share memory, got strides [0, "
            "1] for shape "
            "[3, 4]; pass a copy: a written operand may not be an expanded view");
}

TEST(TensorErrors, expandedGradIsRead) {
  EXPECT_EQ(errorOf(pair({3, 4}, {4, 1}, {0, 1})), "no error");
}

// An op that writes no elements may read an expanded view, and an expanded view alone.
TEST(Tensors, expandedInIsReadAsOftenAsItIsSeen) {
  for (bool rows : {true, false}) {
    std::vector<Operand> norm = {paramAndGrad()[1]};
    norm[0].written = false;
    List list;
    list.add("f32", memory, {3, 4}, rows ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{1, 0});
    Result<TensorList> checked = checkTensors(norm, list.array());
    ASSERT_TRUE(checked) << render(checked.error());
    const Entry &entry = checked->entries[0];
    EXPECT_EQ(entry.elements, 12);
    EXPECT_EQ(entry.run, rows ? 4 : 3);
    ASSERT_EQ(entry.loops.size(), 1u);
    EXPECT_EQ(entry.loops[0].extent, rows ? 3 : 4);
    EXPECT_EQ(entry.loops[0].byteStrides[0], 0);
  }
}

TEST(TensorErrors, otherShape) {
  List list;
  list.add("f32", memory, {3, 4});
  list.add("f32", memory + 2048, {4, 3});
  EXPECT_EQ(
      errorOf(list),
      "tensor 1 (g of entry 0): expected shape [3, 4] as the entry's first operand, got [4, 3]; "
      "pass operands of one shape, or an entry for each");
}

TEST(TensorErrors, otherDtype) {
  List list;
  list.add("f32", memory, {4});
  list.add("bf16", memory + 2048, {4});
  EXPECT_EQ(errorOf(list),
            "tensor 1 (g of entry 0): expected dtype f32, got bf16; bind the tensor's dtype in the "
            "request, or cast the tensor");
}

TEST(TensorErrors, cudaTensor) {
  List list = pair({4}, {}, {});
  list.tensors[1].device = FW_DEVICE_CUDA;
  EXPECT_EQ(
      errorOf(list),
      "tensor 1 (g of entry 0): expected a tensor on the CPU, got one on CUDA device 0; copy it "
      "to host memory, or compile for the device's arch");
  EXPECT_EQ(check(list).error().code, Code::DEVICE);
}

TEST(TensorErrors, noMemory) {
  List list = pair({4}, {}, {});
  list.tensors[1].data = nullptr;
  EXPECT_EQ(
      errorOf(list),
      "tensor 1 (g of entry 0): expected memory for 4 elements, got data = NULL; only an empty "
      "tensor, or an operand that the request calls absent, has no data");
}

// R03: a list of the wrong length is told, not spread over the operands.
TEST(TensorErrors, case_R03) {
  List list = pair({4}, {}, {});
  list.add("f32", memory + 100, {4});
  EXPECT_EQ(
      errorOf(list),
      "expected a multiple of 2 tensors, one per operand, got 3; pass tensors[i * operands + k] "
      "for operand k of entry i");
}

TEST(TensorErrors, sizes) {
  EXPECT_EQ(errorOf(pair({-1}, {}, {})),
            "tensor 0 (p of entry 0): expected sizes >= 0, got shape [-1]; pass the number of "
            "elements of each dimension");
  EXPECT_EQ(errorOf(pair({int64_t(1) << 40, int64_t(1) << 40}, {}, {})),
            "tensor 0 (p of entry 0): expected fewer than 2^63 elements, got shape [1099511627776, "
            "1099511627776]; pass the tensor's own shape");
  EXPECT_EQ(errorOf(pair({int64_t(1) << 62}, {}, {})),
            "tensor 0 (p of entry 0): expected at most 70368744177664 elements of f32, got shape "
            "[4611686018427387904]; pass the tensor's own shape");
}

// U01: the size of a product leaves 31 bits without wrapping.
TEST(Tensors, case_U01_sizes) {
  Result<TensorList> list = check(pair({19345706, 128}, {128, 1}, {128, 1}));
  ASSERT_FALSE(list) << "the two tensors overlap in this test's memory";
  EXPECT_NE(render(list.error()).find("memory of its own"), std::string::npos);
}

TEST(Overlap, inPlaceIsAllowedAtTheSamePlaceOnly) {
  List same;
  same.add("f32", memory, {100});
  same.add("f32", memory, {100});
  EXPECT_EQ(errorOf(same), "no error");
  List shifted;
  shifted.add("f32", memory, {100});
  shifted.add("f32", memory + 1, {100});
  EXPECT_EQ(errorOf(shifted),
            "tensor 0 (p of entry 0): expected memory of its own, since it is written, got memory "
            "that tensor 1 (g of entry 0) holds too; pass separate tensors");
}

TEST(Overlap, entriesMayShareWhatIsOnlyRead) {
  List list;
  list.add("f32", memory, {100});
  list.add("f32", memory + 2048, {100});
  list.add("f32", memory + 100, {100});
  list.add("f32", memory + 2048, {50});
  list.tensors[3].shape = list.tensors[2].shape;
  EXPECT_EQ(errorOf(list), "no error");
}

TEST(Overlap, entriesMayNotShareWhatIsWritten) {
  List list;
  list.add("f32", memory, {100});
  list.add("f32", memory + 2048, {100});
  list.add("f32", memory + 99, {100});
  list.add("f32", memory + 3000, {100});
  EXPECT_EQ(errorOf(list),
            "tensor 0 (p of entry 0): expected memory of its own, since it is written, got memory "
            "that tensor 2 (p of entry 1) holds too; pass separate tensors");
}

// A sharing that is allowed hides no other: the reader of entry 1 lies below in-place operands of
// entry 0.
TEST(Overlap, allowedSharingHidesNoOther) {
  List list;
  list.add("f32", memory, {200});
  list.add("f32", memory, {200});
  list.add("f32", memory + 1000, {50});
  list.add("f32", memory + 20, {50});
  EXPECT_EQ(errorOf(list),
            "tensor 0 (p of entry 0): expected memory of its own, since it is written, got memory "
            "that tensor 3 (g of entry 1) holds too; pass separate tensors");
}

} // namespace
