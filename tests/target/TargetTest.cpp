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

const Toolchain kUpToHopper = {"nvrtc 12.0", {75, 80, 86, 87, 89, 90}};

TEST(Target, aVirtualArchHasTheRowOfItsNumber) {
  EXPECT_EQ(*findArch("compute_90"), &arch("sm_90"));
  EXPECT_EQ(virtualName(arch("sm_121")), "compute_121");
  EXPECT_TRUE(isVirtualTarget("compute_90"));
  for (const char *name : {"sm_90", "cpu"})
    EXPECT_FALSE(isVirtualTarget(name)) << name;
  for (const char *name : {"compute_91", "compute_", "compute_90a"})
    EXPECT_FALSE(findArch(name)) << name;
}

TEST(Target, knownDeviceGetsItsOwnArch) {
  Result<DeviceTarget> target = targetOfDevice(8, 6, &kUpToHopper);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->name, "sm_86");
  EXPECT_EQ(target->note, "");
}

// GPU newer than NVRTC: PTX of the newest virtual arch, and one note.
TEST(Target, case_P01) {
  Result<DeviceTarget> target = targetOfDevice(12, 1, &kUpToHopper);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->name, "compute_90");
  EXPECT_EQ(target->note,
            "GPU 12.1 is newer than nvrtc 12.0: the driver finishes PTX of compute_90; "
            "install NVRTC 12.9 or newer to compile for the GPU itself");
}

TEST(Target, virtualArchIsNeverNewerThanTheDevice) {
  const Toolchain gap = {"nvrtc 12.9", {75, 80, 90, 100, 103, 120, 121}};
  EXPECT_EQ(targetOfDevice(11, 0, &gap)->name, "compute_103");
}

TEST(Target, deviceThatNvrtcNoLongerKnowsIsRefused) {
  const Toolchain fromAmpere = {"nvrtc 15.0", {80, 90}};
  Result<DeviceTarget> target = targetOfDevice(7, 5, &fromAmpere);
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, Code::TOOLCHAIN);
  EXPECT_EQ(target.error().text, "expected a GPU that nvrtc 15.0 compiles for (sm_80, sm_90), got "
                                 "compute capability 7.5");
}

TEST(Target, deviceOlderThanTheTableIsRefused) {
  for (const Toolchain *toolchain : {&kUpToHopper, static_cast<const Toolchain *>(nullptr)}) {
    Result<DeviceTarget> target = targetOfDevice(7, 0, toolchain);
    ASSERT_FALSE(target);
    EXPECT_EQ(target.error().code, Code::TOOLCHAIN);
    EXPECT_EQ(target.error().text, "expected a GPU of compute capability 7.5 or newer, got 7.0");
  }
}

TEST(Target, deviceNewerThanTheTableTakesTheNewestRow) {
  const Toolchain newer = {"nvrtc 20.0", {90, 120, 121, 990}};
  for (const Toolchain *toolchain : {&newer, static_cast<const Toolchain *>(nullptr)}) {
    Result<DeviceTarget> target = targetOfDevice(99, 0, toolchain);
    ASSERT_TRUE(target);
    EXPECT_EQ(target->name, virtualName(archs().back()));
    EXPECT_NE(target->note.find("GPU 99.0 is newer than this fusewright"), std::string::npos);
  }
}

TEST(Target, withoutNvrtcADeviceKeepsItsOwnArch) {
  EXPECT_EQ(targetOfDevice(12, 1, nullptr)->name, "sm_121");
}

TEST(Target, targetGivenByNameIsNeverReplaced) {
  EXPECT_EQ(*gpuArchitecture("sm_89", kUpToHopper.supported), "sm_89");
  EXPECT_EQ(*gpuArchitecture("compute_89", kUpToHopper.supported), "compute_89");
  for (std::string name : {"sm_120", "compute_120"}) {
    Result<std::string> target = gpuArchitecture(name, kUpToHopper.supported);
    ASSERT_FALSE(target);
    EXPECT_EQ(target.error().code, Code::TOOLCHAIN);
    EXPECT_NE(target.error().text.find("got '" + name + "'"), std::string::npos);
    EXPECT_NE(target.error().remedy.find("12.8"), std::string::npos);
  }
}

} // namespace
} // namespace fw::target
