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

std::string joinedNames() {
  std::string names;
  for (const Arch &arch : archRows)
    names += (names.empty() ? "" : ", ") + std::string(arch.name);
  return names;
}

std::string joinedNumbers(std::span<const int> numbers) {
  std::string text;
  for (int number : numbers)
    text += (text.empty() ? "sm_" : ", sm_") + std::to_string(number);
  return text.empty() ? "none" : text;
}

const Arch *newestRowUpTo(int number) {
  const Arch *best = nullptr;
  for (const Arch &arch : archRows)
    if (arch.number <= number)
      best = &arch;
  return best;
}

std::string dotted(int number) {
  return std::to_string(number / 10) + "." + std::to_string(number % 10);
}

bool contains(std::span<const int> numbers, int number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

Error tooOld(int number, std::span<const int> supported) {
  return {.code = Code::TOOLCHAIN,
          .text = "expected a device that this NVRTC compiles for (" + joinedNumbers(supported) +
                  "), got compute capability " + dotted(number),
          .remedy = "use an older NVRTC that still knows the device (FUSEWRIGHT_NVRTC=path)"};
}

// NVRTC has learnt an arch that this table has not: right code by the rules of the nearest older
// row.
Result<CompileTarget> newerThanTable(int number) {
  const Arch *row = newestRowUpTo(number);
  std::string name = "sm_" + std::to_string(number);
  if (!row)
    return Error{.code = Code::TOOLCHAIN,
                 .text = "expected a device of compute capability " + dotted(archRows[0].number) +
                         " or newer, got " + dotted(number),
                 .remedy = "run on the CPU or on a newer GPU"};
  return CompileTarget{.option = name,
                       .row = row,
                       .note = name + " is not in the arch table: scheduled by the rules of " +
                               row->name + "; a newer fusewright may be faster there"};
}

} // namespace

std::span<const Arch> archs() { return archRows; }

Result<const Arch *> findArch(std::string_view name) {
  for (const Arch &arch : archRows)
    if (arch.name == name)
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

std::string virtualName(const Arch &arch) { return "compute_" + std::to_string(arch.number); }

Result<CompileTarget> compileTargetFor(int major, int minor, std::span<const int> supported) {
  int number = 10 * major + minor;
  const Arch *exact = findArch(major, minor);
  if (exact && contains(supported, number))
    return CompileTarget{.option = exact->name, .row = exact};

  if (contains(supported, number))
    return newerThanTable(number);

  int newest = 0;
  for (int candidate : supported)
    if (candidate <= number && newestRowUpTo(candidate))
      newest = std::max(newest, candidate);
  if (newest == 0)
    return tooOld(number, supported);
  return CompileTarget{.option = "compute_" + std::to_string(newest),
                       .row = newestRowUpTo(newest),
                       .ptx = true,
                       .note =
                           "the device has compute capability " + dotted(number) +
                           ", this NVRTC knows up to " + dotted(newest) +
                           ": the driver compiles PTX of that arch; get an NVRTC that lists sm_" +
                           std::to_string(number) + " for the best code"};
}

Result<CompileTarget> compileTargetFor(const Arch &arch, std::span<const int> supported) {
  if (contains(supported, arch.number))
    return CompileTarget{.option = arch.name, .row = &arch};
  return Error{
      .code = Code::TOOLCHAIN,
      .text = "expected an arch that this NVRTC compiles for (" + joinedNumbers(supported) +
              "), got '" + arch.name + "'",
      .remedy =
          "install an NVRTC that knows it and point FUSEWRIGHT_NVRTC at it, or leave the arch out"};
}

} // namespace fw::target
