#include "compiler/jit/Hash.h"

#include <gtest/gtest.h>
#include <set>

namespace fw::jit {
namespace {

TEST(Hash, knownDigest) {
  EXPECT_EQ(sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hash, partsAreNotConfusedAcrossTheirBorders) {
  std::string one[] = {"-a", "-b"}, two[] = {"-a-b"};
  EXPECT_NE(kernelKey("s", one, "x", "v"), kernelKey("s", two, "x", "v"));
  EXPECT_NE(programKey("ab", "c", "id"), programKey("a", "bc", "id"));
  EXPECT_NE(objectKey("t", "+a", "22"), objectKey("t", "+a2", "2"));
}

TEST(Hash, everyPartOfAKeyCounts) {
  std::string flags[] = {"-f"}, others[] = {"-g"};
  std::set<std::string> keys = {kernelKey("s", flags, "x", "v"),  kernelKey("S", flags, "x", "v"),
                                kernelKey("s", others, "x", "v"), kernelKey("s", flags, "y", "v"),
                                kernelKey("s", flags, "x", "w"),  kernelKey("s", {}, "x", "v"),
                                programKey("s", "x", "v"),        objectKey("s", "x", "v")};
  EXPECT_EQ(keys.size(), 8u);
  for (const std::string &key : keys)
    EXPECT_TRUE(isKey(key));
}

TEST(Hash, nothingButKeysBecomesAFileName) {
  EXPECT_FALSE(isKey("../../etc/passwd"));
  EXPECT_FALSE(isKey(std::string(63, 'a')));
  EXPECT_FALSE(isKey(std::string(64, 'A')));
}

TEST(Hash, buildIdIsADigestOfTheSources) { EXPECT_TRUE(isKey(compilerBuildId())); }

} // namespace
} // namespace fw::jit
