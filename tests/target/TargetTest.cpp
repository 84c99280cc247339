#include "compiler/target/Target.h"

#include <gtest/gtest.h>

namespace fw::target {
namespace {

const Arch &arch(const char *name) { return **findArch(name); }

TEST(Target, unknownArchNamesTheListAndTheRemedy) {
  Result<const Arch *> found = findArch("sm_91");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::USAGE);
  std::string names;
  for (const Arch &row : archs())
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  EXPECT_EQ(found.error().text, "expected an arch (" + names + "), got 'sm_91'");
  EXPECT_NE(found.error().remedy, "");
}

TEST(Target, cpuIsATargetButNoArch) {
  EXPECT_TRUE(isCpuTarget("cpu"));
  EXPECT_FALSE(isCpuTarget("sm_90"));
  EXPECT_FALSE(findArch("cpu"));
}

TEST(Target, rowsAscendAndAreFoundByNameAndByCapability) {
  int last = 0;
  for (const Arch &row : archs()) {
    EXPECT_LT(last, row.number);
    last = row.number;
    EXPECT_EQ(*findArch(row.name), &row);
    EXPECT_EQ(findArch(row.number / 10, row.number % 10), &row);
    EXPECT_EQ(std::string("sm_") + std::to_string(row.number), row.name);
  }
  EXPECT_EQ(findArch(9, 9), nullptr);
}

TEST(Target, limitsOfOneArchPerGeneration) {
  using enum Limit;
  EXPECT_EQ(limit(arch("sm_75"), threads_per_sm), 1024);
  EXPECT_EQ(limit(arch("sm_75"), shared_bytes_per_block), 64 * 1024);
  EXPECT_EQ(limit(arch("sm_80"), shared_bytes_per_block), 163 * 1024);
  EXPECT_EQ(limit(arch("sm_86"), threads_per_sm), 1536);
  EXPECT_EQ(limit(arch("sm_89"), blocks_per_sm), 24);
  EXPECT_EQ(limit(arch("sm_90"), shared_bytes_per_sm), 228 * 1024);
  EXPECT_EQ(limit(arch("sm_90"), cluster_blocks), 8);
  EXPECT_EQ(limit(arch("sm_120"), shared_bytes_per_block), 99 * 1024);
}

TEST(Target, everyRowObeysWhatTheHardwareFixes) {
  using enum Limit;
  for (const Arch &row : archs()) {
    EXPECT_EQ(limit(row, registers_per_sm), 65536) << row.name;
    EXPECT_EQ(limit(row, registers_per_thread), 255) << row.name;
    EXPECT_EQ(limit(row, threads_per_block), 1024) << row.name;
    EXPECT_EQ(limit(row, threads_per_sm) % 512, 0) << row.name;
    int64_t reserved = has(row, Feature::cp_async) ? 1024 : 0; // per block, for the system
    EXPECT_EQ(limit(row, shared_bytes_per_sm) - limit(row, shared_bytes_per_block), reserved)
        << row.name;
    EXPECT_EQ(limit(row, cluster_blocks) > 1, has(row, Feature::cluster)) << row.name;
  }
}

TEST(Target, namesOfFeaturesAreFoundAgain) {
  EXPECT_EQ(findFeature("l2_policy"), Feature::l2_policy);
  EXPECT_STREQ(featureName(Feature::bulk_copy), "bulk_copy");
  EXPECT_EQ(findFeature("warp_drive"), std::nullopt);
}

TEST(Target, featuresGrowWithGenerations) {
  EXPECT_FALSE(has(arch("sm_75"), Feature::l2_policy));
  EXPECT_TRUE(has(arch("sm_80"), Feature::l2_policy));
  EXPECT_FALSE(has(arch("sm_88"), Feature::fp8_convert));
  EXPECT_TRUE(has(arch("sm_89"), Feature::fp8_convert));
  EXPECT_TRUE(has(arch("sm_90"), Feature::bulk_copy));
  EXPECT_FALSE(has(arch("sm_120"), Feature::redux_f32));
}

TEST(Target, onlyAcceleratedFeaturesChangeTheCompileName) {
  const Feature plain[] = {Feature::cluster},
                accelerated[] = {Feature::cluster, Feature::set_registers};
  EXPECT_EQ(compileName(arch("sm_90")), "sm_90");
  EXPECT_EQ(compileName(arch("sm_90"), plain), "sm_90");
  EXPECT_EQ(compileName(arch("sm_90"), accelerated), "sm_90a");
}

constexpr int nvrtcUpToHopper[] = {75, 80, 86, 87, 89, 90};

TEST(Target, knownDeviceGetsItsOwnArch) {
  Result<CompileTarget> target = compileTargetFor(8, 6, nvrtcUpToHopper);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->option, "sm_86");
  EXPECT_EQ(target->row, &arch("sm_86"));
  EXPECT_FALSE(target->ptx);
  EXPECT_EQ(target->note, "");
}

// GPU newer than NVRTC: PTX of the newest virtual arch, and one note.
TEST(Target, case_P01) {
  Result<CompileTarget> target = compileTargetFor(12, 1, nvrtcUpToHopper);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->option, "compute_90");
  EXPECT_EQ(target->row, &arch("sm_90"));
  EXPECT_TRUE(target->ptx);
  EXPECT_EQ(
      target->note,
      "the device has compute capability 12.1, this NVRTC knows up to 9.0: the driver compiles PTX "
      "of that arch; get an NVRTC that lists sm_121 for the best code");
}

TEST(Target, deviceThatNvrtcNoLongerKnowsIsRefused) {
  Result<CompileTarget> target = compileTargetFor(7, 0, nvrtcUpToHopper);
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, Code::TOOLCHAIN);
  EXPECT_EQ(target.error().text,
            "expected a device that this NVRTC compiles for (sm_75, sm_80, sm_86, sm_87, sm_89, "
            "sm_90), got compute capability 7.0");
}

TEST(Target, archThatOnlyNvrtcKnowsTakesTheRulesOfTheNearestOlderRow) {
  const int supported[] = {90, 990};
  Result<CompileTarget> target = compileTargetFor(99, 0, supported);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->option, "sm_990");
  EXPECT_EQ(target->row, &archs().back());
  EXPECT_FALSE(target->ptx);
  EXPECT_NE(target->note.find("not in the arch table"), std::string::npos);
}

TEST(Target, archGivenByNameIsNeverReplaced) {
  EXPECT_EQ(compileTargetFor(arch("sm_89"), nvrtcUpToHopper)->option, "sm_89");
  Result<CompileTarget> target = compileTargetFor(arch("sm_120"), nvrtcUpToHopper);
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, Code::TOOLCHAIN);
  EXPECT_NE(target.error().text.find("got 'sm_120'"), std::string::npos);
}

} // namespace
} // namespace fw::target
