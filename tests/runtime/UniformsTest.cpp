// Tensors of operands with one value per tensor or in all: order, checks, sharing.
#include "tests/runtime/Lists.h"
#include "tests/runtime/Norms.h"

#include <gtest/gtest.h>

using namespace fw;
using namespace fw::launch;

namespace {

/// Tensors of the program in Norms.h: two entries of 4 elements.
struct Given {
  Given() {
    for (int64_t i = 0; i < 2; ++i) {
      list.add("f32", p[i], {4});
      list.add("f32", g[i], {4});
      list.add("f32", &most[i], {});
    }
    list.add("f64", &norm, {1});
    list.add("f32", &count, {});
  }
  Result<TensorList> check() const { return checkTensors(normProgram().operands, list.array()); }
  std::string error() const {
    Result<TensorList> checked = check();
    return checked ? "no error" : render(checked.error());
  }

  float p[2][4] = {}, g[2][4] = {}, most[2] = {}, count = 0;
  double norm = 0;
  List list;
};

TEST(Uniforms, standBehindTheirEntryAndBehindAll) {
  Given given;
  Result<TensorList> list = given.check();
  ASSERT_TRUE(list) << render(list.error());
  EXPECT_EQ(list->length, 2u);
  EXPECT_EQ(list->pointers,
            (std::vector<void *>{given.p[0], given.g[0], nullptr, nullptr, nullptr, given.p[1],
                                 given.g[1], nullptr, nullptr, nullptr}));
  EXPECT_EQ(list->uniform(0), nullptr);
  EXPECT_EQ(list->uniform(2)->addresses, (std::vector<void *>{&given.most[0], &given.most[1]}));
  EXPECT_EQ(list->uniform(3)->addresses, std::vector<void *>{&given.norm});
  EXPECT_EQ(list->uniform(4)->at(7), &given.count);
}

TEST(Uniforms, haveMemoryForEmptyTensorsToo) {
  Given given;
  const int64_t none = 0;
  given.list.tensors[0].shape = given.list.tensors[1].shape = &none;
  Result<TensorList> list = given.check();
  ASSERT_TRUE(list) << render(list.error());
  EXPECT_EQ(list->entries.size(), 1u);
  EXPECT_EQ(list->uniform(2)->addresses.size(), 2u);
  given.list.tensors[2].data = nullptr;
  EXPECT_EQ(given.error(), "tensor 2 (most of entry 0): expected memory for 1 element, got data = "
                           "NULL; only an operand that the request calls absent has no data");
}

TEST(Uniforms, areCountedOnce) {
  Given given;
  given.list.tensors.pop_back();
  EXPECT_EQ(given.error(),
            "expected a multiple of 3 tensors and 2 of all, got 7; pass tensors[i * 3 + k] for "
            "operand k of entry i, then the operands of all, once");
  given.list.tensors.clear();
  EXPECT_EQ(given.error(),
            "expected a multiple of 3 tensors and 2 of all, got 0; pass tensors[i * 3 + k] for "
            "operand k of entry i, then the operands of all, once");
  const std::vector<Operand> ofAll(2,
                                   {.name = "a", .dtype = "f32", .bytes = 4, .scope = Scope::All});
  float number = 0;
  List one;
  one.add("f32", &number, {});
  Result<TensorList> checked = checkTensors(ofAll, one.array());
  ASSERT_FALSE(checked);
  EXPECT_EQ(render(checked.error()),
            "expected 2 tensors of all, got 1; pass one tensor for each operand");
}

TEST(Uniforms, areOneElement) {
  Given given;
  const int64_t three = 3;
  given.list.tensors[5].rank = 1;
  given.list.tensors[5].shape = &three;
  EXPECT_EQ(given.error(), "tensor 5 (most of entry 1): expected one element, the value of its "
                           "entry, got shape [3]; pass a tensor of rank 0, or of shape [1]");
  Given other;
  other.list.tensors[6].shape = &three;
  EXPECT_EQ(other.error(), "tensor 6 (norm of all): expected one element, the value of all "
                           "tensors, got shape [3]; pass a tensor of rank 0, or of shape [1]");
  other.list.tensors[6].dtype = "f32";
  EXPECT_EQ(other.error(), "tensor 6 (norm of all): expected dtype f64, got f32; bind the tensor's "
                           "dtype in the request, or cast the tensor");
}

const char *remedy = " holds too; pass separate tensors";

TEST(Uniforms, writtenNumbersHaveTheirOwnMemory) {
  Given given;
  given.list.tensors[5].data = &given.most[0];
  EXPECT_EQ(given.error(), std::string("tensor 2 (most of entry 0): expected memory of its own, "
                                       "since it is written, got memory that tensor 5 (most of "
                                       "entry 1)") +
                               remedy);
  given.list.tensors[5].data = &given.g[1][3];
  EXPECT_EQ(given.error(), std::string("tensor 5 (most of entry 1): expected memory of its own, "
                                       "since it is written, got memory that tensor 4 (g of entry "
                                       "1)") +
                               remedy);
  given.list.tensors[5].data = &given.count;
  EXPECT_EQ(given.error(),
            std::string("tensor 7 (count of all): expected memory of its own, since "
                        "it is written, got memory that tensor 5 (most of entry 1)") +
                remedy);
}

TEST(Uniforms, numbersMayBeWrittenInPlace) {
  std::vector<Operand> operands = {
      {.name = "old", .dtype = "f32", .bytes = 4, .read = true, .scope = Scope::All},
      {.name = "new", .dtype = "f32", .bytes = 4, .written = true, .scope = Scope::All}};
  float number = 0;
  List list;
  list.add("f32", &number, {});
  list.add("f32", &number, {});
  EXPECT_TRUE(checkTensors(operands, list.array()));
  operands[0].written = true;
  EXPECT_FALSE(checkTensors(operands, list.array()));
}

TEST(Uniforms, absentOnesHaveNoData) {
  std::vector<Operand> operands = normProgram().operands;
  operands[3].present = false;
  Given given;
  Result<TensorList> checked = checkTensors(operands, given.list.array());
  ASSERT_FALSE(checked);
  EXPECT_EQ(render(checked.error()),
            "tensor 6 (norm of all): expected data = NULL for an absent operand, got an address; "
            "make a request in which the operand is present");
  given.list.tensors[6].data = nullptr;
  checked = checkTensors(operands, given.list.array());
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->uniform(3), nullptr);
}

} // namespace
