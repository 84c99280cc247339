// The pieces of the printer: table, parentheses, literals, identifiers, comments.
#include "tests/emit/Modules.h"

#include "compiler/dialect/evaluator/Evaluator.h"
#include "compiler/emit/Spelling.h"
#include "compiler/emit/Words.h"
#include "templates/Templates.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace fw::test {
namespace {

using namespace fw::emit;

std::vector<std::string> semanticOnly() {
  return {"fuse.op",     "fuse.read",    "fuse.write",    "fuse.uniform",
          "fuse.stored", "fuse.largest", "fuse.round_to", "fuse.reduce"};
}

TEST(Spelling, EveryFuseOperationOfThePhaseLevelHasARow) {
  auto context = passes::createContext();
  std::vector<std::string> without = semanticOnly();
  for (mlir::RegisteredOperationName name : context->getRegisteredOperations()) {
    std::string op = name.getStringRef().str();
    if (name.getDialectNamespace() != "fuse" || llvm::is_contained(without, op))
      continue;
    EXPECT_NE(findSpelling(op), nullptr) << op << " needs a row in compiler/emit/spelling.def";
  }
}

/// Rows of comparisons have their predicate behind the name.
bool isSpelled(std::string_view op) {
  return std::ranges::any_of(allSpellings(), [&](const Spelling &row) {
    return row.op == op || row.op.starts_with(std::string(op) + " ");
  });
}

TEST(Spelling, EveryOperationThatTheEvaluatorKnowsHasARow) {
  for (std::string_view op : evaluator::knownOperations()) {
    if (llvm::is_contained(semanticOnly(), op))
      continue;
    EXPECT_TRUE(isSpelled(op)) << op << " needs a row in compiler/emit/spelling.def";
  }
}

constexpr std::string_view cpuFunctions[] = {
#define FW_CPU_FUNCTION(op, function) op,
#include "compiler/cpu/functions.def"
#undef FW_CPU_FUNCTION
};

TEST(Spelling, EveryFunctionThatTheEvaluatorKnowsHasARowForTheCpu) {
  // One instruction each: isBasic() in compiler/cpu/ElementFunctions.cpp.
  const std::string_view basic[] = {"math.absf",  "math.floor", "math.ceil", "math.roundeven",
                                    "math.trunc", "math.sqrt",  "math.fma"};
  const std::string_view scalarsAlone = "math.fpowi";
  const std::vector<std::string_view> known = evaluator::knownOperations();
  for (std::string_view op : known) {
    if (!op.starts_with("math.") || op == scalarsAlone || llvm::is_contained(basic, op))
      continue;
    EXPECT_TRUE(llvm::is_contained(cpuFunctions, op))
        << op << " needs a row in compiler/cpu/functions.def";
  }
  for (std::string_view op : cpuFunctions)
    EXPECT_TRUE(llvm::is_contained(known, op))
        << op << " needs a row in compiler/dialect/evaluator/Operations.h";
}

TEST(Spelling, EveryRowNamesARegisteredOperationAndIsUnique) {
  auto context = passes::createContext();
  for (const Spelling &row : allSpellings()) {
    std::string op(row.op.substr(0, row.op.find(' ')));
    EXPECT_TRUE(mlir::RegisteredOperationName::lookup(op, context.get())) << op;
    EXPECT_EQ(findSpelling(row.op), &row) << row.op << " has two rows";
    EXPECT_EQ(row.level == Level::Structure, row.text.empty() && row.plain.empty()) << row.op;
  }
}

TEST(Spelling, EveryFunctionStandsInTheHeaderThatTheVocabularyNames) {
  for (const Spelling &row : allSpellings()) {
    if (row.text.find("fw::") != 0)
      continue;
    std::string name(row.text.substr(0, row.text.find('(')));
    const std::string_view *header = templates::findTemplate(templates::headerOf(name));
    ASSERT_NE(header, nullptr) << name;
    std::string declaration = name.substr(name.rfind(':') + 1) + "(";
    EXPECT_NE(header->find(" " + declaration), header->npos) << name;
  }
}

Text leaf(const char *text, Level level = Level::Name) { return {text, level}; }

std::string filled(std::string_view op, std::vector<Text> operands) {
  const Spelling *row = findSpelling(op);
  return fill(row->text, row->level, operands).text;
}

TEST(Fill, ParenthesesKeepTheOrderOfOperations) {
  Text sum = leaf("a + b", Level::Sum), product = leaf("a * b", Level::Product);
  Text both = leaf("a && b", Level::And);
  EXPECT_EQ(filled("arith.ori", {both, leaf("x")}), "(a && b) || x");
  Text order = leaf("a < b", Level::Order);
  EXPECT_EQ(filled("arith.cmpi eq", {order, leaf("x")}), "(a < b) == x");
  EXPECT_EQ(filled("arith.cmpf olt", {sum, leaf("-a", Level::Prefix)}), "a + b < -a");
  Text minus = leaf("-a", Level::Prefix), choice = leaf("c ? a : b", Level::Choice);
  EXPECT_EQ(filled("arith.addf", {sum, leaf("x")}), "a + b + x");
  EXPECT_EQ(filled("arith.addf", {leaf("x"), sum}), "x + (a + b)");
  EXPECT_EQ(filled("arith.subf", {leaf("x"), sum}), "x - (a + b)");
  EXPECT_EQ(filled("arith.mulf", {sum, product}), "(a + b) * (a * b)");
  EXPECT_EQ(filled("arith.divf", {product, leaf("x")}), "a * b / x");
  EXPECT_EQ(filled("arith.negf", {minus}), "-(-a)");
  EXPECT_EQ(filled("arith.negf", {leaf("-2.0f", Level::Prefix)}), "-(-2.0f)");
  EXPECT_EQ(filled("arith.subf", {minus, minus}), "-a - -a");
  EXPECT_EQ(filled("math.fma", {sum, choice, minus}), "fw::math::fma(a + b, c ? a : b, -a)");
  EXPECT_EQ(filled("arith.select", {choice, choice, choice}),
            "(c ? a : b) ? (c ? a : b) : (c ? a : b)");
}

std::string f32(float value) { return literal(llvm::APFloat(value)).text; }
std::string f64(double value) { return literal(llvm::APFloat(value)).text; }

TEST(Literal, IsExact) {
  EXPECT_EQ(f32(1.0f), "1.0f");
  EXPECT_EQ(f32(-0.0f), "-0.0f");
  EXPECT_EQ(f32(0.5f), "0.5f");
  EXPECT_EQ(f32(0.1f), "0x1.99999ap-4f");
  EXPECT_EQ(f32(1e30f), "0x1.93e594p99f");
  EXPECT_EQ(f32(0x1p-149f), "0x0.000002p-126f");
  EXPECT_EQ(f64(0.1), "0x1.999999999999ap-4");
  EXPECT_EQ(f64(3.0), "3.0");
  EXPECT_EQ(f32(INFINITY), "fw::bitCast<float>(0x7F800000u)");
  EXPECT_EQ(f64(-INFINITY), "fw::bitCast<double>(0xFFF0000000000000ull)");
  EXPECT_EQ(f32(NAN), "fw::bitCast<float>(0x7FC00000u)");
}

TEST(Identifier, AddedOperandsNeverMeetOthers) {
  EXPECT_EQ(identifier("v_", "p.copy"), "v_pCopy");
  EXPECT_EQ(identifier("v_", "p_copy"), "v_p_copy");
  EXPECT_EQ(identifier("in_", "float"), "in_float");
  EXPECT_EQ(identifier("in_", "a b\n"), "in_a_b_");
}

TEST(Names, AreHandedOutOnce) {
  Names names;
  EXPECT_EQ(names.unique("v_p"), "v_p");
  EXPECT_EQ(names.unique("v_p"), "v_p_2");
  EXPECT_EQ(names.next("t"), "t0");
  EXPECT_EQ(names.next("t"), "t1");
}

TEST(CommentText, CannotLeaveItsLine) {
  EXPECT_EQ(commentText("m = a \\\nint x;"), "m = a ? int x;");
  EXPECT_EQ(commentText("a\r\xe2\x80\xae"), "a????");
}

TEST(CudaPrinter, TextIsSelfContainedAndHasOnlyTheFeaturesOfItsArch) {
  std::string text = readFile("inputs/sgd.mlir");
  auto newer = print(text, {.dtypes = "g=bf16", .arch = "sm_90"});
  auto older = print(text, {.dtypes = "g=bf16", .arch = "sm_75"});
  EXPECT_EQ(newer.find("#include"), newer.npos);
  EXPECT_NE(newer.find("#define FW_HAS_L2_POLICY 1\n"), newer.npos);
  EXPECT_EQ(older.find("#define FW_HAS_L2_POLICY 1\n"), older.npos);
}

TEST(CudaPrinter, OnlyNeededHeadersAreInTheText) {
  std::string text = readFile("inputs/cast.mlir");
  EXPECT_EQ(print(text, {.arch = "sm_90"}).find("struct bf16"), std::string::npos);
  EXPECT_NE(print(text, {.dtypes = "y=bf16", .arch = "sm_90"}).find("struct bf16"),
            std::string::npos);
}

TEST(CudaPrinter, ConstantsAreThoseOfTheSchedule) {
  std::string text = print(readFile("inputs/sgd.mlir"),
                           {.dtypes = "g=bf16", .arch = "sm_90", .schedule = "threads=256"});
  for (const char *constant : {"V = 4,", "INFLIGHT = 2,", "THREADS = 256,", "CHUNK = 4096,",
                               "OPERANDS = 3,", "SLOTS = 2;"})
    EXPECT_NE(text.find(constant), text.npos) << constant;
  EXPECT_NE(text.find("\nfw_sgd_p_f32_g_bf16_m_f32_v4(const __grid_constant__ Op::Launch launch)"),
            text.npos);
}

TEST(CudaPrinter, RefusesAKernelWithoutASchedule) {
  Compiled compiled = compile(readFile("inputs/sgd.mlir"), passes::Stage::Phases, {});
  auto printed = printCuda(compiled.program(), **target::findArch("sm_90"));
  ASSERT_FALSE(printed);
  EXPECT_EQ(printed.error().text,
            "expected a kernel with a known schedule, got 'sgd_p_f32_g_f32_m_f32'");
}

TEST(CudaPrinter, TheSameModuleGivesTheSameText) {
  std::string text = readFile("inputs/adamw.mlir");
  EXPECT_EQ(print(text, {.arch = "sm_90"}), print(text, {.arch = "sm_90"}));
}

} // namespace
} // namespace fw::test
