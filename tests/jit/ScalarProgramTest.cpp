#include "compiler/jit/ScalarProgram.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace fw::jit {
namespace {

using Kind = ScalarInput::Kind;
constexpr double inf = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();

/// c1 = 1 - beta1^t, c2 = 1 - beta2^t, lr.
ScalarProgram biasCorrection() {
  ScalarProgram program;
  uint32_t lr = program.input(Kind::Hyper, 0), beta1 = program.input(Kind::Hyper, 1);
  uint32_t beta2 = program.input(Kind::Hyper, 2), step = program.input(Kind::Step);
  uint32_t one = program.constant(1);
  uint32_t p1 = program.operation(ScalarCode::pow_int, beta1, step);
  uint32_t c1 = program.operation(ScalarCode::sub, one, p1);
  uint32_t p2 = program.operation(ScalarCode::pow_int, beta2, step);
  uint32_t c2 = program.operation(ScalarCode::sub, one, p2);
  program.slot(c1, "c1");
  program.slot(c2, "c2");
  program.slot(lr, "lr");
  return program;
}

double one(const char *name, double a, double b = 0, double c = 0) {
  ScalarProgram program;
  for (uint32_t i = 0; i < 3; ++i)
    program.input(Kind::Hyper, i);
  program.slot(program.operation(*findScalarCode(name), 0, 1, 2), "y");
  const double inputs[] = {a, b, c};
  double result;
  run(program, inputs, &result);
  return result;
}

TEST(ScalarProgram, biasCorrectionBySquaring) {
  ScalarProgram program = biasCorrection();
  ASSERT_TRUE(check(program));
  const double inputs[] = {1e-3, 0.9, 0.999, 3};
  double results[3];
  run(program, inputs, results);
  EXPECT_EQ(results[0], 1 - 0.9 * (0.9 * 0.9));
  EXPECT_EQ(results[1], 1 - 0.999 * (0.999 * 0.999));
  EXPECT_EQ(results[2], 1e-3);
}

TEST(ScalarProgram, printsOneLinePerOperation) {
  EXPECT_EQ(print(biasCorrection(), {"lr", "beta1", "beta2"}),
            "t5 = pow_int(beta1, step)\nc1 = sub(1, t5)\n"
            "t7 = pow_int(beta2, step)\nc2 = sub(1, t7)\n");
}

TEST(ScalarProgram, equalInputsAndConstantsShareANumber) {
  ScalarProgram program;
  EXPECT_EQ(program.input(Kind::Hyper, 4), program.input(Kind::Hyper, 4));
  EXPECT_EQ(program.constant(2), program.constant(2));
  EXPECT_NE(program.constant(0.0), program.constant(-0.0));
  EXPECT_EQ(program.valueCount(), 4u);
}

TEST(ScalarProgram, exactOperations) {
  EXPECT_EQ(one("add", 1, 2), 3);
  EXPECT_EQ(one("sub", 1, 2), -1);
  EXPECT_EQ(one("mul", 3, 2), 6);
  EXPECT_EQ(one("div", 1, 4), 0.25);
  EXPECT_EQ(one("neg", 1), -1);
  EXPECT_EQ(one("abs", -1.5), 1.5);
  EXPECT_EQ(one("sign", -7), -1);
  EXPECT_EQ(one("clamp", 5, 0, 2), 2);
  EXPECT_EQ(one("floor", -1.5), -2);
  EXPECT_EQ(one("ceil", -1.5), -1);
  EXPECT_EQ(one("round", 2.5), 2);
  EXPECT_EQ(one("trunc", -1.5), -1);
  EXPECT_EQ(one("fma", 0x1p27 + 1, 0x1p27 - 1, -0x1p54), -1);
  EXPECT_EQ(one("sqrt", 2), std::sqrt(2.0));
  EXPECT_EQ(one("rsqrt", 4), 0.5);
  EXPECT_EQ(one("select", 1, 2, 3), 2);
  EXPECT_EQ(one("select", 0, 2, 3), 3);
}

TEST(ScalarProgram, maximumAndMinimumPropagateNanAndOrderZeros) {
  EXPECT_TRUE(std::isnan(one("max", nan, 1)));
  EXPECT_TRUE(std::isnan(one("min", 1, nan)));
  EXPECT_FALSE(std::signbit(one("max", -0.0, 0.0)));
  EXPECT_TRUE(std::signbit(one("min", 0.0, -0.0)));
}

TEST(ScalarProgram, powersOfWholeExponents) {
  EXPECT_EQ(one("pow_int", 2, 10), 1024);
  EXPECT_EQ(one("pow_int", 2, -2), 0.25);
  EXPECT_EQ(one("pow_int", 0, 0), 1);
  EXPECT_EQ(one("pow_int", 0.5, 1e300), 0);
}

TEST(ScalarProgram, comparisonsAndLogic) {
  EXPECT_EQ(one("lt", 1, 2), 1);
  EXPECT_EQ(one("ge", 1, 2), 0);
  EXPECT_EQ(one("eq", nan, nan), 0);
  EXPECT_EQ(one("ne", nan, nan), 1);
  EXPECT_EQ(one("and_", 1, 0), 0);
  EXPECT_EQ(one("or_", 1, 0), 1);
  EXPECT_EQ(one("xor_", 1, 1), 0);
  EXPECT_EQ(one("not_", 0), 1);
  EXPECT_EQ(one("isfinite", inf), 0);
  EXPECT_EQ(one("isfinite", 1), 1);
  EXPECT_EQ(one("isnan", nan), 1);
}

TEST(ScalarProgram, functionsAgreeWithTheCLibraryToTwoUlp) {
  struct {
    const char *name;
    double (*reference)(double);
  } const rows[] = {{"exp", std::exp},   {"exp2", std::exp2}, {"expm1", std::expm1},
                    {"log", std::log},   {"log2", std::log2}, {"log1p", std::log1p},
                    {"tanh", std::tanh}, {"erf", std::erf},   {"sin", std::sin},
                    {"cos", std::cos}};
  for (const auto &row : rows)
    for (double x : {0.1, 0.5, 1.0, 1.7, 3.0}) {
      double wanted = row.reference(x);
      EXPECT_NEAR(one(row.name, x), wanted, 2 * std::abs(wanted) * 0x1p-52) << row.name << " " << x;
    }
  EXPECT_NEAR(one("sigmoid", 1), 1 / (1 + std::exp(-1.0)), 0x1p-51);
}

TEST(ScalarProgram, roundingToStorageTypes) {
  EXPECT_EQ(one("round_f32", 0.1), double(0.1f));
  EXPECT_EQ(one("round_bf16", 1.00390625), 1); // a tie
  EXPECT_EQ(one("round_f16", 2049), 2048);
  EXPECT_EQ(one("round_e4m3fn_sat", 1000), 448);
  EXPECT_TRUE(std::isnan(one("round_e4m3fn", 1000)));
  EXPECT_EQ(one("round_e5m2", 58000), 57344);
}

TEST(ScalarProgram, everyRowHasANameThatIsFoundAgain) {
  for (unsigned i = 0; i <= unsigned(ScalarCode::round_e5m2_sat); ++i) {
    ScalarCode code = ScalarCode(i);
    EXPECT_EQ(findScalarCode(scalarName(code)), code);
    EXPECT_GE(scalarArity(code), 1u);
    EXPECT_LE(scalarArity(code), 3u);
  }
}

TEST(ScalarProgram, checkRefusesLaterValues) {
  ScalarProgram program = biasCorrection();
  program.operations[0].a = 5; // its own result
  EXPECT_FALSE(check(program));
  program = biasCorrection();
  program.operations[0].c = 5; // which the operation does not take, but the kernel reads
  EXPECT_FALSE(check(program));
  program = biasCorrection();
  program.slots[0] = program.valueCount();
  EXPECT_FALSE(check(program));
  program = biasCorrection();
  program.labels.pop_back();
  EXPECT_FALSE(check(program));
}

} // namespace
} // namespace fw::jit
