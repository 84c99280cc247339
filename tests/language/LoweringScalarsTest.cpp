// What belongs to the scalar program: powers of uniforms, ints, truth values.
#include "tests/language/lowering.h"

using namespace fw::language;

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
