// The checks beyond single mistakes (mistakes/): several at once, options, warnings.
#include "tests/language/card.h"
#include "tests/language/support.h"

using namespace fw::language;

TEST(Check, ReportsSeveralErrorsInOneRun) {
  EXPECT_EQ(
      errorsOf("op a over elements {\n  in x;  out y\n  z = (x + 1\n  y = x +* 2\n  q = foo(x)\n  "
               "y = x x\n}\n"
               "op b over elements {\n  in x;  out y\n  y = w\n  y = x\n}\n"),
      "test.fuse:4:3: error: expected ')', got 'y'; close the '(' of line 3\n  y = x +* 2\n  ^\n"
      "test.fuse:4:10: error: expected a value, got '*'; "
      "a value is a number, a name, a call or an expression in ( )\n  y = x +* 2\n         ^\n"
      "test.fuse:6:9: error: expected the end of the statement, got 'x'; separate statements by "
      "';' or a new line\n"
      "  y = x x\n        ^\n"
      "test.fuse:10:7: error: expected a declared name, got 'w'; did you mean 'x'\n  y = w\n      "
      "^\n"
      "test.fuse:11:3: error: expected one assignment to 'y', got a second one after line 10; "
      "give the new value a name of its own\n  y = x\n  ^\n");
}

TEST(Check, SaysForWhichOptionValuesAnErrorStands) {
  EXPECT_EQ(
      errorsOf(opWith("option k = one | two;  option f = false\n  if f { b = a }\n"
                      "  if k == one { s = x } else { t = x }\n  y = s + (if f then b else a)")),
      "test.fuse:6:7: error: expected a name that has a value, got 's', which has none when k = "
      "two; "
      "give it a value in every arm\n  y = s + (if f then b else a)\n      ^\n");
}

TEST(Check, ASelectOnAnOptionHasOnlyTheChosenArm) {
  EXPECT_TRUE(
      parsed(opWith("option f = false\n  if f { b = a }\n  y = x*(if f then b else a)")).op);
}

TEST(Check, OptionConditionsMayBeCombined) {
  OpHandle op = parsed(opWith(
      "option f = false;  option k = u | v | w\n"
      "  if f and not (k == u or k == v) { y = a*x } else if k != w { y = x } else { y = -x }"));
  auto sizeFor = [&](OptionValues options) {
    return resolve(*op, options)->body[0]->value->as<Apply>();
  };
  EXPECT_EQ(sizeFor({{"f", "true"}, {"k", "w"}})->function, Function::Multiply);
  EXPECT_EQ(sizeFor({{"k", "u"}}), nullptr);
  EXPECT_EQ(sizeFor({{"k", "w"}})->function, Function::Negate);
}

/// Name, type and scope of each assignment.
static std::string valuesOf(std::string_view text) {
  OpHandle op = parsed(text);
  ResolvedOp resolved = *resolve(*op, {});
  std::string out;
  for (const Assignment *assignment : resolved.body) {
    const ValueInfo &value = resolved.values[assignment->value->id];
    out += assignment->name + " " + std::string(spelling(value.type)) + " " +
           value.scope.print(op->domain.axes) + "; ";
  }
  return out;
}

TEST(Check, TypesAndScopesFollowFromTheParts) {
  const std::string out = valuesOf(
      "op test over elements { param p; step t; hyper b = 1\n"
      "c = 1 - b^t;  d = t + 1;  e = p > 0 and c > 0;  f = if e then d else 2;  p = p*f + 1/2 }");
  EXPECT_EQ(out, "c real launch; d int launch; e bool element; f real element; p real element; ");
}

TEST(Check, ABoolHyperIsAValueOfTheLaunch) {
  OpHandle op = parsed("op test over elements { in x; out y; hyper b = 1, on : bool = true\n"
                       "c = not on or b > 0;  d = if c then b else 0;  e = on == (x > 0)\n"
                       "y = if e then d*x else x }");
  ResolvedOp resolved = *resolve(*op, {});
  std::string out;
  for (const Assignment *assignment : resolved.body) {
    const ValueInfo &value = resolved.values[assignment->value->id];
    out += assignment->name + " " + std::string(spelling(value.type)) + " " +
           value.scope.print(op->domain.axes) + "; ";
  }
  EXPECT_EQ(out, "c bool launch; d real launch; e bool element; y real element; ");
}

TEST(Check, WhatAReductionKeepsIsTheScopeOfItsValue) {
  OpHandle op = parsed(
      "op test over elements { in x; in s[all]; state k[tensor] = 0; out y, n[all]; hyper b = 1\n"
      "a = sum[all](x);  c = avg[tensor](x);  d = any[world](x > 0);  e = a + b;  f = e + c\n"
      "g = size(all) + 1;  h = index(tensor);  i = s*g;  k = f + h;  l = x - c;  n = "
      "max[world](l)\n"
      "y = if d then i*l else l }");
  ResolvedOp resolved = *resolve(*op, {});
  std::string out;
  for (const Assignment *assignment : resolved.body) {
    const ValueInfo &value = resolved.values[assignment->value->id];
    out += assignment->name + " " + std::string(spelling(value.type)) + " " +
           value.scope.print(op->domain.axes) + "; ";
  }
  EXPECT_EQ(out, "a real all; c real tensor; d bool all; e real all; f real tensor; g int all; "
                 "h int tensor; i real all; k real tensor; l real element; n real all; "
                 "y real element; ");
}

TEST(Check, AnOpOverScalarsHasOneValueOfEachOperand) {
  OpHandle op = parsed("op test over [] { state s = 1, k[all]; in x; out y; step t; hyper b = 1\n"
                       "s = b*s;  k = k + x^t;  y = s + k }");
  const auto resolved = resolve(*op, {});
  ASSERT_TRUE(resolved);
  for (const OperandInfo &operand : resolved->info.operands)
    EXPECT_EQ(operand.scope.print({}), "all") << operand.name;
}

TEST(Check, WarnsOfWhatIsNotUsed) {
  auto file = OpFile::parse(opWith("option k = u | v\n  z = x + 1\n  y = a*x"), "test.fuse");
  ASSERT_TRUE(bool(file));
  EXPECT_EQ((*file)->warnings(), "test.fuse:3:10: warning: expected a use of option 'k', got none; "
                                 "remove it\n  option k = u | v\n         ^\n"
                                 "test.fuse:4:3: warning: expected a use of 'z', got none; remove "
                                 "the statement\n  z = x + 1\n  ^\n");
}

TEST(Check, AHyperMayBeOfUseForSomeOptionValuesOnly) {
  EXPECT_TRUE(parsed(opWith("option f = false\n  if f { y = a*x } else { y = x }")).op);
}

TEST(Check, TheErrorHasTheFirstPlaceAndAllTexts) {
  fw::Error error =
      OpFile::parse("op a over elements {\n  in x;  out y\n  y = q\n}\n", "my.fuse").error();
  EXPECT_EQ(error.code, fw::Code::OP_TEXT);
  EXPECT_EQ(fw::render(error),
            "my.fuse:3:7: error: expected a declared name, got 'q'; did you mean 'x'");
  EXPECT_EQ(error.line, 3);
  EXPECT_EQ(error.column, 7);
}

TEST(Check, TheOpsOfTheCardHaveTheScopesThatTheyName) {
  EXPECT_EQ(valuesOf(card::layerNorm), "mean real row; rstd real row; y real element; ");
  EXPECT_EQ(valuesOf(card::maskedSoftmax),
            "s real element; t real [batch, head, query]; e real element; z real [batch, head, "
            "query]; y real element; ");
  EXPECT_EQ(valuesOf(card::crossEntropy), "t real row; z real row; loss real row; ");
  EXPECT_EQ(valuesOf(card::batchNorm),
            "mean real c; rstd real c; running real c; y real element; ");
}

TEST(Check, ASaveHasTheAxesOfItsValue) {
  ResolvedOp resolved = *resolve(*parsed(card::layerNorm), {});
  EXPECT_EQ(resolved.info.operand("mean")->printScope(resolved.info.axes), "row");
  EXPECT_EQ(resolved.info.operand("w")->printScope(resolved.info.axes), "column");
  EXPECT_EQ(resolved.info.operand("x")->printScope(resolved.info.axes), "element");
  ResolvedOp masked = *resolve(*parsed(card::maskedSoftmax), {});
  EXPECT_EQ(masked.info.operand("keep")->printScope(masked.info.axes), "[batch, 1, query, key]");
  EXPECT_EQ(masked.info.operand("keep")->type, Type::Bool);
}

TEST(Check, PlacesAndIntsHaveTheScopesOfTheirParts) {
  EXPECT_EQ(valuesOf("op test over [a, b; c] { in x;  in k[a] : int, t[place, c];  out y\n"
                     "d = index(c);  e = d - index(a);  f = size(b) div 2;  g = k mod f\n"
                     "h = t[g];  i = x[k];  j = e << 1 == 4;  y = if j then h + i else bits() }"),
            "d int c; e int [a, c]; f int tensor; g int a; h real [a, c]; i real [a, c]; "
            "j bool [a, c]; y real element; ");
}

TEST(Check, ACallHasTheScopesOfItsOutputs) {
  OpHandle op =
      parsed("op norm over rows { in x;  out y;  save mean;  mean = avg(x);  y = x - mean }\n"
             "op test over [a; b, c] { in x;  out y;  n = norm(x).mean;  y = norm(x) - n }",
             "test");
  ResolvedOp resolved = *resolve(*op, {});
  EXPECT_EQ(
      resolved.values[resolved.body[0]->value->as<Member>()->call->id].scope.print(op->domain.axes),
      "a");
  EXPECT_TRUE(resolved.values[resolved.body[1]->value->id].scope.isElement());
}

TEST(ParseOp, PicksTheOpThatIsNamed) {
  std::string text =
      "op a over elements { in x; out y; y = x }\nop b over elements { in x; out y; y = -x }";
  EXPECT_EQ(parsed(text, "b")->name, "b");
  EXPECT_EQ(fw::render(parseOp(text, "my.fuse").error()),
            "expected one op in my.fuse, got 2; name one of them: a or b");
  EXPECT_EQ(fw::render(parseOp(text, "my.fuse", "c").error()),
            "expected an op of my.fuse, got 'c'; its ops are a or b");
}
