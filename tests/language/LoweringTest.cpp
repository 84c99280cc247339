// Checked op -> semantic level: one golden per shipped op and set of options in semantic/, and what
// single constructs become. Run with FW_UPDATE=1 to write the goldens anew, then read the
// difference.
#include "tests/language/support.h"

#include "compiler/dialect/Fuse.h"
#include "compiler/language/Lowering.h"
#include "ops/Profiles.h"
#include "ops/ShippedOps.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace fw::language;

namespace {

std::string moduleText(const OpHandle &op, const OptionValues &options,
                       const std::set<std::string> &absent = {}) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<fw::fuse::FuseDialect>();
  fw::Result<ResolvedOp> resolved = resolve(*op, options);
  if (!resolved)
    return fw::render(resolved.error());
  auto module = lowerOp(context, *resolved, absent);
  if (!module)
    return fw::render(module.error()) + "\n" + module.error().log;
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream);
  return text + "\n";
}

/// The operations of the body of opWith(body), without labels of their own.
std::string bodyOf(std::string_view body, const std::set<std::string> &absent = {},
                   std::string_view declarations = "in x;  out y;  hyper a = 1") {
  std::string text = moduleText(parsed("op test over elements {\n" + std::string(declarations) +
                                       "\n" + std::string(body) + "\n}"),
                                {}, absent);
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("    "))
      out += line.substr(4) + "\n";
  return out;
}

std::string nameOf(const fw::Profile &profile) {
  std::string name = profile.op;
  for (const auto &[option, value] : profile.options)
    name += "_" + option + "_" + value;
  return name;
}

/// The profiles with different options: dtypes and features come after this level.
std::vector<fw::Profile> goldens() {
  std::map<std::string, fw::Profile> byName;
  for (const fw::Profile &profile : fw::shippedProfiles())
    byName.emplace(nameOf(profile), profile);
  std::vector<fw::Profile> out;
  for (const auto &[name, profile] : byName)
    out.push_back(profile);
  return out;
}

class Golden : public testing::TestWithParam<fw::Profile> {};

} // namespace

TEST_P(Golden, IsWhatTheShippedOpBecomes) {
  std::filesystem::path path = std::filesystem::path(FW_SEMANTIC) / (nameOf(GetParam()) + ".mlir");
  std::string got = moduleText(*fw::findShippedOp(GetParam().op), GetParam().options);
  if (std::getenv("FW_UPDATE"))
    std::ofstream(path, std::ios::binary) << got;
  std::ostringstream expected;
  expected << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(got, expected.str());
}

INSTANTIATE_TEST_SUITE_P(Lowering, Golden, testing::ValuesIn(goldens()),
                         [](const auto &info) { return nameOf(info.param); });

TEST(Lowering, AValueOfTheScalarProgramIsRoundedOnce) {
  EXPECT_EQ(bodyOf("y = (1 - a)*x + (1 - a)*2*x"), R"(%cst = arith.constant 1.000000e+00 : f64
%0 = fuse.scalar "a" : f64
%1 = arith.subf %cst, %0 : f64
%2 = fuse.read "x" : f32
%3 = fuse.uniform %1 : f64 to f32
%4 = arith.mulf %3, %2 : f32
%5 = arith.subf %cst, %0 : f64
%cst_0 = arith.constant 2.000000e+00 : f64
%6 = arith.mulf %5, %cst_0 : f64
%7 = fuse.uniform %6 : f64 to f32
%8 = arith.mulf %7, %2 : f32
%9 = arith.addf %4, %8 {fuse.name = "y"} : f32
fuse.write "y", %9 : f32
)");
}

TEST(Lowering, ReadsAndScalarsStandOnce) {
  EXPECT_EQ(bodyOf("z = a*x;  y = a*x + z"), R"(%0 = fuse.scalar "a" : f64
%1 = fuse.read "x" : f32
%2 = fuse.uniform %0 : f64 to f32
%3 = arith.mulf %2, %1 {fuse.name = "z"} : f32
%4 = arith.mulf %2, %1 : f32
%5 = arith.addf %4, %3 {fuse.name = "y"} : f32
fuse.write "y", %5 : f32
)");
}

TEST(Lowering, LaterReadsSeeTheNewValueBeforeItIsRounded) {
  EXPECT_EQ(bodyOf("m = a*m + x;  y = m - old(m) + stored(m)", {},
                   "in x;  out y;  state m;  hyper a = 1"),
            R"(%0 = fuse.scalar "a" : f64
%1 = fuse.read "m" : f32
%2 = fuse.uniform %0 : f64 to f32
%3 = arith.mulf %2, %1 : f32
%4 = fuse.read "x" : f32
%5 = arith.addf %3, %4 {fuse.name = "m"} : f32
fuse.write "m", %5 : f32
%6 = arith.subf %5, %1 : f32
%7 = fuse.stored "m", %5 : f32
%8 = arith.addf %6, %7 {fuse.name = "y"} : f32
fuse.write "y", %8 : f32
)");
}

TEST(Lowering, LiteralPowersOfElementsAreSquarings) {
  EXPECT_EQ(bodyOf("y = a*x^6"), R"(%0 = fuse.scalar "a" : f64
%1 = fuse.read "x" : f32
%2 = arith.mulf %1, %1 : f32
%3 = arith.mulf %2, %2 : f32
%4 = arith.mulf %2, %3 : f32
%5 = fuse.uniform %0 : f64 to f32
%6 = arith.mulf %5, %4 {fuse.name = "y"} : f32
fuse.write "y", %6 : f32
)");
  EXPECT_EQ(bodyOf("y = a*x^-1"), R"(%0 = fuse.scalar "a" : f64
%1 = fuse.read "x" : f32
%cst = arith.constant 1.000000e+00 : f64
%2 = fuse.uniform %cst : f64 to f32
%3 = arith.divf %2, %1 : f32
%4 = fuse.uniform %0 : f64 to f32
%5 = arith.mulf %4, %3 {fuse.name = "y"} : f32
fuse.write "y", %5 : f32
)");
  EXPECT_EQ(bodyOf("y = a*x + x^0"), R"(%0 = fuse.scalar "a" : f64
%1 = fuse.read "x" : f32
%2 = fuse.uniform %0 : f64 to f32
%3 = arith.mulf %2, %1 : f32
%cst = arith.constant 1.000000e+00 : f64
%4 = fuse.uniform %cst : f64 to f32
%5 = arith.addf %3, %4 {fuse.name = "y"} : f32
fuse.write "y", %5 : f32
)");
}

TEST(Lowering, PowersOfUniformsBelongToTheScalarProgram) {
  EXPECT_EQ(bodyOf("y = a^t*x + a^2", {}, "in x;  out y;  hyper a = 1;  step t"),
            R"(%0 = fuse.scalar "a" : f64
%1 = fuse.scalar "t" : i64
%2 = math.fpowi %0, %1 : f64, i64
%3 = fuse.read "x" : f32
%4 = fuse.uniform %2 : f64 to f32
%5 = arith.mulf %4, %3 : f32
%c2_i64 = arith.constant 2 : i64
%6 = math.fpowi %0, %c2_i64 : f64, i64
%7 = fuse.uniform %6 : f64 to f32
%8 = arith.addf %5, %7 {fuse.name = "y"} : f32
fuse.write "y", %8 : f32
)");
}

TEST(Lowering, TheStepIsComparedAsAnIntAndBecomesARealBesideOne) {
  EXPECT_EQ(bodyOf("y = if t <= 5 then a*t else x", {}, "in x;  out y;  hyper a = 1;  step t"),
            R"(%0 = fuse.scalar "t" : i64
%c5_i64 = arith.constant 5 : i64
%1 = arith.cmpi sle, %0, %c5_i64 : i64
%2 = fuse.scalar "a" : f64
%3 = arith.sitofp %0 : i64 to f64
%4 = arith.mulf %2, %3 : f64
%5 = fuse.read "x" : f32
%6 = fuse.uniform %1 : i1 to i1
%7 = fuse.uniform %4 : f64 to f32
%8 = arith.select %6, %7, %5 {fuse.name = "y"} : f32
fuse.write "y", %8 : f32
)");
}

TEST(Lowering, IntsOfTheStepStayInts) {
  EXPECT_EQ(bodyOf("k = 2*t - 1;  y = if t + 1 > 5 then a^k*x else max(t, -3)", {},
                   "in x;  out y;  hyper a = 1;  step t"),
            R"(%c2_i64 = arith.constant 2 : i64
%0 = fuse.scalar "t" : i64
%1 = arith.muli %c2_i64, %0 : i64
%c1_i64 = arith.constant 1 : i64
%2 = arith.subi %1, %c1_i64 {fuse.name = "k"} : i64
%3 = arith.addi %0, %c1_i64 : i64
%c5_i64 = arith.constant 5 : i64
%4 = arith.cmpi sgt, %3, %c5_i64 : i64
%5 = fuse.scalar "a" : f64
%6 = math.fpowi %5, %2 : f64, i64
%7 = fuse.read "x" : f32
%8 = fuse.uniform %6 : f64 to f32
%9 = arith.mulf %8, %7 : f32
%c-3_i64 = arith.constant -3 : i64
%10 = arith.maxsi %0, %c-3_i64 : i64
%11 = fuse.uniform %4 : i1 to i1
%12 = arith.sitofp %10 : i64 to f64
%13 = fuse.uniform %12 : f64 to f32
%14 = arith.select %11, %9, %13 {fuse.name = "y"} : f32
fuse.write "y", %14 : f32
)");
  // A literal that has a name is an int where one is needed.
  EXPECT_EQ(bodyOf("k = -2;  y = a^k*x"), R"(%cst = arith.constant -2.000000e+00 : f64
%0 = fuse.scalar "a" : f64
%c-2_i64 = arith.constant -2 : i64
%1 = math.fpowi %0, %c-2_i64 : f64, i64
%2 = fuse.read "x" : f32
%3 = fuse.uniform %1 : f64 to f32
%4 = arith.mulf %3, %2 {fuse.name = "y"} : f32
fuse.write "y", %4 : f32
)");
}

TEST(Lowering, ComparisonsWithNanAreFalseExceptUnequal) {
  EXPECT_EQ(bodyOf("y = if x < a then 1 else if x != a then 2 else x"), R"(%0 = fuse.read "x" : f32
%1 = fuse.scalar "a" : f64
%2 = fuse.uniform %1 : f64 to f32
%3 = arith.cmpf olt, %0, %2 : f32
%cst = arith.constant 1.000000e+00 : f64
%4 = arith.cmpf une, %0, %2 : f32
%cst_0 = arith.constant 2.000000e+00 : f64
%5 = fuse.uniform %cst_0 : f64 to f32
%6 = arith.select %4, %5, %0 : f32
%7 = fuse.uniform %cst : f64 to f32
%8 = arith.select %3, %7, %6 {fuse.name = "y"} : f32
fuse.write "y", %8 : f32
)");
}

TEST(Lowering, ConditionsAreBools) {
  EXPECT_EQ(bodyOf("y = if not (x > a or isnan(x)) and (x > 0) == (a > 0) then x else 0"),
            R"(%0 = fuse.read "x" : f32
%1 = fuse.scalar "a" : f64
%2 = fuse.uniform %1 : f64 to f32
%3 = arith.cmpf ogt, %0, %2 : f32
%4 = math.isnan %0 : f32
%5 = arith.ori %3, %4 : i1
%true = arith.constant true
%6 = arith.xori %5, %true : i1
%cst = arith.constant 0.000000e+00 : f64
%7 = fuse.uniform %cst : f64 to f32
%8 = arith.cmpf ogt, %0, %7 : f32
%9 = arith.cmpf ogt, %1, %cst : f64
%10 = fuse.uniform %9 : i1 to i1
%11 = arith.xori %8, %10 : i1
%12 = arith.xori %11, %true : i1
%13 = arith.andi %6, %12 : i1
%14 = arith.select %13, %0, %7 {fuse.name = "y"} : f32
fuse.write "y", %14 : f32
)");
}

TEST(Lowering, ABoolHyperIsATruthValueOfTheLaunch) {
  EXPECT_EQ(bodyOf("k = if on then a else 2*a;  y = if on and x > 0 then k*x else x", {},
                   "in x;  out y;  hyper a = 1, on : bool = true"),
            R"(%0 = fuse.scalar "on" : i1
%1 = fuse.scalar "a" : f64
%cst = arith.constant 2.000000e+00 : f64
%2 = arith.mulf %cst, %1 : f64
%3 = arith.select %0, %1, %2 {fuse.name = "k"} : f64
%4 = fuse.read "x" : f32
%cst_0 = arith.constant 0.000000e+00 : f64
%5 = fuse.uniform %cst_0 : f64 to f32
%6 = arith.cmpf ogt, %4, %5 : f32
%7 = fuse.uniform %0 : i1 to i1
%8 = arith.andi %7, %6 : i1
%9 = fuse.uniform %3 : f64 to f32
%10 = arith.mulf %9, %4 : f32
%11 = arith.select %8, %10, %4 {fuse.name = "y"} : f32
fuse.write "y", %11 : f32
)");
  std::string text = moduleText(
      parsed("op test over elements { in x;  out y;  hyper on : bool = true, off : bool\n"
             "y = if on == off then x else 2*x }"),
      {});
  EXPECT_NE(text.find(R"(#fuse.hyper<name = "on", kind = bool, value = 1.000000e+00 : f64>)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"(#fuse.hyper<name = "off", kind = bool>)"), std::string::npos) << text;
}

TEST(Lowering, StorageIsAskedForByTheNameOfTheOperand) {
  EXPECT_EQ(bodyOf("y = clamp(a*x, -largest(y), largest(y))"), R"(%0 = fuse.scalar "a" : f64
%1 = fuse.read "x" : f32
%2 = fuse.uniform %0 : f64 to f32
%3 = arith.mulf %2, %1 : f32
%4 = fuse.largest "y" : f64
%5 = arith.negf %4 : f64
%6 = fuse.largest "y" : f64
%7 = fuse.uniform %5 : f64 to f32
%8 = fuse.uniform %6 : f64 to f32
%9 = arith.maximumf %3, %7 : f32
%10 = arith.minimumf %9, %8 {fuse.name = "y"} : f32
fuse.write "y", %10 : f32
)");
  EXPECT_EQ(bodyOf("y = a*round_to(e4m3fn.sat, x) + round_to(f32, x)"),
            R"(%0 = fuse.scalar "a" : f64
%1 = fuse.read "x" : f32
%2 = fuse.round_to "e4m3fn.sat", %1 : f32
%3 = fuse.uniform %0 : f64 to f32
%4 = arith.mulf %3, %2 : f32
%5 = fuse.round_to "f32", %1 : f32
%6 = arith.addf %4, %5 {fuse.name = "y"} : f32
fuse.write "y", %6 : f32
)");
  EXPECT_EQ(bodyOf("b = round_to(bf16, a);  y = b*x"), R"(%0 = fuse.scalar "a" : f64
%1 = fuse.round_to "bf16", %0 {fuse.name = "b"} : f64
%2 = fuse.read "x" : f32
%3 = fuse.uniform %1 : f64 to f32
%4 = arith.mulf %3, %2 {fuse.name = "y"} : f32
fuse.write "y", %4 : f32
)");
}

TEST(Lowering, AnAbsentOperandIsItsNeutralValue) {
  std::string_view declarations = "in x;  in w = 2 optional;  out y;  hyper a = 1";
  EXPECT_EQ(bodyOf("y = a*x*w", {"w"}, declarations), R"(%0 = fuse.scalar "a" : f64
%1 = fuse.read "x" : f32
%2 = fuse.uniform %0 : f64 to f32
%3 = arith.mulf %2, %1 : f32
%cst = arith.constant 2.000000e+00 : f64
%4 = fuse.uniform %cst : f64 to f32
%5 = arith.mulf %3, %4 {fuse.name = "y"} : f32
fuse.write "y", %5 : f32
)");
  EXPECT_EQ(bodyOf("y = a*x*w", {}, declarations), R"(%0 = fuse.scalar "a" : f64
%1 = fuse.read "x" : f32
%2 = fuse.uniform %0 : f64 to f32
%3 = arith.mulf %2, %1 : f32
%4 = fuse.read "w" : f32
%5 = arith.mulf %3, %4 {fuse.name = "y"} : f32
fuse.write "y", %5 : f32
)");
}

TEST(Lowering, AUniformValueMayBeStored) {
  EXPECT_EQ(bodyOf("y = a + 0*x;  z = a", {}, "in x;  out y, z;  hyper a = 1"),
            R"(%0 = fuse.scalar "a" : f64
%cst = arith.constant 0.000000e+00 : f64
%1 = fuse.read "x" : f32
%2 = fuse.uniform %cst : f64 to f32
%3 = arith.mulf %2, %1 : f32
%4 = fuse.uniform %0 : f64 to f32
%5 = arith.addf %4, %3 {fuse.name = "y"} : f32
fuse.write "y", %5 : f32
fuse.write "z", %4 : f32
)");
}

TEST(Lowering, EveryFunctionHasAnOperation) {
  for (const char *call : {"x + a",
                           "x - a",
                           "x*a",
                           "x/a",
                           "-x*a",
                           "abs(x)*a",
                           "sign(x)*a",
                           "min(x, a)",
                           "max(x, a)",
                           "floor(x)*a",
                           "ceil(x)*a",
                           "round(x)*a",
                           "trunc(x)*a",
                           "sqrt(x)*a",
                           "rsqrt(x)*a",
                           "exp(x)*a",
                           "exp2(x)*a",
                           "expm1(x)*a",
                           "log(x)*a",
                           "log2(x)*a",
                           "log1p(x)*a",
                           "tanh(x)*a",
                           "erf(x)*a",
                           "sin(x)*a",
                           "cos(x)*a",
                           "sigmoid(x)*a",
                           "fma(x, a, x)",
                           "if isfinite(x) then a else x",
                           "if x >= a then a else x"})
    EXPECT_NE(bodyOf("y = " + std::string(call)).find("fuse.write \"y\""), std::string::npos)
        << call;
}

TEST(Lowering, ReductionsLeaveAValueOfTheScalarProgram) {
  EXPECT_EQ(bodyOf("norm = sqrt(sum[all](x^2));  y = min(1, a/norm)*x", {},
                   "in x;  out y, norm[all];  hyper a = 1"),
            R"(%0 = fuse.read "x" : f32
%1 = arith.mulf %0, %0 : f32
%2 = fuse.reduce  sum keep <all> %1 : f32 to f64
%3 = math.sqrt %2 {fuse.name = "norm"} : f64
fuse.write "norm", %3 : f64
%cst = arith.constant 1.000000e+00 : f64
%4 = fuse.scalar "a" : f64
%5 = arith.divf %4, %3 : f64
%6 = arith.minimumf %cst, %5 : f64
%7 = fuse.uniform %6 : f64 to f32
%8 = arith.mulf %7, %0 {fuse.name = "y"} : f32
fuse.write "y", %8 : f32
)");
}

TEST(Lowering, AveragesDivideByASize) {
  EXPECT_EQ(bodyOf("m = avg[tensor](x);  n = avg[all](x);  y = a*(x - m)*n", {},
                   "in x;  out y;  hyper a = 1"),
            R"(%0 = fuse.read "x" : f32
%1 = fuse.reduce  sum keep <tensor> %0 : f32 to f64
%2 = fuse.size <tensor>
%3 = arith.sitofp %2 : i64 to f64
%4 = arith.divf %1, %3 {fuse.name = "m"} : f64
%5 = fuse.reduce  sum keep <all> %0 : f32 to f64
%6 = fuse.size <all>
%7 = arith.sitofp %6 : i64 to f64
%8 = arith.divf %5, %7 {fuse.name = "n"} : f64
%9 = fuse.scalar "a" : f64
%10 = fuse.uniform %4 : f64 to f32
%11 = arith.subf %0, %10 : f32
%12 = fuse.uniform %9 : f64 to f32
%13 = arith.mulf %12, %11 : f32
%14 = fuse.uniform %8 : f64 to f32
%15 = arith.mulf %13, %14 {fuse.name = "y"} : f32
fuse.write "y", %15 : f32
)");
  EXPECT_EQ(bodyOf("n = avg[world](x)", {}, "in x;  out n[all]"), R"(%0 = fuse.read "x" : f32
%1 = fuse.reduce  sum keep <world> %0 : f32 to f64
%cst = arith.constant 1.000000e+00 : f32
%2 = math.isnan %0 : f32
%3 = arith.select %2, %cst, %cst : f32
%4 = fuse.reduce  sum keep <world> %3 : f32 to f64
%5 = arith.divf %1, %4 {fuse.name = "n"} : f64
fuse.write "n", %5 : f64
)");
}

TEST(Lowering, ReductionsOfBoolsReduceOnes) {
  EXPECT_EQ(bodyOf("b = if any[all](x > 0) and not all[tensor](x > 0) then 1 else 0", {},
                   "in x;  out b[tensor]"),
            R"(%0 = fuse.read "x" : f32
%cst = arith.constant 0.000000e+00 : f64
%1 = fuse.uniform %cst : f64 to f32
%2 = arith.cmpf ogt, %0, %1 : f32
%cst_0 = arith.constant 1.000000e+00 : f32
%cst_1 = arith.constant 0.000000e+00 : f32
%3 = arith.select %2, %cst_0, %cst_1 : f32
%4 = fuse.reduce  max keep <all> %3 : f32 to f64
%5 = arith.cmpf ogt, %4, %cst : f64
%6 = arith.cmpf ogt, %0, %1 : f32
%7 = arith.select %6, %cst_0, %cst_1 : f32
%8 = fuse.reduce  min keep <tensor> %7 : f32 to f64
%9 = arith.cmpf ogt, %8, %cst : f64
%true = arith.constant true
%10 = arith.xori %9, %true : i1
%11 = arith.andi %5, %10 : i1
%cst_2 = arith.constant 1.000000e+00 : f64
%12 = arith.select %11, %cst_2, %cst {fuse.name = "b"} : f64
fuse.write "b", %12 : f64
)");
  EXPECT_EQ(bodyOf("n = count[world](isnan(x)) + absmax[all](x)", {}, "in x;  out n[all]"),
            R"(%0 = fuse.read "x" : f32
%1 = math.isnan %0 : f32
%cst = arith.constant 1.000000e+00 : f32
%cst_0 = arith.constant 0.000000e+00 : f32
%2 = arith.select %1, %cst, %cst_0 : f32
%3 = fuse.reduce  sum keep <world> %2 : f32 to f64
%4 = math.absf %0 : f32
%5 = fuse.reduce  max keep <all> %4 : f32 to f64
%6 = arith.addf %3, %5 {fuse.name = "n"} : f64
fuse.write "n", %6 : f64
)");
}

TEST(Lowering, ReductionsWaitForEachOther) {
  EXPECT_EQ(bodyOf("m = max[all](x - min[tensor](x))", {}, "in x;  out m[all]"),
            R"(%0 = fuse.read "x" : f32
%1 = fuse.reduce  min keep <tensor> %0 : f32 to f64
%2 = fuse.uniform %1 : f64 to f32
%3 = arith.subf %0, %2 : f32
%4 = fuse.reduce  max keep <all> %3 {fuse.name = "m"} : f32 to f64
fuse.write "m", %4 : f64
)");
}

TEST(Lowering, UniformOperandsAreNumbersOfTheScalarProgram) {
  EXPECT_EQ(bodyOf("k = k + 1;  s = stored(k)*old(s);  y = s*x + index(tensor)*size(all)", {},
                   "in x;  state k[tensor], s[tensor] = 1;  out y"),
            R"(%0 = fuse.read "k" : f64
%cst = arith.constant 1.000000e+00 : f64
%1 = arith.addf %0, %cst {fuse.name = "k"} : f64
fuse.write "k", %1 : f64
%2 = fuse.stored "k", %1 : f64
%3 = fuse.read "s" : f64
%4 = arith.mulf %2, %3 {fuse.name = "s"} : f64
fuse.write "s", %4 : f64
%5 = fuse.read "x" : f32
%6 = fuse.uniform %4 : f64 to f32
%7 = arith.mulf %6, %5 : f32
%8 = fuse.index
%9 = fuse.size <all>
%10 = arith.muli %8, %9 : i64
%11 = arith.sitofp %10 : i64 to f64
%12 = fuse.uniform %11 : f64 to f32
%13 = arith.addf %7, %12 {fuse.name = "y"} : f32
fuse.write "y", %13 : f32
)");
  EXPECT_EQ(bodyOf("y = s*x", {"s"}, "in x;  in s[all] = 2 optional;  out y"),
            R"(%cst = arith.constant 2.000000e+00 : f64
%0 = fuse.read "x" : f32
%1 = fuse.uniform %cst : f64 to f32
%2 = arith.mulf %1, %0 {fuse.name = "y"} : f32
fuse.write "y", %2 : f32
)");
}

TEST(Lowering, TablesSayForWhatOperandsHaveValues) {
  std::string text = moduleText(parsed("op test over elements { in x; state k[tensor] = 3; out "
                                       "n[all]\nk = k + 1;  n = sum[all](x) }"),
                                {});
  for (
      const char *operand :
      {R"(#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>)",
       R"(#fuse.operand<name = "k", role = state, dtype = "f32", scope = <tensor>, init = 3.000000e+00 : f64>)",
       R"(#fuse.operand<name = "n", role = out, dtype = "f32", scope = <all>>)"})
    EXPECT_NE(text.find(operand), std::string::npos) << text;
}

TEST(Lowering, AnOpOverScalarsIsAScalarProgram) {
  std::string text = moduleText(parsed("op update over [] { state s = 65536; in bad; hyper b = "
                                       "0.5\ns = if bad > 0 then b*s else s }"),
                                {});
  EXPECT_EQ(text, R"(module {
  fuse.op @update over <scalars> operands [#fuse.operand<name = "s", role = state, dtype = "f32", scope = <all>, init = 6.553600e+04 : f64>, #fuse.operand<name = "bad", role = in, dtype = "f32", scope = <all>>] scalars [#fuse.hyper<name = "b", value = 5.000000e-01 : f64>] {
    %0 = fuse.read "bad" : f64
    %cst = arith.constant 0.000000e+00 : f64
    %1 = arith.cmpf ogt, %0, %cst : f64
    %2 = fuse.scalar "b" : f64
    %3 = fuse.read "s" : f64
    %4 = arith.mulf %2, %3 : f64
    %5 = arith.select %1, %4, %3 {fuse.name = "s"} : f64
    fuse.write "s", %5 : f64
  }
}

)");
}

TEST(Lowering, PlacesAreThoseOfTheOpFile) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<fw::fuse::FuseDialect>();
  OpHandle op = parsed(opWith("y = a*x"));
  auto module = *lowerOp(context, *resolve(*op, {}));
  std::string places;
  module->walk([&](fw::fuse::WriteOp write) {
    auto place = mlir::cast<mlir::FileLineColLoc>(write.getLoc());
    places += place.getFilename().str() + ":" + std::to_string(place.getLine()) + ":" +
              std::to_string(place.getColumn());
  });
  EXPECT_EQ(places, "test.fuse:3:3");
}
