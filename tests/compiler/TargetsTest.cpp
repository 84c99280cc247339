#include "tests/compiler/Support.h"

namespace fw {
namespace {

using TargetsTest = testing::CompilerTest;

// GPU newer than NVRTC: PTX of the newest virtual arch, which the driver finishes, and one note.
TEST_F(TargetsTest, case_P01) {
  Compiler compiler(options("FW_FAKE_NVRTC_12"));
  for (int call = 0; call < 2; ++call) {
    Result<std::string> target = compiler.targetOf(12, 1);
    ASSERT_TRUE(target) << target.error().text;
    EXPECT_EQ(*target, "compute_90");
  }
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_NE(messages[0].find("GPU 12.1 is newer than nvrtc 12.0"), std::string::npos);
  EXPECT_NE(messages[0].find("install NVRTC 12.9 or newer"), std::string::npos);

  auto program = compiler.compile(scaleFor("compute_90"));
  ASSERT_TRUE(program) << render(program.error());
  const jit::Artefact &kernel = *(*program)->kernels[0].image;
  EXPECT_EQ(kernel.code, "");
  EXPECT_EQ(kernel.image(), "// PTX for compute_90\n");
  EXPECT_EQ(kernel.image().data()[kernel.image().size()], '\0');
  EXPECT_EQ((*program)->record.target, "compute_90");
  EXPECT_EQ(kernel.launch.registers, -1);
}

TEST_F(TargetsTest, ptxComesBackFromTheDisk) {
  ASSERT_TRUE(Compiler(options("FW_FAKE_NVRTC_12")).compile(scaleFor("compute_90")));
  // Strict mode asks neither NVRTC nor the passes.
  auto program = Compiler(options("/nowhere", true)).compile(scaleFor("compute_90"));
  ASSERT_TRUE(program) << render(program.error());
  EXPECT_EQ((*program)->origin, Origin::DISK);
  EXPECT_EQ((*program)->kernels[0].image->image(), "// PTX for compute_90\n");
}

TEST_F(TargetsTest, aVirtualArchSharesScheduleAndNotCode) {
  Compiler compiler(options("FW_FAKE_NVRTC_13"));
  auto real = compiler.compile(scaleFor("sm_80")), ptx = compiler.compile(scaleFor("compute_80"));
  ASSERT_TRUE(real && ptx);
  EXPECT_NE((*real)->key, (*ptx)->key);
  EXPECT_EQ((*real)->record.kernels[0].launch.schedule, (*ptx)->record.kernels[0].launch.schedule);
  EXPECT_EQ((*real)->kernels[0].image->image(), "cubin for sm_80");
  EXPECT_EQ((*ptx)->kernels[0].image->image(), "// PTX for compute_80\n");
}

TEST_F(TargetsTest, theKernelOfScalarProgramsHasVirtualTargetsToo) {
  Compiler compiler(options("FW_FAKE_NVRTC_12"));
  auto kernel = compiler.scalarsKernel("compute_90");
  ASSERT_TRUE(kernel) << render(kernel.error());
  EXPECT_EQ((*kernel)->record.target, "compute_90");
  EXPECT_EQ((*kernel)->kernels[0].image->image(), "// PTX for compute_90\n");
}

TEST_F(TargetsTest, aKnownDeviceGetsItsArchWithoutANote) {
  EXPECT_EQ(*Compiler(options("FW_FAKE_NVRTC_13")).targetOf(12, 1), "sm_121");
  EXPECT_TRUE(messages.empty());
}

TEST_F(TargetsTest, withoutNvrtcAndInStrictModeADeviceKeepsItsArch) {
  EXPECT_EQ(*Compiler(options("/nowhere")).targetOf(12, 1), "sm_121");
  EXPECT_EQ(*Compiler(options("FW_FAKE_NVRTC_12", true)).targetOf(12, 1), "sm_121");
  EXPECT_TRUE(messages.empty());
}

TEST_F(TargetsTest, aDeviceOlderThanAllIsRefused) {
  Result<std::string> target = Compiler(options("FW_FAKE_NVRTC_12")).targetOf(6, 1);
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, Code::TOOLCHAIN);
}

TEST_F(TargetsTest, aTargetThatNvrtcLacksIsNeverReplaced) {
  for (const char *target : {"sm_121", "compute_121"}) {
    auto program = Compiler(options("FW_FAKE_NVRTC_12")).compile(scaleFor(target));
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().code, Code::TOOLCHAIN);
    EXPECT_NE(program.error().remedy.find("12.9"), std::string::npos) << program.error().remedy;
  }
}

} // namespace
} // namespace fw
