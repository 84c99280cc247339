// Checked op -> semantic level: one golden per shipped op and set of options in semantic/, and what
// single constructs become. Run with FW_UPDATE=1 to write the goldens anew, then read the
// difference.
#include "tests/language/lowering.h"

#include "ops/Profiles.h"
#include "ops/ShippedOps.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace fw::language;

namespace {

std::string nameOf(const fw::Profile &profile) {
  std::string name = profile.op;
  for (const auto &[option, value] : profile.options)
    name += "_" + option + "_" + value;
  return name;
}

/// The profiles with different options: dtypes and features come after this level.
std::vector<fw::Profile> goldens() {
  std::map<std::string, fw::Profile> byName;
  std::vector<fw::Profile> profiles = fw::shippedProfiles();
  for (fw::Profile &profile : fw::evaluatedProfiles())
    profiles.push_back(std::move(profile));
  for (const fw::Profile &profile : profiles)
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
