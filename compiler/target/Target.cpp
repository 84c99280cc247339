#include "compiler/target/Target.h"

#include <algorithm>
#include <array>

namespace fw::target {
namespace {

struct FeatureRow {
  const char *name;
  const char *meaning;
  bool accelerated = false;
};
struct LimitRow {
  const char *name;
  int64_t Arch::*field;
  const char *meaning;
};

constexpr FeatureRow featureRows[] = {
#define FW_ARCH_FEATURE(id, ...) {.name = #id, __VA_ARGS__},
#include "compiler/target/features.def"
#undef FW_ARCH_FEATURE
};

constexpr LimitRow limitRows[] = {
#define FW_ARCH_LIMIT(id, ...) {.name = #id, .field = &Arch::id, __VA_ARGS__},
#include "compiler/target/limits.def"
#undef FW_ARCH_LIMIT
};

// Sets first, rows second: the table is read twice.
constexpr FeatureSet none;
using enum Feature;
#define FW_FEATURE_SET(id, base, ...) constexpr FeatureSet id(base, {__VA_ARGS__});
#define FW_ARCH(...)
#include "compiler/target/archs.def"
#undef FW_FEATURE_SET
#undef FW_ARCH

#define FW_FEATURE_SET(id, base, ...)
#define FW_ARCH(...) Arch{__VA_ARGS__},
constexpr Arch archRows[] = {
#include "compiler/target/archs.def"
};
#undef FW_FEATURE_SET
#undef FW_ARCH

constexpr std::string_view kReal = "sm_", kVirtual = "compute_";

std::string joinedNames() {
  std::string names;
  for (const Arch &arch : archRows)
    names += (names.empty() ? "" : ", ") + std::string(arch.name);
  return names;
}

std::string joinedNumbers(std::span<const int> numbers) {
  std::string text;
  for (int number : numbers)
    text += (text.empty() ? "" : ", ") + std::string(kReal) + std::to_string(number);
  return text.empty() ? "none" : text;
}

std::string dotted(int number) {
  return std::to_string(number / 10) + "." + std::to_string(number % 10);
}

bool contains(std::span<const int> numbers, int number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

/// The newest row up to `number` that `toolchain` compiles for; every row does for none.
const Arch *newestCommonRow(int number, const Toolchain *toolchain) {
  const Arch *best = nullptr;
  for (const Arch &arch : archRows)
    if (arch.number <= number && (!toolchain || contains(toolchain->supported, arch.number)))
      best = &arch;
  return best;
}

Error tooOld(int number, const Toolchain *toolchain) {
  if (number < archRows[0].number)
    return {.code = Code::TOOLCHAIN,
            .text = "expected a GPU of compute capability " + dotted(archRows[0].number) +
                    " or newer, got " + dotted(number),
            .remedy = "run on the CPU or on a newer GPU"};
  return {.code = Code::TOOLCHAIN,
          .text = "expected a GPU that " + toolchain->version + " compiles for (" +
                  joinedNumbers(toolchain->supported) + "), got compute capability " +
                  dotted(number),
          .remedy = "point FUSEWRIGHT_NVRTC at an older NVRTC, which still knows it"};
}

/// Why a device gets PTX of `used`, and what would give it machine code. `own` is its row, if any.
std::string noteOf(int number, const Arch *own, const Arch &used, const Toolchain *toolchain) {
  std::string how = ": the driver finishes PTX of " + virtualName(used) + "; ";
  if (own)
    return "GPU " + dotted(number) + " is newer than " + toolchain->version + how +
           "install NVRTC " + own->nvrtc + " or newer to compile for the GPU itself";
  return "GPU " + dotted(number) + " is newer than this fusewright" + how +
         "a newer fusewright may compile for the GPU itself";
}

} // namespace

std::span<const Arch> archs() { return archRows; }

Result<const Arch *> findArch(std::string_view name) {
  for (const Arch &arch : archRows)
    if (arch.name == name || virtualName(arch) == name)
      return &arch;
  return Error{.code = Code::USAGE,
               .text = "expected an arch (" + joinedNames() + "), got '" + std::string(name) + "'",
               .remedy = "choose one of the list; `fusewright doctor` shows what this NVRTC knows"};
}

const Arch *findArch(int major, int minor) {
  for (const Arch &arch : archRows)
    if (arch.number == 10 * major + minor)
      return &arch;
  return nullptr;
}

bool isCpuTarget(std::string_view name) { return name == "cpu"; }
bool isVirtualTarget(std::string_view name) { return name.starts_with(kVirtual); }

bool has(const Arch &arch, Feature feature) { return arch.features.contains(feature); }

int64_t limit(const Arch &arch, Limit name) { return arch.*limitRows[size_t(name)].field; }

std::optional<Feature> findFeature(std::string_view name) {
  for (size_t i = 0; i < std::size(featureRows); ++i)
    if (featureRows[i].name == name)
      return Feature(i);
  return std::nullopt;
}

const char *featureName(Feature feature) { return featureRows[size_t(feature)].name; }

std::string compileName(const Arch &arch, std::span<const Feature> used) {
  bool accelerated = std::any_of(used.begin(), used.end(), [](Feature feature) {
    return featureRows[size_t(feature)].accelerated;
  });
  return std::string(arch.name) + (accelerated ? "a" : "");
}

std::string virtualName(const Arch &arch) {
  return std::string(kVirtual) + std::to_string(arch.number);
}

Result<std::string> gpuArchitecture(std::string_view target, std::span<const int> supported) {
  Result<const Arch *> arch = findArch(target);
  if (!arch)
    return arch.takeError();
  if (contains(supported, (*arch)->number))
    return std::string(target);
  return Error{.code = Code::TOOLCHAIN,
               .text = "expected an arch that this NVRTC compiles for (" +
                       joinedNumbers(supported) + "), got '" + std::string(target) + "'",
               .remedy = std::string("point FUSEWRIGHT_NVRTC at one that knows it, which ") +
                         (*arch)->nvrtc + " was the first to do, or leave the arch out"};
}

Result<DeviceTarget> targetOfDevice(int major, int minor, const Toolchain *toolchain) {
  int number = 10 * major + minor;
  const Arch *own = findArch(major, minor);
  const Arch *common = newestCommonRow(number, toolchain);
  if (!common)
    return tooOld(number, toolchain);
  if (common == own)
    return DeviceTarget{own->name};
  return DeviceTarget{virtualName(*common), noteOf(number, own, *common, toolchain)};
}

} // namespace fw::target
