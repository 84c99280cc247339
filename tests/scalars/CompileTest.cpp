// The kernel `fw_scalars` through NVRTC and the cache: no spill and no stack on any arch, one
// compile, and none at all once it is on disk.
#include "compiler/Compiler.h"
#include "compiler/RuntimeKernels.h"
#include "compiler/jit/Nvrtc.h"
#include "compiler/target/Target.h"
#include "templates/vocab/scalars_launch.h"
#include "tests/jit/Support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fw {
namespace {

using jit::testing::TemporaryFolder;

/// A compiler whose cache is `folder` alone.
CompilerOptions optionsFor(const TemporaryFolder &folder) {
  CompilerOptions options;
  options.settings = *jit::Settings::read();
  EXPECT_TRUE(options.settings.set(jit::Knob::cache_dir, folder.path));
  options.log = nullptr;
  return options;
}

TEST(ScalarsKernel, EveryArchCompilesWithoutSpillsAndWithoutAStack) {
  auto nvrtc = jit::Nvrtc::open(*jit::Settings::read());
  if (!nvrtc)
    GTEST_SKIP() << "NVRTC is not installed: " << render(nvrtc.error());
  const std::vector<int> supported = (*nvrtc)->supportedArchs();
  for (const target::Arch &arch : target::archs()) {
    if (std::ranges::find(supported, arch.number) == supported.end())
      continue;
    auto lowered = lowerScalars(arch.name);
    ASSERT_TRUE(lowered) << render(lowered.error());
    auto kernel = (*nvrtc)->compile(lowered->sources[0], "fw_scalars.cu", target::compileName(arch),
                                    (*nvrtc)->flags());
    ASSERT_TRUE(kernel) << kernel.error().log;
    ASSERT_EQ(kernel->resources.size(), 1u) << kernel->log;
    const jit::KernelResources &use = kernel->resources[0];
    printf("  %-7s %d registers, %zu bytes, %.0f ms\n", arch.name, use.registers,
           kernel->cubin.size(), kernel->milliseconds);
    EXPECT_EQ(use.symbol, lowered->record.kernels[0].launch.symbol);
    EXPECT_EQ(use.spillBytes, 0) << arch.name;
    EXPECT_EQ(use.stackBytes, 0) << arch.name;
    EXPECT_LE(use.registers * int(ScalarsLaunch::THREADS), 65536) << arch.name;
    EXPECT_EQ(kernel->log.find("warning"), kernel->log.npos) << kernel->log;
  }
}

TEST(ScalarsKernel, IsCompiledOnceAndThenReadWithoutNvrtc) {
  TemporaryFolder folder;
  Compiler first(optionsFor(folder));
  if (auto nvrtc = first.kernelCompiler(); !nvrtc)
    GTEST_SKIP() << "NVRTC is not installed: " << render(nvrtc.error());
  auto made = first.scalarsKernel("sm_90");
  ASSERT_TRUE(made) << render(made.error());
  EXPECT_EQ((*made)->origin, Origin::COMPILED);
  ASSERT_EQ((*made)->kernels.size(), 1u);
  EXPECT_FALSE((*made)->kernels[0].image->code.empty());
  EXPECT_EQ((*made)->record.kernels[0].launch.symbol, "fw_scalars");
  EXPECT_EQ(*first.scalarsKernel("sm_90"), *made);

  CompilerOptions options = optionsFor(folder);
  ASSERT_TRUE(options.settings.set(jit::Knob::nvrtc, "/nowhere/libnvrtc.so"));
  ASSERT_TRUE(options.settings.set(jit::Knob::strict, "1"));
  Compiler second(options);
  auto read = second.scalarsKernel("sm_90");
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ((*read)->origin, Origin::DISK);
  EXPECT_EQ((*read)->kernels[0].image->code, (*made)->kernels[0].image->code);
}

TEST(ScalarsKernel, StrictModeNamesWhatIsMissing) {
  TemporaryFolder folder;
  CompilerOptions options = optionsFor(folder);
  ASSERT_TRUE(options.settings.set(jit::Knob::strict, "1"));
  auto missing = Compiler(options).scalarsKernel("sm_90");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::STRICT_MISS);
  EXPECT_NE(missing.error().text.find("scalars for sm_90"), std::string::npos);
}

TEST(ScalarsKernel, IsForGpusAlone) {
  TemporaryFolder folder;
  auto none = Compiler(optionsFor(folder)).scalarsKernel("cpu");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::USAGE);
}

} // namespace
} // namespace fw
