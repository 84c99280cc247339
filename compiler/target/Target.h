// The only questions one may ask about a GPU arch: has(feature), limit(name), and how it is
// compiled for. No other room compares SM numbers.
//
// A request's target is "cpu", a real arch ("sm_90": machine code for it alone) or a virtual one
// ("compute_90": PTX, which the driver finishes for any GPU from that arch on).
#pragma once

#include "compiler/support/Error.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fw::target {

/// One bit per row of features.def.
enum class Feature : uint32_t {
#define FW_ARCH_FEATURE(name, ...) name,
#include "compiler/target/features.def"
#undef FW_ARCH_FEATURE
};

enum class Limit : uint32_t {
#define FW_ARCH_LIMIT(name, ...) name,
#include "compiler/target/limits.def"
#undef FW_ARCH_LIMIT
};

/// A set of features, built at compile time from the rows of archs.def.
class FeatureSet {
public:
  constexpr FeatureSet() = default;
  constexpr FeatureSet(FeatureSet base, std::initializer_list<Feature> added) : bits(base.bits) {
    for (Feature feature : added)
      bits |= uint32_t(1) << uint32_t(feature);
  }
  constexpr bool contains(Feature feature) const { return bits >> uint32_t(feature) & 1; }

private:
  uint32_t bits = 0;
};

/// A row of archs.def. Ask through has() and limit(); `number` is for drivers and for this room.
struct Arch {
  const char *name;
  int number;        ///< 10 * major + minor of the compute capability
  const char *nvrtc; ///< first version that compiles for it, of those we work with
  FeatureSet features;
  int64_t registers_per_sm;
  int64_t registers_per_thread = 255;
  int64_t threads_per_sm;
  int64_t threads_per_block = 1024;
  int64_t blocks_per_sm;
  int64_t shared_bytes_per_sm;
  int64_t shared_bytes_per_block;
  int64_t cluster_blocks;
};

/// Every arch we know, oldest first.
std::span<const Arch> archs();

/// The row of "sm_90", which is the row of "compute_90" too: features and limits are the same.
/// USAGE with the list of names when there is none.
Result<const Arch *> findArch(std::string_view name);

/// The row of a device with this compute capability, or null: a device may be newer than the table.
const Arch *findArch(int major, int minor);

/// True for "cpu", the target that is not a GPU arch.
bool isCpuTarget(std::string_view name);

/// True for a target whose code the driver finishes: "compute_90".
bool isVirtualTarget(std::string_view name);

bool has(const Arch &arch, Feature feature);
int64_t limit(const Arch &arch, Limit name);

std::optional<Feature> findFeature(std::string_view name);
const char *featureName(Feature feature);

/// What NVRTC is told for code that uses these features: "sm_90", or "sm_90a" where one needs it.
std::string compileName(const Arch &arch, std::span<const Feature> used = {});

/// The virtual arch of the same number, for PTX text: "compute_90".
std::string virtualName(const Arch &arch);

/// What NVRTC is told for a request's target: that arch and never another. `supported` holds
/// compute capabilities as 10 * major + minor, as NVRTC lists them; TOOLCHAIN when the target is
/// not among them.
Result<std::string> gpuArchitecture(std::string_view target, std::span<const int> supported);

/// An NVRTC, as far as archs go.
struct Toolchain {
  std::string version; ///< "nvrtc 12.0"
  std::vector<int> supported;
};

struct DeviceTarget {
  std::string name;      ///< of the target
  std::string note = {}; ///< to be shown once; empty for the normal case
};

/// The target of a request for a device: its own arch, or where `toolchain` or our table is older
/// than the device, the newest virtual arch that both know, with a note. A device older than all of
/// them is a TOOLCHAIN error. Null is a machine that compiles nothing: its cache has been filled
/// elsewhere, with the device's own arch.
Result<DeviceTarget> targetOfDevice(int major, int minor, const Toolchain *toolchain);

} // namespace fw::target
