// What reductions, and operands with one value per tensor or in all, become.
#include "tests/language/lowering.h"

using namespace fw::language;

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
