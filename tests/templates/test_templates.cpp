// The embedded files and the text that is put together from them.
#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "templates/Templates.h"

namespace fw::templates {
namespace {

std::string assembled(std::vector<std::string_view> files) {
  Result<std::string> text = assemble(files);
  EXPECT_TRUE(static_cast<bool>(text));
  return text ? *text : "";
}

size_t occurrences(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(Templates, TextsAreSelfContainedAndHoldEachFileOnce) {
  const std::string text =
      assembled({"vocab/bf16.h", "vocab/math.h", "elements/chunk.cuh", "vocab/bf16.h"});
  EXPECT_EQ(occurrences(text, "#include"), 0u);
  EXPECT_EQ(occurrences(text, "#pragma once"), 0u);
  for (const char *once : {"struct alignas(16) Chunk {", "struct bf16 {", "struct Number;",
                           "using u64 = __UINT64_TYPE__"})
    EXPECT_EQ(occurrences(text, once), 1u) << once;
  EXPECT_LT(text.find("using u32"), text.find("struct bf16"));
}

TEST(Templates, TheSameFilesGiveTheSameText) {
  EXPECT_EQ(assembled({"vocab/bf16.h", "elements/chunk.cuh"}),
            assembled({"vocab/bf16.h", "elements/chunk.cuh"}));
}

TEST(Templates, case_O07) {
  // A kernel's text, and with it its key, holds only what the kernel uses.
  const std::string plain = assembled({"elements/chunk.cuh"});
  for (const char *unused :
       {"struct bf16", "struct f16", "e4m3fn", "fma(", "twoOverPi", "fw_shared"})
    EXPECT_EQ(occurrences(plain, unused), 0u) << unused;
  EXPECT_EQ(occurrences(assembled({"vocab/math_logarithm.h", "elements/chunk.cuh"}), "twoOverPi"),
            0u);
}

/// The emulator runs kernels one behind the other, so only the text tells whether a kernel that was
/// launched early waits before it reads what the one before it writes.
TEST(Templates, AKernelThatStartsEarlyWaitsBeforeItReadsScalars) {
  const std::string text = assembled({"elements/chunk.cuh", "elements/norm_last_block.cuh"});
  const size_t body = text.find("void chunk(");
  ASSERT_LT(body, text.size());
  EXPECT_LT(text.find("startEarly<Op>(0);", body), text.find("readScalars<Op>", body));
  const size_t place = text.find("void readPlace("), end = text.find("\n}\n", place);
  EXPECT_GT(text.find("scalars", place), end);
  const size_t reduces = text.find("void normLastBlock(");
  EXPECT_LT(text.find("letNextStart();", reduces), text.find("reduceChunk<Op>", reduces));
}

TEST(Templates, AnUnknownFileIsAnError) {
  const std::string_view files[] = {"vocab/absent.h"};
  Result<std::string> text = assemble(files);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().text, "expected an embedded template, got 'vocab/absent.h'");
}

TEST(Templates, EverySkeletonsFileIsEmbeddedAndDefinesItsFunction) {
  for (const Skeleton &skeleton : skeletons()) {
    const std::string_view *text = findTemplate(skeleton.file);
    ASSERT_NE(text, nullptr) << skeleton.name;
    const std::string function(std::string_view(skeleton.function).substr(4)); // behind "fw::"
    EXPECT_NE(text->find("FW_INLINE void " + function + "("), text->npos) << skeleton.function;
    EXPECT_EQ(findSkeleton(skeleton.name), &skeleton);
  }
  EXPECT_EQ(findSkeleton("absent"), nullptr);
}

TEST(Templates, NamesFindTheirHeaders) {
  EXPECT_EQ(headerOf("fw::bf16"), "vocab/bf16.h");
  EXPECT_EQ(headerOf("fw::e4m3fn_sat"), "vocab/fp8.h");
  EXPECT_EQ(headerOf("fw::b8"), "vocab/wholes.h");
  EXPECT_EQ(headerOf("fw::w8u"), "vocab/wholes.h");
  EXPECT_EQ(headerOf("fw::math::fma"), "vocab/arithmetic.h");
  EXPECT_EQ(headerOf("fw::math::exp"), "vocab/math_exponential.h");
  EXPECT_EQ(headerOf("fw::load"), "");
#define FW_FUNCTION(name, ...)                                                                     \
  EXPECT_NE(std::string(*findTemplate(headerOf("fw::math::" #name))).find("N " #name "(N x"),      \
            std::string::npos);
#include "templates/vocab/functions.def"
#undef FW_FUNCTION
}

TEST(Templates, FeaturesAskedAreThoseOfTheText) {
  EXPECT_EQ(featuresAsked("#if FW_HAS_MAX_NAN && FW_HAS_L2_POLICY\n#if FW_HAS_MAX_NAN"),
            (std::vector<std::string>{"l2_policy", "max_nan"}));
}

} // namespace
} // namespace fw::templates
