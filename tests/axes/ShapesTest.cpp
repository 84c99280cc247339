// Shapes of tensors of ops over axes, and what is said where they do not fit; compiles that must
// wait.
#include "tests/axes/Evaluated.h"

using namespace axes;

namespace {

Evaluated masked(const Shape &x, const Shape &keep) {
  Evaluated op("masked_softmax");
  op.set("x", x, Numbers(count(x), 1)).set("keep", keep, Numbers(count(keep), 1)).set("y", x);
  return op;
}

} // namespace

TEST(Shapes, NameTheLengthsOfAxes) {
  EXPECT_EQ(masked({2, 3, 4, 5}, {2, 1, 4, 5}).run(), "");
  EXPECT_EQ(masked({2, 3, 4, 5}, {2, 1, 4, 6}).run(),
            "tensor 1 (keep of entry 0): expected 5 along axis 'key' as operand 'x' has, got shape "
            "[2, 1, 4, 6] for [batch, 1, query, key]; pass tensors whose axes are of one length");
  EXPECT_EQ(masked({2, 3, 4, 5}, {2, 3, 4, 5}).run(),
            "tensor 1 (keep of entry 0): expected size 1 where axis 1 stands in [batch, 1, query, "
            "key], got shape [2, 3, 4, 5]; pass one place, it is used for all");
  EXPECT_EQ(masked({2, 3, 4, 5}, {1, 1, 4, 5}).run(),
            "tensor 1 (keep of entry 0): expected 2 along axis 'batch' as operand 'x' has, got "
            "shape [1, 1, 4, 5] for [batch, 1, query, key]; expand the tensor (stride 0), or write "
            "1 for the axis in the op");
  EXPECT_EQ(masked({6, 4, 5}, {2, 1, 4, 5}).run(),
            "tensor 0 (x of entry 0): expected a tensor with the axes [batch, head, query, key], "
            "got shape [6, 4, 5]; pass a dimension for each axis");
}

TEST(Shapes, PlacesAreCounted) {
  Evaluated op("op test over rows { row r;  column w;  out s[tensor];  s = sum[tensor](w*r) }");
  op.set("r", {1}, {1}).set("w", {1}, {1}).set("s", {1});
  const int64_t many = int64_t(1) << 40;
  op.reshape("r", {many}, {0}).reshape("w", {many}, {0});
  EXPECT_EQ(op.run(), "expected fewer than 2^63 elements, got shape [1099511627776, "
                      "1099511627776]; pass the tensor's own shape");
}

TEST(Shapes, StridesAreFree) {
  Evaluated op("rms_norm"); // transposed x, a weight of one number, handed case F07
  op.set("x", {2, 3}, {1, 2, 3, 4, 5, 6}).strides("x", {1, 2});
  op.set("w", {3}, {2}).strides("w", {0}).set("y", {2, 3}).set("rstd", {2}).scalar("eps", 0);
  ASSERT_EQ(op.run(), "");
  const double rms = std::sqrt((1 + 9 + 25) / 3.0);
  EXPECT_NEAR(op.values("y")[1], 2 * 3 / rms, 1e-12);
}

TEST(Shapes, case_F07_AnExpandedWeightIsReadByItsStrides) {
  Evaluated op("rms_norm");
  op.set("x", {1, 4}, {1, 1, 1, 1}).set("w", {4}, {3}).strides("w", {0});
  op.set("y", {1, 4}).set("rstd", {1}).scalar("eps", 0);
  ASSERT_EQ(op.run(), "");
  for (double y : op.values("y"))
    EXPECT_NEAR(y, 3, 1e-12);
}

TEST(Shapes, ARowAndAColumnHaveTheirOwn) {
  Evaluated op("layer_norm");
  op.set("x", {4, 6}, wavy(24)).set("w", {4}).set("b", {6}).set("y", {4, 6});
  op.set("mean", {4}).set("rstd", {4});
  EXPECT_EQ(op.run(), "tensor 1 (w of entry 0): expected 6 along axis 'column' as operand 'x' has, "
                      "got shape [4] for [column]; pass tensors whose axes are of one length");
  op.set("w", {6}).set("mean", {3});
  EXPECT_EQ(op.run(), "tensor 4 (mean of entry 0): expected 4 along axis 'row' as operand 'x' has, "
                      "got shape [3] for [row]; pass tensors whose axes are of one length");
}

TEST(Shapes, DtypesOfIntsAndBoolsAreTheirOwn) {
  auto context = api::context();
  auto op = api::find(context, "masked_softmax");
  auto request = api::request(op);
  size_t n = 0;
  ASSERT_EQ(fw_request_dtype(request.get(), "keep", "f32"), FW_OK);
  EXPECT_EQ(fw_request_operand_count(request.get(), &n), FW_USAGE);
  EXPECT_EQ(api::lastError(),
            "expected a dtype of bools for 'keep', got 'f32'; its dtypes are bool");
}

namespace {
/// What compiling an op says.
std::string compileError(const std::string &text, const char *target = "cpu") {
  auto context = api::context();
  auto op =
      text.find('{') == text.npos ? api::find(context, text.c_str()) : api::parse(context, text);
  auto request = api::request(op);
  EXPECT_EQ(fw_request_target(request.get(), target), FW_OK);
  fw_program *program = nullptr;
  const fw_status status = fw_compile(context.get(), request.get(), &program);
  api::Program owner(program);
  EXPECT_TRUE(status == FW_OK || status == FW_USAGE) << status;
  return status == FW_OK ? "" : api::lastError();
}
} // namespace

TEST(Compiling, OfRowsForAGpuTakesAllWidths) { EXPECT_EQ(compileError("layer_norm", "sm_90"), ""); }

TEST(Compiling, OfRowsThatAreNoKernelSaysWhy) {
  const std::pair<const char *, const char *> bodies[] = {
      {"rows { in x;  out y;  y = swap_pairs(x*random(), half) }",
       "[row; column] with pairs of places of random numbers"},
      {"rows { in x;  out y;  y = swap_pairs(swap_pairs(x, half), half) }",
       "[row; column] with pairs of places of what pairs of places have made"},
      {"rows { in x, s[tensor];  out y;  hyper n : int = 2;  y = x*s^n }",
       "[row; column] with a power of an operand with one value per tensor or in all"},
      {"rows { in x;  out y[column];  y = sum[column](x) }",
       "[row; column] with a reduction over rows"},
      {"rows { in x;  out y;  y = x/sum[tensor](x) }", "[row; column] with a reduction over rows"},
      {"rows { in x;  state n[tensor];  out y;  n = n + 1;  y = x }",
       "[row; column] with a result with one value per tensor or in all"},
      {"rows { in x, t[place, column];  row k : int;  out y;  y = x*t[k] }",
       "[row; column] with an operand with an axis of its own"},
      {"[a; b, c] { in x;  out y;  y = x - avg(x) }", "[a; b, c] with rows that span 2 axes"}};
  for (auto &[text, why] : bodies)
    EXPECT_EQ(compileError("op test over " + std::string(text)),
              "expected an op whose rows are one kernel, got op 'test' over " + std::string(why) +
                  "; no backend compiles it yet; fw_evaluate computes it, with bounds");
}

TEST(Compiling, OfIntsBoolsAndDrawsSaysWhatIsPossible) {
  const std::pair<const char *, const char *> bodies[] = {
      {"in x, k : bool;  out y;  y = if k then x else 0", "operands of bools and ints"},
      {"in x, k : int;  out y;  y = x*k", "operands of bools and ints"},
      {"in x;  out y;  y = x + random()", "random numbers"}};
  for (auto &[body, got] : bodies) {
    auto context = api::context();
    auto op = api::parse(context, "op test over elements { " + std::string(body) + " }");
    auto request = api::request(op);
    fw_program *program = nullptr;
    EXPECT_EQ(fw_compile(context.get(), request.get(), &program), FW_USAGE);
    EXPECT_EQ(api::lastError(), "expected arithmetic of reals on elements, got " +
                                    std::string(got) +
                                    "; no backend compiles it yet; fw_evaluate computes it, with "
                                    "bounds");
  }
}
