// What every file of ops/ obeys.
#include "compiler/language/OpFile.h"
#include "ops/Profiles.h"
#include "ops/ShippedOps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

namespace fw {
namespace {

class OpFiles : public testing::TestWithParam<ShippedFile> {
protected:
  std::shared_ptr<const language::OpFile> parse() {
    auto parsed = language::OpFile::parse(GetParam().text, GetParam().name, &shippedLibrary());
    EXPECT_TRUE(bool(parsed)) << (parsed ? "" : parsed.error().log);
    return parsed ? *parsed : nullptr;
  }
};

TEST_P(OpFiles, holdsTheOpOfItsName) {
  auto file = parse();
  ASSERT_TRUE(file);
  ASSERT_GE(file->ops().size(), 1u);
  const std::string name = file->ops()[0].name;
  EXPECT_TRUE(GetParam().name.ends_with("/" + name + ".fuse"));
  for (const auto &other : file->ops()) // its backward, say
    EXPECT_TRUE(other.name == name || other.name.starts_with(name + "_")) << other.name;
  EXPECT_EQ(file->warnings(), "");
}

/// Where its comment has no label, an assignment only chooses between names (`a = -g`).
TEST_P(OpFiles, numbersItsEquations) {
  auto file = parse();
  ASSERT_TRUE(file);
  std::vector<std::string> seen;
  for (const Profile &profile : shippedProfiles(file->ops()[0].name)) {
    auto op = findShippedOp(profile.op);
    ASSERT_TRUE(bool(op));
    auto resolved = language::resolve(**op, profile.options);
    ASSERT_TRUE(bool(resolved));
    for (const language::Assignment *assignment : resolved->body)
      if (!assignment->label.empty())
        seen.push_back(assignment->label);
  }
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  ASSERT_FALSE(seen.empty());
  for (size_t i = 0; i < seen.size(); ++i)
    EXPECT_EQ(seen[i], "E" + std::to_string(i + 1));
}

TEST_P(OpFiles, labelsWhatItStores) {
  auto file = parse();
  ASSERT_TRUE(file);
  for (const Profile &profile : shippedProfiles(file->ops()[0].name)) {
    auto op = findShippedOp(profile.op);
    ASSERT_TRUE(bool(op));
    auto resolved = language::resolve(**op, profile.options);
    ASSERT_TRUE(bool(resolved));
    for (const language::OperandInfo &operand : resolved->info.operands)
      if (operand.role == language::Role::Param || operand.role == language::Role::Out)
        EXPECT_TRUE(std::ranges::any_of(resolved->body,
                                        [&](const language::Assignment *assignment) {
                                          return assignment->name == operand.name &&
                                                 !assignment->label.empty();
                                        }))
            << operand.name;
  }
}

TEST_P(OpFiles, hasProfiles) {
  auto file = parse();
  ASSERT_TRUE(file);
  EXPECT_FALSE(shippedProfiles(file->ops()[0].name).empty());
}

std::string fileName(const testing::TestParamInfo<ShippedFile> &info) {
  std::string out(info.param.name);
  std::ranges::replace_if(out, [](char c) { return !std::isalnum(uint8_t(c)); }, '_');
  return out;
}

INSTANTIATE_TEST_SUITE_P(Shipped, OpFiles,
                         testing::ValuesIn(shippedFiles().begin(), shippedFiles().end()), fileName);

} // namespace
} // namespace fw
