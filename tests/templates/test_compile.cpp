// Every skeleton's sample for every arch that NVRTC knows: it compiles alone, without a warning and
// without a spill, and its PTX has the accesses that it must have.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <gtest/gtest.h>
#include <regex>

#include "compiler/jit/Nvrtc.h"
#include "compiler/target/Target.h"
#include "templates/Templates.h"

namespace fw {
namespace {

size_t occurrences(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

/// The text of `files` below the macros of the features that `arch` has.
std::string textFor(const target::Arch &arch, std::vector<std::string_view> files) {
  const std::string text = *templates::assemble(files);
  std::string defines;
  for (std::string name : templates::featuresAsked(text))
    if (target::has(arch, *target::findFeature(name))) {
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
      defines += "#define FW_HAS_" + name + " 1\n";
    }
  return defines + text;
}

class Compile : public ::testing::Test {
protected:
  void SetUp() override {
    Result<std::shared_ptr<const jit::Nvrtc>> opened = jit::Nvrtc::open(*jit::Settings::read());
    if (!opened)
      GTEST_SKIP() << "NVRTC is not installed: " << render(opened.error());
    nvrtc = *opened;
  }

  /// Arches of the table that this NVRTC compiles for.
  std::vector<const target::Arch *> archs() const {
    const std::vector<int> supported = nvrtc->supportedArchs();
    std::vector<const target::Arch *> both;
    for (const target::Arch &arch : target::archs())
      if (std::ranges::find(supported, arch.number) != supported.end())
        both.push_back(&arch);
    return both;
  }

  jit::CompiledKernel compile(const std::string &text, const target::Arch &arch) const {
    Result<jit::CompiledKernel> kernel =
        nvrtc->compile(text, "k.cu", target::compileName(arch), nvrtc->flags());
    EXPECT_TRUE(static_cast<bool>(kernel)) << kernel.error().log;
    return kernel ? std::move(*kernel) : jit::CompiledKernel();
  }

  std::shared_ptr<const jit::Nvrtc> nvrtc;
};

TEST_F(Compile, SampleOfChunk) {
  for (const target::Arch *arch : archs()) {
    const jit::CompiledKernel kernel =
        compile(textFor(*arch, {"elements/chunk_sample.cuh"}), *arch);
    ASSERT_EQ(kernel.resources.size(), 1u) << arch->name << kernel.log;
    const jit::KernelResources &use = kernel.resources[0];
    printf("  %-7s %d registers, %.0f ms\n", arch->name, use.registers, kernel.milliseconds);
    EXPECT_EQ(use.spillBytes, 0) << arch->name;
    EXPECT_EQ(use.stackBytes, 0) << arch->name;
    EXPECT_LE(use.registers, 128) << arch->name; // 512 threads
    EXPECT_EQ(occurrences(kernel.log, "warning"), 0u) << kernel.log;

    // p, m and v in 16 bytes and g in 8, twice for INFLIGHT; one element of each for head and tail.
    const bool hasPolicy = target::has(*arch, target::Feature::l2_policy);
    const std::string hint = hasPolicy ? "ld.global.L2::cache_hint." : "ld.global.";
    const unsigned records = hasPolicy ? 0 : 1; // read without a hint
    EXPECT_EQ(occurrences(kernel.ptx, hint + "v4.u32"), 6u + records) << arch->name;
    EXPECT_GE(occurrences(kernel.ptx, hint + "v2.u32"), 2u) << arch->name;
    EXPECT_EQ(occurrences(kernel.ptx, hint + "u16"), 1u) << arch->name;
    EXPECT_EQ(occurrences(kernel.ptx, "st.global.v4.u32"), 6u) << arch->name;
    EXPECT_EQ(occurrences(kernel.ptx, "st.global.u32"), 3u) << arch->name;
    // No generic access, no cache hint on stores, no contraction but the sample's own fma.
    EXPECT_FALSE(
        std::regex_search(kernel.ptx, std::regex("\\b(ld|st)\\.(v[24]\\.)?[busf](8|16|32|64)\\b")))
        << arch->name;
    EXPECT_EQ(occurrences(kernel.ptx, "st.global.L2"), 0u) << arch->name;
    EXPECT_EQ(occurrences(kernel.ptx, "fma.rn.f32"), 2u * (2 * 4 + 1)) << arch->name;
    EXPECT_GE(occurrences(kernel.ptx, "div.rn.f32"), 9u) << arch->name;
  }
}

TEST_F(Compile, SampleOfNormLastBlock) {
  for (const target::Arch *arch : archs()) {
    const jit::CompiledKernel kernel =
        compile(textFor(*arch, {"elements/norm_last_block_sample.cuh"}), *arch);
    ASSERT_EQ(kernel.resources.size(), 1u) << arch->name << kernel.log;
    const jit::KernelResources &use = kernel.resources[0];
    printf("  %-7s %d registers, %.0f ms\n", arch->name, use.registers, kernel.milliseconds);
    EXPECT_EQ(use.spillBytes, 0) << arch->name;
    EXPECT_EQ(use.stackBytes, 0) << arch->name;
    EXPECT_LE(use.registers, 64) << arch->name; // two blocks of 512 threads
    EXPECT_EQ(occurrences(kernel.log, "warning"), 0u) << kernel.log;

    // p in 16 bytes and g in 8, four times for INFLIGHT.
    const bool hasPolicy = target::has(*arch, target::Feature::l2_policy);
    const std::string hint = hasPolicy ? "ld.global.L2::cache_hint." : "ld.global.";
    EXPECT_GE(occurrences(kernel.ptx, hint + "v4.u32"), 4u) << arch->name;
    EXPECT_GE(occurrences(kernel.ptx, hint + "v2.u32"), 4u) << arch->name;
    // A partial per reduction leaves the block; behind the fence, one ticket; then they come back.
    EXPECT_EQ(occurrences(kernel.ptx, "st.relaxed.gpu.global.f64"), 4u) << arch->name;
    EXPECT_EQ(occurrences(kernel.ptx, "atom.relaxed.gpu.global.inc.u32"), 1u) << arch->name;
    EXPECT_EQ(occurrences(kernel.ptx, "fence.acq_rel.gpu"), 2u) << arch->name;
    EXPECT_GE(occurrences(kernel.ptx, "ld.relaxed.gpu.global.f64"), 4u * 8) << arch->name;
    const size_t published = kernel.ptx.rfind("st.relaxed.gpu"), fence = kernel.ptx.find("fence."),
                 ticket = kernel.ptx.find("atom."), second = kernel.ptx.rfind("fence."),
                 observed = kernel.ptx.find("ld.relaxed.gpu");
    EXPECT_TRUE(published < fence && fence < ticket && ticket < second && second < observed)
        << arch->name;
  }
}

/// Of a sample of pattern rows: streams that are read, operands of columns, and exchanges.
struct RowSample {
  const char *name;
  unsigned loads, columns, exchanges = 1;
};

TEST_F(Compile, SamplesOfRow) {
  constexpr RowSample samples[] = {{"rms_norm", 1, 1},          {"layer_norm", 1, 2},
                                   {"softmax", 1, 0},           {"softmax_backward", 2, 0},
                                   {"rms_norm_backward", 2, 1}, {"centred", 1, 0, 2},
                                   {"affine", 1, 1, 0}};
  for (const target::Arch *arch : archs())
    for (const RowSample &sample : samples) {
      const std::string file = "rows/" + std::string(sample.name) + "_sample.cuh";
      const jit::CompiledKernel kernel = compile(textFor(*arch, {file}), *arch);
      const std::string where = std::string(arch->name) + " " + sample.name;
      ASSERT_EQ(kernel.resources.size(), 1u) << where << kernel.log;
      const jit::KernelResources &use = kernel.resources[0];
      printf("  %-7s %-17s %d registers\n", arch->name, sample.name, use.registers);
      EXPECT_EQ(use.spillBytes, 0) << where;
      EXPECT_EQ(use.stackBytes, 0) << where;
      EXPECT_LE(use.registers, 85) << where; // six blocks of 128 threads
      EXPECT_EQ(occurrences(kernel.log, "warning"), 0u) << kernel.log;

      // A row of 1024 columns in a warp: four vectors of 16 bytes a thread of each stream, asked
      // for once; exchanges by shuffles, and no barrier.
      const bool hasPolicy = target::has(*arch, target::Feature::l2_policy);
      const std::string hint = hasPolicy ? "ld.global.L2::cache_hint." : "ld.global.";
      EXPECT_EQ(occurrences(kernel.ptx, hint + "v4.u32"), 4u * sample.loads) << where;
      EXPECT_GE(occurrences(kernel.ptx, "ld.global.nc.v4.u32"), 4u * sample.columns) << where;
      EXPECT_EQ(occurrences(kernel.ptx, "st.global.v4.u32"), 4u) << where;
      EXPECT_GE(occurrences(kernel.ptx, "shfl.sync.bfly.b32"), 5u * sample.exchanges) << where;
      EXPECT_EQ(occurrences(kernel.ptx, "bar.sync"), 0u) << where;
      EXPECT_EQ(occurrences(kernel.ptx, "barrier.sync"), 0u) << where;
      EXPECT_FALSE(std::regex_search(kernel.ptx,
                                     std::regex("\\b(ld|st)\\.(v[24]\\.)?[busf](8|16|32|64)\\b")))
          << where;
    }
}

/// What the vocabulary of pattern rows must become.
TEST_F(Compile, InstructionsOfRows) {
  const std::string body = "  fw::Raw<fw::bf16, 8> raw, column;\n"
                           "  fw::load<8>(raw, (const fw::bf16 *)x, 8 * i, fw::Again{policy});\n"
                           "  fw::load<8>(raw, (const fw::bf16 *)x, 8 * i, fw::Last{});\n"
                           "  fw::loadColumnShifted<8>(column, (const fw::bf16 *)w, 8 * i);\n"
                           "  float y[8];\n"
                           "  for (int k = 0; k < 8; ++k)\n"
                           "    y[k] = fw::get(raw, k) * fw::get(column, k);\n"
                           "  fw::Accumulators<float, fw::Sum> sum;\n"
                           "  sum.values[0] = fw::fast::exp2(y[0]) + fw::fast::reciprocal(y[1]);\n"
                           "  fw::mergeLanes<32>(sum);\n"
                           "  y[0] = sum.values[0];\n"
                           "  fw::pack(raw, y);\n"
                           "  fw::store<8>(raw, (fw::bf16 *)x, 8 * i);\n";
  for (const target::Arch *arch : archs()) {
    const jit::CompiledKernel kernel =
        compile(textFor(*arch, {"vocab/columns.h", "vocab/lanes.h", "vocab/math_fast.h",
                                "vocab/pack.h", "vocab/reread.h"}) +
                    "extern \"C\" __global__ void k(void *x, const void *w, fw::u64 policy) {\n"
                    "  const fw::u32 i = threadIdx.x;\n" +
                    body + "}\n",
                *arch);
    const bool hasPolicy = target::has(*arch, target::Feature::l2_policy);
    const std::string hint = hasPolicy ? ".L2::cache_hint" : "";
    const auto count = [&](const std::string &part) { return occurrences(kernel.ptx, part); };
    EXPECT_EQ(count("ld.global.L1::evict_last" + hint + ".v4.u32"), 1u) << arch->name;
    EXPECT_EQ(count("ld.global.L1::evict_first" + hint + ".v4.u32"), 1u) << arch->name;
    // Two granules, asked for before any branch.
    EXPECT_EQ(count("ld.global.nc.v4.u32"), 2u) << arch->name;
    EXPECT_LT(kernel.ptx.rfind("ld.global.nc"), kernel.ptx.find("\tbra ")) << arch->name;
    EXPECT_LT(kernel.ptx.rfind("ld.global.nc"), kernel.ptx.find(" bra ")) << arch->name;
    EXPECT_EQ(count("shfl.sync.bfly.b32"), 5u) << arch->name;
    EXPECT_EQ(count("ex2.approx.ftz.f32"), 1u) << arch->name;
    EXPECT_EQ(count("rcp.approx.ftz.f32"), 1u) << arch->name;
    if (target::has(*arch, target::Feature::bf16_convert))
      EXPECT_EQ(count("cvt.rn.bf16x2.f32"), 4u) << arch->name;
    EXPECT_EQ(count("st.global.v4.u32"), 1u) << arch->name;
  }
}

/// Bools and ints move in whole vectors too.
TEST_F(Compile, WholesInVectors) {
  struct Whole {
    const char *type, *number;
    int width;
  };
  constexpr Whole wholes[] = {{"b8", "bool", 16}, {"w8u", "i64", 16}, {"w8", "i64", 16},
                              {"w16", "i64", 8},  {"w32", "i64", 4},  {"w64", "i64", 2}};
  for (const target::Arch *arch : archs())
    for (const Whole &whole : wholes) {
      const std::string type = std::string("fw::") + whole.type, number = whole.number,
                        width = std::to_string(whole.width);
      const bool isBool = number == "bool";
      const std::string text =
          textFor(*arch, {"vocab/wholes.h", "vocab/pack.h"}) + "extern \"C\" __global__ void k(" +
          type + " *x) {\n  fw::Raw<" + type + ", " + width + "> raw;\n  fw::load<" + width +
          ">(raw, x, " + width + " * threadIdx.x, 0);\n  " + (isBool ? "bool" : "fw::i64") + " y[" +
          width + "];\n  for (int k = 0; k < " + width +
          "; ++k)\n    y[k] = " + (isBool ? "!fw::get(raw, k)" : "fw::get(raw, k) * 3") +
          ";\n  fw::pack(raw, y);\n  fw::store<" + width + ">(raw, x, " + width +
          " * threadIdx.x);\n}\n";
      const jit::CompiledKernel kernel = compile(text, *arch);
      const std::string where = std::string(arch->name) + " " + whole.type;
      ASSERT_EQ(kernel.resources.size(), 1u) << where << kernel.log;
      EXPECT_EQ(kernel.resources[0].spillBytes + kernel.resources[0].stackBytes, 0) << where;
      EXPECT_EQ(occurrences(kernel.log, "warning"), 0u) << kernel.log;
      EXPECT_EQ(occurrences(kernel.ptx, ".v4.u32"), 2u) << where << kernel.ptx;
    }
}

/// A kernel that applies `body` to x[i].
std::string kernelText(const target::Arch &arch, std::vector<std::string_view> files,
                       const std::string &type, const std::string &body) {
  return textFor(arch, files) + "extern \"C\" __global__ void k(" + type + " *x) {\n  " + type +
         " a = x[threadIdx.x], b = x[threadIdx.x + 1024];\n  x[threadIdx.x] = " + body + ";\n}\n";
}

const char *const functionNames[] = {
#define FW_FUNCTION(name, ...) #name,
#include "templates/vocab/functions.def"
#undef FW_FUNCTION
};
TEST_F(Compile, EveryFunctionForTheOldestAndTheNewestArch) {
  const std::vector<const target::Arch *> all = archs();
  ASSERT_FALSE(all.empty());
  for (const target::Arch *arch : {all.front(), all.back()})
    for (const char *type : {"float", "double"})
      for (const char *name : functionNames) {
        const std::string function = std::string("fw::math::") + name;
        const jit::CompiledKernel kernel = compile(
            kernelText(*arch, {templates::headerOf(function)}, type, function + "(a) + b"), *arch);
        ASSERT_EQ(kernel.resources.size(), 1u);
        EXPECT_EQ(kernel.resources[0].spillBytes + kernel.resources[0].stackBytes, 0)
            << function << type;
        EXPECT_EQ(occurrences(kernel.log, "warning"), 0u) << kernel.log;
      }
}

/// Body of a kernel, and the instructions that must and must not stand in its PTX.
struct Pair {
  const char *file, *body;
  target::Feature feature; ///< picks between the two texts below
  const char *with, *without;
};
TEST_F(Compile, InstructionsThatHostTwinsStandFor) {
  const Pair pairs[] = {
      {"vocab/arithmetic.h", "fw::math::max(a, b)", target::Feature::max_nan, "max.NaN.f32",
       "selp"},
      {"vocab/arithmetic.h", "fw::math::min(a, b)", target::Feature::max_nan, "min.NaN.f32",
       "selp"},
      {"vocab/arithmetic.h", "fw::math::fma(a, b, a)", target::Feature::max_nan, "fma.rn.f32",
       "fma.rn.f32"},
      {"vocab/arithmetic.h", "fw::math::sqrt(a)", target::Feature::max_nan, "sqrt.rn.f32",
       "sqrt.rn.f32"},
      {"vocab/arithmetic.h", "fw::math::floor(a)", target::Feature::max_nan, "cvt.rmi.f32",
       "cvt.rmi.f32"},
      {"vocab/arithmetic.h", "fw::math::ceil(a)", target::Feature::max_nan, "cvt.rpi.f32",
       "cvt.rpi.f32"},
      {"vocab/arithmetic.h", "fw::math::trunc(a)", target::Feature::max_nan, "cvt.rzi.f32",
       "cvt.rzi.f32"},
      {"vocab/arithmetic.h", "fw::math::roundEven(a)", target::Feature::max_nan, "cvt.rni.f32",
       "cvt.rni.f32"},
      {"vocab/bf16.h", "fw::roundTo<fw::bf16>(a)", target::Feature::bf16_convert, "cvt.rn.bf16.f32",
       "shr.u32"},
      {"vocab/f16.h", "fw::roundTo<fw::f16>(a)", target::Feature::bf16_convert, "cvt.rn.f16.f32",
       "cvt.rn.f16.f32"},
      {"vocab/f16.h", "fw::roundTo<fw::f16>(a)", target::Feature::bf16_convert, "cvt.f32.f16",
       "cvt.f32.f16"},
      {"vocab/fp8.h", "fw::roundTo<fw::e4m3fn>(a)", target::Feature::bf16_convert, "selp", "selp"},
      {"vocab/warp.h", "fw::shuffleDown(a, 4)", target::Feature::max_nan, "shfl.sync.down",
       "shfl.sync.down"},
      {"vocab/warp.h", "fw::ballot(a > b) ? a : b", target::Feature::max_nan, "vote.sync.ballot",
       "vote.sync.ballot"},
      {"vocab/shared.h", "(fw::barrier(1, 64), a)", target::Feature::max_nan, "bar.sync",
       "bar.sync"},
  };
  const std::vector<const target::Arch *> all = archs();
  for (const target::Arch *arch : {all.front(), all.back()})
    for (const Pair &pair : pairs) {
      const jit::CompiledKernel kernel =
          compile(kernelText(*arch, {pair.file}, "float", pair.body), *arch);
      const char *expected = target::has(*arch, pair.feature) ? pair.with : pair.without;
      EXPECT_GE(occurrences(kernel.ptx, expected), 1u)
          << pair.body << " on " << arch->name << kernel.ptx;
    }
}

} // namespace
} // namespace fw
