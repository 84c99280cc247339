// The lattice of scopes.
#include "compiler/language/Scope.h"

#include <gtest/gtest.h>

using fw::language::Scope;

namespace {
const std::vector<std::string> axes = {"row", "column"};
std::string joined(const Scope &a, const Scope &b) {
  EXPECT_EQ(Scope::join(a, b), Scope::join(b, a));
  return Scope::join(a, b).print(axes);
}
} // namespace

TEST(Scope, OrdersFromConstToElement) {
  Scope chain[] = {Scope::constant(), Scope::launch(),     Scope::all(),     Scope::parameters(),
                   Scope::tensor(),   Scope::axes({1, 0}), Scope::element(2)};
  for (size_t i = 0; i < std::size(chain); ++i)
    for (size_t j = 0; j < std::size(chain); ++j) {
      EXPECT_EQ(chain[i].isWithin(chain[j]), i <= j);
      EXPECT_EQ(Scope::join(chain[i], chain[j]), chain[std::max(i, j)]);
    }
}

TEST(Scope, JoinsAxesToWhatKeepsBoth) {
  EXPECT_EQ(joined(Scope::axes({1, 0}), Scope::axes({0, 1})), "element");
  EXPECT_EQ(joined(Scope::axes({1, 0}), Scope::axes({1, 0})), "row");
  EXPECT_EQ(joined(Scope::axes({1, 128}), Scope::axes({1, 0})), "[row, column/128]");
  EXPECT_EQ(joined(Scope::axes({0, 6}), Scope::axes({0, 4})), "[column/2]");
  EXPECT_EQ(joined(Scope::axes({0, 3}), Scope::axes({0, 4})), "column");
}

TEST(Scope, OnlyWhatKeepsAxesIsNotUniform) {
  EXPECT_TRUE(Scope::tensor().isUniform());
  EXPECT_FALSE(Scope::axes({1, 0}).isUniform());
  EXPECT_FALSE(Scope::axes({1, 0}).isElement());
  EXPECT_EQ(Scope::axes({0, 0}), Scope::tensor());
}
