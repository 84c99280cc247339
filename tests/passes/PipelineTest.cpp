// The pipeline as the compiler calls it: plain options in, a lowered module or an error out.
#include "compiler/passes/Pipeline.h"
#include "compiler/passes/Context.h"
#include "compiler/passes/FeatureTable.h"

#include "compiler/dialect/Fuse.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"

#include <gtest/gtest.h>

namespace fw::passes {
namespace {

constexpr const char *kSgd = R"(
fuse.op @sgd over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>]
    scalars [] {
  %p = fuse.read "p" : f32
  %g = fuse.read "g" : f32
  %0 = arith.subf %p, %g : f32
  fuse.write "p", %0 : f32
})";

struct Outcome {
  Result<void> result;
  std::string text;
};

Outcome lower(const char *source, Stage stage, const PipelineOptions &options) {
  auto context = createContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, context.get());
  EXPECT_TRUE(module);
  Outcome out{runPipeline(*module, stage, options), ""};
  llvm::raw_string_ostream(out.text) << *module;
  return out;
}

TEST(Pipeline, EveryStageReadsAgainAsItPrints) {
  for (Stage stage : {Stage::Semantic, Stage::Contracted, Stage::Phases, Stage::Cuda}) {
    Outcome first =
        lower(kSgd, stage, {.dtypes = "g=bf16,p.copy=f16", .features = {"copy"}, .arch = "sm_90"});
    ASSERT_TRUE(first.result) << render(first.result.error());
    auto context = createContext();
    auto again = mlir::parseSourceString<mlir::ModuleOp>(first.text, context.get());
    ASSERT_TRUE(again);
    std::string text;
    llvm::raw_string_ostream(text) << *again;
    EXPECT_EQ(text, first.text);
  }
}

TEST(Pipeline, APassThatRefusesGivesAnErrorWithItsMessage) {
  Outcome dtype = lower(kSgd, Stage::Phases, {.dtypes = "q=bf16"});
  ASSERT_FALSE(dtype.result);
  EXPECT_EQ(dtype.result.error().code, Code::USAGE);
  EXPECT_EQ(dtype.result.error().text, "expected an operand (p, g) to bind a dtype to, got 'q'");
  Outcome feature = lower(kSgd, Stage::Phases, {.features = {"kopy"}});
  ASSERT_FALSE(feature.result);
  EXPECT_EQ(render(feature.result.error()),
            "expected a feature (unscale, clip, clip_value, master, copy, ema, zero_grad, guard), "
            "got 'kopy'; choose one of the list");
}

TEST(Pipeline, AScheduleThatCannotWorkIsRefusedWithTextAndRemedyApart) {
  Outcome out = lower(kSgd, Stage::Cuda, {.arch = "sm_90", .schedule = "vec=8"});
  ASSERT_FALSE(out.result);
  EXPECT_EQ(out.result.error().code, Code::USAGE);
  EXPECT_EQ(out.result.error().text, "expected vec to be a power of two up to 4 (16 bytes of the "
                                     "widest stream), got 8");
  EXPECT_EQ(out.result.error().remedy, "choose a smaller vector, or narrower dtypes");
}

TEST(Pipeline, AModuleThatNoOpTextGivesIsAFaultOfTheCompiler) {
  constexpr const char *source = R"(
fuse.op @wrong over <elements>
    operands [#fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "n", kind = int>] {
  %0 = fuse.scalar "n" : i64
  %1 = fuse.uniform %0 : i64 to i64
  %2 = arith.sitofp %1 : i64 to f32
  fuse.write "y", %2 : f32
})";
  Outcome out = lower(source, Stage::Phases, {});
  ASSERT_FALSE(out.result);
  EXPECT_EQ(out.result.error().code, Code::INTERNAL);
  EXPECT_NE(out.result.error().text.find("expected a real or a bool"), std::string::npos)
      << out.result.error().text;
}

TEST(Pipeline, SymbolsOfOpsWithManyOperandsAreShortAndDiffer) {
  auto symbolOf = [](const char *dtype) {
    std::string operands, body;
    for (int k = 0; k < 120; ++k) {
      std::string name = "\"operand" + std::to_string(k) + "\"", value = "%v" + std::to_string(k);
      operands += std::string(k ? ", " : "") + "#fuse.operand<name = " + name +
                  ", role = param, dtype = \"f32\", scope = <element>>";
      body +=
          value + " = fuse.read " + name + " : f32\nfuse.write " + name + ", " + value + " : f32\n";
    }
    std::string source =
        "fuse.op @wide over <elements> operands [" + operands + "] scalars [] {\n" + body + "}";
    Outcome out = lower(source.c_str(), Stage::Cuda,
                        {.dtypes = "operand119=" + std::string(dtype), .arch = "sm_90"});
    EXPECT_TRUE(out.result) << (out.result ? "" : render(out.result.error()));
    size_t at = out.text.find("@fw_wide");
    return out.text.substr(at, out.text.find_first_of(" (", at) - at);
  };
  EXPECT_LE(symbolOf("f32").size(), 200u);
  EXPECT_NE(symbolOf("f32"), symbolOf("f16"));
}

TEST(Pipeline, ADtypeOfAnOperandThatNoFeatureAddsIsRefused) {
  Outcome without = lower(kSgd, Stage::Phases, {.dtypes = "p.copy=f16"});
  ASSERT_FALSE(without.result);
  EXPECT_EQ(without.result.error().text,
            "expected an operand (p, g) to bind a dtype to, got 'p.copy'");
  Outcome other = lower(kSgd, Stage::Phases, {.dtypes = "g.copy=f16", .features = {"copy"}});
  ASSERT_FALSE(other.result);
  EXPECT_EQ(other.result.error().text,
            "expected an operand of feature 'copy' to bind a dtype to, got 'g.copy'");
}

TEST(Pipeline, CpuStagesNeedNoArch) { EXPECT_TRUE(lower(kSgd, Stage::Phases, {}).result); }

TEST(Pipeline, EveryFeatureHasItsPass) {
  for (const Feature &feature : allFeatures()) {
    auto made = lower(kSgd, Stage::Semantic, {.features = {std::string(feature.name)}});
    EXPECT_TRUE(made.result) << feature.name;
    EXPECT_NE(made.text.find(addedName(feature, "p")), std::string::npos) << feature.name;
    EXPECT_NE(made.text.find(feature.scalar), std::string::npos) << feature.name;
  }
}

TEST(Pipeline, EveryPairOfFeaturesCompilesInTheTablesOrder) {
  for (const Feature &first : allFeatures())
    for (const Feature &second : allFeatures()) {
      if (&first == &second)
        continue;
      auto made =
          lower(kSgd, Stage::Cuda,
                {.features = {std::string(first.name), std::string(second.name)}, .arch = "sm_90"});
      EXPECT_TRUE(made.result) << first.name << ", " << second.name << ": "
                               << (made.result ? "" : render(made.result.error()));
      auto turned =
          lower(kSgd, Stage::Cuda,
                {.features = {std::string(second.name), std::string(first.name)}, .arch = "sm_90"});
      EXPECT_EQ(made.text, turned.text) << first.name << ", " << second.name;
    }
}

TEST(Pipeline, TheWholeStepIsTwoKernels) {
  Outcome made =
      lower(kSgd, Stage::Cuda, {.features = {"unscale", "clip", "copy", "guard"}, .arch = "sm_90"});
  ASSERT_TRUE(made.result) << render(made.result.error());
  size_t kernels = 0;
  for (size_t at = made.text.find("fuse.kernel"); at != std::string::npos;
       at = made.text.find("fuse.kernel", at + 1))
    ++kernels;
  EXPECT_EQ(kernels, 2u);
  EXPECT_LT(made.text.find("norm_last_block"), made.text.find("\"chunk\""));
}

} // namespace
} // namespace fw::passes
