// Features decide the code, a name never does.
#include "compiler/cpu/Features.h"
#include "tests/cpu/Harness.h"

namespace fw::cpu::test {
namespace {

const std::string kScale = program({{"x", "in", "f32"}, {"y", "out", "f32"}}, {"a"}, R"(
  %x = fuse.load "x" : f32
  %y = arith.mulf %x, %a : f32
  fuse.store "y", %y : f32)");

TEST(Features, CanonicalTextIsReadBackInTheTablesOrder) {
  auto features = Features::parse("x86-64+fma+avx2+avx");
  ASSERT_TRUE(features);
  EXPECT_EQ(features->canonical(), "x86-64+avx+avx2+fma");
  EXPECT_EQ(Features::host().canonical(), fw_cpu_host_features());
  auto host = Features::parse(fw_cpu_host_features());
  ASSERT_TRUE(host);
  EXPECT_EQ(host->canonical(), fw_cpu_host_features());
}

TEST(Features, UnknownNamesAreRefused) {
  EXPECT_EQ(render(Features::parse("x86-64+avx9").error()),
            "expected a CPU feature of x86-64 (avx, avx2, fma, f16c, avx512f, avx512bw, avx512dq, "
            "avx512vl), got 'avx9'; leave it out; code is the same with features that are not in "
            "this list");
  EXPECT_EQ(render(Features::parse("znver4").error()),
            "expected CPU features like 'x86-64+avx2+fma' or '+avx2,+fma', got 'znver4'; put + "
            "before each feature, or leave the setting out for those of this machine");
}

TEST(Features, WhatAFeatureNeedsIsAdded) {
  EXPECT_EQ(Features::parse("x86-64+fma")->canonical(), "x86-64+avx+fma");
  EXPECT_EQ(Features::parse("x86-64+avx512bw")->canonical(),
            "x86-64+avx+avx2+fma+f16c+avx512f+avx512bw");
}

TEST(Features, WhatTheMachineLacksIsNamed) {
  auto machine = Features::parse("x86-64+avx2+fma");
  EXPECT_TRUE(Features::parse("x86-64+avx2")->checkRunsOn(*machine));
  auto refused = Features::parse("x86-64+avx2+f16c+fma")->checkRunsOn(*machine);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::DEVICE);
  EXPECT_EQ(refused.error().text,
            "expected CPU features that this machine has (x86-64+avx+avx2+fma), got f16c too");
  EXPECT_EQ(Features::parse("aarch64+neon")->checkRunsOn(*machine).error().code, Code::DEVICE);
}

TEST(Features, VectorsAreAsWideAsTheFeaturesAllow) {
  EXPECT_EQ(Features::parse("x86-64+avx+avx2+fma+f16c")->lanes(4), 8);
  EXPECT_EQ(Features::parse("x86-64+avx+avx2+fma+f16c+avx512f")->lanes(4), 8);
  auto wide = Features::parse("x86-64+avx+avx2+fma+f16c+avx512f+avx512bw+avx512dq+avx512vl");
  EXPECT_EQ(wide->lanes(4), 16);
  EXPECT_EQ(wide->lanes(8), 8);
}

#if defined(__x86_64__)
std::string readFeatures(const char *text, bool runsHere = false) {
  fw_cpu_bytes *bytes = nullptr;
  fw_cpu_error error = {sizeof error, nullptr, nullptr};
  int status = fw_cpu_read_features(text, runsHere, &bytes, &error);
  fw_cpu_bytes *said = status ? error.text : bytes;
  std::string out = (status ? std::to_string(status) + " " : "") + fw_cpu_bytes_data(said);
  fw_cpu_bytes_destroy(error.text);
  fw_cpu_bytes_destroy(error.log);
  fw_cpu_bytes_destroy(bytes);
  return out;
}

TEST(Features, EveryWayToWriteASetGivesOneText) {
  for (const char *text : {"+avx2,+fma", "+fma,+avx2", "+fma, +avx2", "x86-64+avx2+fma",
                           "x86-64+fma+avx2+avx", "+fma+avx2+fma"})
    EXPECT_EQ(readFeatures(text), "x86-64+avx+avx2+fma") << text;
  EXPECT_EQ(readFeatures("", /*runsHere=*/true), fw_cpu_host_features());
  EXPECT_EQ(readFeatures("aarch64+neon"), "aarch64+neon");
  EXPECT_EQ(readFeatures("aarch64+neon", /*runsHere=*/true).substr(0, 2),
            std::to_string(int(Code::DEVICE)) + " ");
  EXPECT_EQ(readFeatures("-fma").substr(0, 1), std::to_string(int(Code::USAGE)));
}

// A hypervisor or kernel that hides AVX-512 of a Zen 4: the feature list lacks what the name
// implies, and parts of it that need the missing ones may be left in.
TEST(case_R05, ZenFourWithoutAvx512GetsNoAvx512) {
  llvm::StringMap<bool> zen4WithoutAvx512;
  for (const char *name : {"sse4.2", "avx", "avx2", "fma", "f16c", "bmi2", "avx512vl", "avx512bw"})
    zen4WithoutAvx512[name] = true;
  zen4WithoutAvx512["avx512f"] = false;
  Features features = Features::from("x86-64", zen4WithoutAvx512);
  EXPECT_EQ(features.canonical(), "x86-64+avx+avx2+fma+f16c");
  std::string assembly = compileStage(kScale, "asm", features.canonical().c_str());
  EXPECT_NE(assembly.find("ymm"), std::string::npos);
  EXPECT_EQ(assembly.find("zmm"), std::string::npos);
  EXPECT_EQ(assembly.find("%k1"), std::string::npos); // nor AVX-512VL's masks
  EXPECT_EQ(assembly.find("ymm16"), std::string::npos);
}

TEST(case_R07, FeaturesChangeTheObjectAndTheKey) {
  const char *narrow = "x86-64+avx+avx2+fma+f16c";
  const char *wide = "x86-64+avx+avx2+fma+f16c+avx512f+avx512bw+avx512dq+avx512vl";
  EXPECT_NE(compileStage(kScale, "asm", wide).find("zmm"), std::string::npos);
  EXPECT_NE(compileStage(kScale, "object", narrow), compileStage(kScale, "object", wide));
  // The key holds this text, so an object of the one host is a miss on the other.
  EXPECT_NE(Features::parse(narrow)->canonical(), Features::parse(wide)->canonical());
}

TEST(Features, NoFusedMultiplyAddIsRefused) {
  EXPECT_EQ(compileError(kScale, 4, "x86-64+avx+avx2"),
            "expected a CPU with fma, got 'x86-64+avx+avx2'; fused multiply-add must round once, "
            "in hardware: name these features in FUSEWRIGHT_CPU_FEATURES too, or leave it out");
}

TEST(Features, FusedMultiplyAddIsOneInstruction) {
  std::string phases = program({{"x", "in", "f32"}, {"y", "out", "f32"}}, {}, R"(
    %x = fuse.load "x" : f32
    %y = math.fma %x, %x, %x : f32
    fuse.store "y", %y : f32)");
  for (const std::string &features : testedFeatures()) {
    std::string assembly = compileStage(phases, "asm", features.c_str());
    EXPECT_NE(assembly.find("vfmadd213ps"), std::string::npos);
    EXPECT_NE(assembly.find("vfmadd213ss"), std::string::npos); // the tail
    size_t calls = 0; // the guard's call of the body, and none of a library
    for (size_t at = 0; (at = assembly.find("call", at)) != std::string::npos; ++at)
      ++calls;
    EXPECT_EQ(calls, 1u);
  }
}
#endif

TEST(Features, AnotherArchitectureIsRefused) {
#if defined(__x86_64__)
  const char *other = "aarch64+neon";
#else
  const char *other = "x86-64+avx+avx2+fma";
#endif
  EXPECT_EQ(compileError(kScale, 2, other),
            std::string("expected CPU features of this machine's architecture, got '") + other +
                "'");
}

} // namespace
} // namespace fw::cpu::test
