// The grammar: what is read, and as what.
#include "tests/language/card.h"
#include "tests/language/support.h"

#include "compiler/language/Text.h"

using namespace fw::language;

namespace {

std::string print(const Expr &expr);

std::string join(const std::vector<const Expr *> &list) {
  std::string out;
  for (const Expr *expr : list)
    out += (out.empty() ? "" : " ") + print(*expr);
  return out;
}

/// The expression with its structure in brackets: (+ a (* b c)).
std::string print(const Expr &expr) {
  if (auto *number = expr.as<Number>())
    return printNumber(number->value);
  if (auto *truth = expr.as<Truth>())
    return truth->value ? "true" : "false";
  if (auto *name = expr.as<Name>())
    return name->name;
  if (auto *word = expr.as<Word>())
    return ":" + word->word;
  if (auto *apply = expr.as<Apply>())
    return "(" + std::string(info(apply->function).spelling) + " " + join(apply->arguments) + ")";
  if (auto *select = expr.as<Select>())
    return "(if " + join({select->condition, select->ifTrue, select->ifFalse}) + ")";
  if (auto *reduce = expr.as<Reduce>())
    return "(" + std::string(spelling(reduce->kind)) + "! " + print(*reduce->value) + ")";
  if (auto *member = expr.as<Member>())
    return print(*member->call) + "." + member->name;
  if (auto *gather = expr.as<Gather>())
    return gather->operand + "[" + join(gather->indices) + "]";
  return "(call " + expr.as<OpCall>()->op + ")";
}

std::string structureOf(std::string_view text) {
  Syntax syntax(opWith("y = " + std::string(text)));
  if (syntax.diagnostics.hasErrors())
    return syntax.diagnostics.render();
  return print(*syntax.ops.at(0).body.back().as<Assignment>()->value);
}

const Assignment &assignment(const Op &op, size_t index) {
  return *op.body.at(index).as<Assignment>();
}

} // namespace

TEST(Parser, BindsOperatorsAsThePapersDo) {
  EXPECT_EQ(structureOf("a + b*c"), "(+ a (* b c))");
  EXPECT_EQ(structureOf("a - b - c"), "(- (- a b) c)");
  EXPECT_EQ(structureOf("a/b*c"), "(* (/ a b) c)");
  EXPECT_EQ(structureOf("-x^2"), "(neg (^ x 2))");
  EXPECT_EQ(structureOf("x^-2"), "(^ x (neg 2))");
  EXPECT_EQ(structureOf("x^2^3"), "(^ x (^ 2 3))");
  EXPECT_EQ(structureOf("a*-b"), "(* a (neg b))");
  EXPECT_EQ(structureOf("(a + b)*c"), "(* (+ a b) c)");
  EXPECT_EQ(structureOf("a << 2 + b"), "(<< a (+ 2 b))");
  EXPECT_EQ(structureOf("a div 2 mod 3"), "(mod (div a 2) 3)");
}

TEST(Parser, BindsConditionsLooserThanArithmetic) {
  EXPECT_EQ(structureOf("if x > 0 and not a + 1 < b or c then 1 else 2"),
            "(if (or (and (> x 0) (not (< (+ a 1) b))) c) 1 2)");
  EXPECT_EQ(structureOf("if a then b else if c then d else e + 1"), "(if a b (if c d (+ e 1)))");
  EXPECT_EQ(structureOf("1 + (if a then b else c)*2"), "(+ 1 (* (if a b c) 2))");
}

TEST(Parser, TellsReductionsFromFunctionsByTheirArguments) {
  EXPECT_EQ(structureOf("max(x)"), "(max! x)");
  EXPECT_EQ(structureOf("max(x, y)"), "(max x y)");
  EXPECT_EQ(structureOf("max[row](x)"), "(max! x)");
  EXPECT_EQ(structureOf("all(x > 0)"), "(all! (> x 0))");
}

TEST(Parser, ReadsWordsWhereFunctionsTakeThem) {
  EXPECT_EQ(structureOf("index(row)"), "(index :row)");
  EXPECT_EQ(structureOf("round_to(e4m3fn.sat, x)"), "(round_to :e4m3fn.sat x)");
  EXPECT_EQ(structureOf("swap_pairs(x, half, 2*n)"), "(swap_pairs x :half (* 2 n))");
  EXPECT_EQ(structureOf("rms_norm(x, eps = a).y"), "(call rms_norm).y");
  EXPECT_EQ(structureOf("w[i, j + 1]"), "w[i (+ j 1)]");
}

TEST(Parser, NewlineEndsAStatementExceptInBracketsAndAfterOperators) {
  EXPECT_EQ(structureOf("a +\n b"), "(+ a b)");
  EXPECT_EQ(structureOf("(a\n + b\n)"), "(+ a b)");
  EXPECT_EQ(structureOf("min(a,\n\n b)"), "(min a b)");
  EXPECT_EQ(structureOf("if a then\n b else\n c"), "(if a b c)");
  EXPECT_NE(structureOf("a\n + b").find("expected a statement, got '+'"), std::string::npos);
}

TEST(Parser, ReadsTheWholeCard) {
  for (std::string_view text : {card::adamw, card::layerNorm, card::maskedSoftmax,
                                card::crossEntropy, card::batchNorm, card::block, card::rest}) {
    Syntax syntax(text);
    EXPECT_EQ(syntax.diagnostics.render(), "");
    EXPECT_FALSE(syntax.ops.empty());
  }
}

TEST(Parser, KeepsDomainsAxesTypesAndRanges) {
  Syntax softmax(card::maskedSoftmax);
  const Op &op = softmax.ops.at(0);
  EXPECT_EQ(op.domain.axes, (std::vector<std::string>{"batch", "head", "query", "key"}));
  EXPECT_EQ(op.domain.outer, 3u);
  const Declaration &keep = *op.body.at(1).as<Declaration>();
  EXPECT_EQ(keep.type, Type::Bool);
  EXPECT_EQ(keep.axes->at(1).name, "1");

  Syntax rest(card::rest);
  EXPECT_TRUE(rest.ops.at(0).domain.axes.empty());
  const Declaration &packed = *rest.ops.at(1).body.at(2).as<Declaration>();
  EXPECT_EQ(packed.name, "packed");
  EXPECT_EQ(packed.axes->at(1).divisor, 128u);

  Syntax adamw(card::adamw);
  const Declaration &beta1 = *adamw.ops.at(0).body.at(9).as<Declaration>();
  EXPECT_EQ(beta1.name, "beta1");
  EXPECT_EQ(beta1.range->print(), "in [0, 1)");
  EXPECT_FALSE(beta1.range->contains(1));
}

TEST(Parser, GivesEveryStatementOfALineItsLabel) {
  Syntax syntax("op a over elements {\n  in x;  out y, z\n"
                "  y = x;  z = x   # E1 words follow\n"
                "}\nop b over elements {\n  in x;  out y, z\n"
                "  y = x +         # E2a\n    1\n"
                "  z = x           # Explain, no label\n}\n");
  EXPECT_EQ(assignment(syntax.ops.at(0), 3).label, "E1");
  EXPECT_EQ(assignment(syntax.ops.at(0), 4).label, "E1");
  EXPECT_EQ(assignment(syntax.ops.at(1), 3).label, "E2a");
  EXPECT_EQ(assignment(syntax.ops.at(1), 3).text, "y = x + 1");
  EXPECT_EQ(assignment(syntax.ops.at(1), 4).label, "");
}

TEST(Parser, CommentsLoseWhatCouldMislead) {
  // Backslash, bell, right-to-left override (U+202E), next line (U+0085), a byte that is no UTF-8.
  Syntax syntax("# a \\b\ac\xe2\x80\xae"
                "d\xc2\x85"
                "e\xff"
                "f \xc3\xa9\\\nop a over elements { }");
  EXPECT_EQ(syntax.ops.at(0).summary, "a bcdef \xc3\xa9");
}

TEST(Parser, KeepsTheCommentAboveAnOpAsItsSummary) {
  Syntax syntax("# Not part of it.\n\n# First line.\n# Second line.\nop a over elements { }\n");
  EXPECT_EQ(syntax.ops.at(0).summary, "First line.\nSecond line.");
}

TEST(Parser, LimitsNesting) {
  std::string deep = std::string(70, '(') + "x" + std::string(70, ')');
  EXPECT_NE(errorsOf(opWith("y = " + deep)).find("expected at most 64 levels of nesting"),
            std::string::npos);
  std::string signs = "y = " + std::string(5000, '-') + "x";
  EXPECT_NE(errorsOf(opWith(signs)).find("expected at most 64 levels of nesting"),
            std::string::npos);
  EXPECT_EQ(structureOf(std::string(64, '(') + "x" + std::string(64, ')')), "x");
  EXPECT_NE(errorsOf(opWith("y = " + std::string(65, '(') + "x" + std::string(65, ')')))
                .find("expected at most 64 levels of nesting"),
            std::string::npos);
}

TEST(Parser, NestsAsManyIfsAsTheLimitSays) {
  auto nested = [](int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i)
      text += "if o { ";
    text += "y = a*x";
    for (int i = 0; i < levels; ++i)
      text += " } else { y = 2*x }";
    return opWith("option o = false\n" + text);
  };
  EXPECT_EQ(errorsOf(nested(64)), "no error");
  std::string errors = errorsOf(nested(65));
  EXPECT_NE(errors.find("expected at most 64 levels of nesting, got more; join conditions with"),
            std::string::npos);
  EXPECT_EQ(errors.find("error: "), errors.rfind("error: ")) << errors;
}

TEST(Parser, LimitsOperationsAndText) {
  std::string sum = "y = a";
  for (int i = 0; i < 4096; ++i)
    sum += "+x";
  EXPECT_TRUE(parsed(opWith(sum)).op);
  EXPECT_NE(errorsOf(opWith(sum + "+x")).find("expected at most 4096 operations in an op"),
            std::string::npos);
  EXPECT_NE(fw::render(OpFile::parse(std::string(70000, ' '), "big.fuse").error())
                .find("expected at most 65536 bytes of op text, got more"),
            std::string::npos);
}
