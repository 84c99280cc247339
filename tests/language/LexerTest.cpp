// Tokens, comments and what the lexer refuses.
#include "tests/language/support.h"

using namespace fw::language;

namespace {
std::string tokensOf(std::string_view text) {
  Source source("test.fuse", std::string(text));
  Diagnostics diagnostics(source);
  std::string out;
  for (const Token &token : lex(source, diagnostics).tokens)
    out += token.kind == TokenKind::Newline ? "NL " : std::string(token.text) + " ";
  return out + diagnostics.render();
}
} // namespace

TEST(Lexer, SplitsWordsNumbersAndSymbols) {
  EXPECT_EQ(tokensOf("m=beta1*m+(1-beta1)*d^2"), "m = beta1 * m + ( 1 - beta1 ) * d ^ 2  ");
  EXPECT_EQ(
      tokensOf("1e-3 0.5 2E+4 1e5x<=>="),
      "1e-3 0.5 2E+4 1e5x <= >=  "
      "test.fuse:1:15: error: expected a number, got '1e5x'; write numbers as 1, 0.5 or 1e-8\n"
      "1e-3 0.5 2E+4 1e5x<=>=\n              ^\n");
}

TEST(Lexer, MergesEmptyLinesAndDropsComments) {
  EXPECT_EQ(tokensOf("a # E1\n\n # nothing\n\r\n b"), "a NL b  ");
}

TEST(Lexer, RefusesOperatorsOfOtherLanguagesWithTheirSpellingHere) {
  EXPECT_EQ(tokensOf("a**2"),
            "a ** 2  test.fuse:1:2: error: expected a name, a number or an operator, got '**'; "
            "write the power as ^\na**2\n ^\n");
  EXPECT_EQ(tokensOf("a != b"), "a != b  ");
}

TEST(Lexer, RefusesOtherBytesWithoutPrintingThem) {
  EXPECT_EQ(tokensOf("a \x01 b"),
            "a \x01 b  test.fuse:1:3: error: expected a name, a number or an operator, "
            "got a control character; remove it; op text is ASCII, except in comments\n"
            "a ? b\n  ^\n");
  EXPECT_EQ(tokensOf("\xce\xb2"),
            "\xce\xb2  test.fuse:1:1: error: expected a name, a number or an operator, got "
            "'\xce\xb2' (U+03B2); remove it; op text is ASCII, except in comments\n\xce\xb2\n^\n");
  EXPECT_NE(tokensOf("\xef\xbb\xbf").find("' (U+FEFF); remove it"), std::string::npos);
  EXPECT_NE(tokensOf("\xc2\xa0").find("' (U+00A0); remove it"), std::string::npos);
}

TEST(Lexer, NamesAreLowerCaseAndAtMost64Long) {
  EXPECT_EQ(
      tokensOf("Lr"),
      "Lr  test.fuse:1:1: error: expected a name in lower case, got 'Lr'; write 'lr'\nLr\n^\n");
  EXPECT_EQ(tokensOf(std::string(64, 'a')), std::string(64, 'a') + "  ");
  EXPECT_NE(tokensOf(std::string(65, 'a')).find("expected a name of at most 64 characters, got 65"),
            std::string::npos);
}

TEST(Diagnostics, ShowALongLineAroundTheCaret) {
  std::string line = std::string(300, 'x');
  Source source("test.fuse", line);
  Diagnostics diagnostics(source);
  diagnostics.error(200, "expected this", "do that");
  EXPECT_EQ(diagnostics.render(), "test.fuse:1:201: error: expected this; do that\n" +
                                      std::string(120, 'x') + "\n" + std::string(60, ' ') + "^\n");
}

TEST(Diagnostics, StopAfterTwenty) {
  std::string text;
  for (int i = 0; i < 30; ++i)
    text += "? ";
  EXPECT_NE(errorsOf(text).find("more than 19 errors, the rest is not shown"), std::string::npos);
}
