// The op hash: what changes it and what does not.
#include "tests/language/card.h"
#include "tests/language/support.h"

namespace {
std::string hashOf(std::string_view text) { return parsed(text, "test")->hash; }
} // namespace

TEST(OpHash, IsSha256InHex) {
  std::string hash = hashOf(opWith("y = a*x"));
  EXPECT_EQ(hash.size(), 64u);
  EXPECT_EQ(hash.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(OpHash, StaysTheSameForever) {
  // Part of every key on disk: a change here makes every cache miss once.
  EXPECT_EQ(hashOf(opWith("y = a*x")),
            "2df83097128397c84422a971d2299774615b21c0ef1280cfdeefcd1072bff835");
}

TEST(OpHash, IgnoresCommentsSpacesAndTheSpellingOfAnEnd) {
  std::string hash = hashOf(opWith("y = a*x"));
  EXPECT_EQ(hash, hashOf("fuse 1\n" + opWith("y = a*x")));
  EXPECT_EQ(hash, hashOf(opWith("y   =\n\n a *x  # E1 a comment")));
  EXPECT_EQ(hash, hashOf(opWith("y = a*x;;\n\n;")));
  EXPECT_EQ(hash, hashOf("op test over elements{in x\nout y\nhyper a=1\n\ny=a*x}"));
}

TEST(OpHash, ChangesWithTheMeaning) {
  std::string hash = hashOf(opWith("y = a*x"));
  EXPECT_NE(hash, hashOf(opWith("y = x*a")));
  EXPECT_NE(hash, hashOf(opWith("z = a*x;  y = z")));
  EXPECT_NE(hashOf(opWith("y = a*(x + 1)")), hashOf(opWith("y = (a*x + 1)")));
}

TEST(OpHash, IsOfTheOpNotOfItsFile) {
  std::string other = "op other over elements { in x; out y; y = x }\n";
  EXPECT_EQ(hashOf(opWith("y = a*x")), hashOf(other + opWith("y = a*x") + "\n# the end\n"));
}

TEST(OpHash, HoldsTheOpsThatAreCalled) {
  using fw::language::hashTokens;
  Syntax syntax(card::block);
  const fw::language::Op &op = syntax.ops.at(0);
  EXPECT_NE(hashTokens(op.first, op.last, {"aa"}), hashTokens(op.first, op.last, {"bb"}));
}

TEST(OpHash, ChangesWithAnOpThatIsCalledHoweverDeep) {
  auto text = [](const char *factor) {
    return std::string("op c over rows { in x;  out y;  y = x*") + factor + " }\n" +
           "op b over rows { in x;  out y;  y = c(x) }\n"
           "op test over rows { in x;  out y;  y = b(x) }";
  };
  EXPECT_EQ(hashOf(text("2")), hashOf(text("2 ")));
  EXPECT_NE(hashOf(text("2")), hashOf(text("3")));
}
