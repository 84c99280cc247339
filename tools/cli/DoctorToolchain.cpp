#include "tools/cli/DoctorToolchain.h"

#include "compiler/target/Target.h"
#include "runtime/driver/Ranges.h"

#include <algorithm>

namespace fw::cli {

namespace {

target::Toolchain toolchainOf(const jit::Nvrtc &nvrtc) {
  return {nvrtc.version(), nvrtc.supportedArchs()};
}

std::string dotted(int major, int minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

/// Another NVRTC of this machine that compiles for the device itself.
const jit::Nvrtc *betterNvrtc(const GpuSide &side, const driver::Device &device,
                              const std::string &target) {
  for (const auto &other : side.all) {
    target::Toolchain toolchain = toolchainOf(*other);
    auto found = target::targetOfDevice(device.major, device.minor, &toolchain);
    if (found && found->name != target && found->note.empty())
      return other.get();
  }
  return nullptr;
}

/// The target of one device; a note or a problem where it is not its own arch.
std::string targetText(const GpuSide &side, const driver::Device &device, Finding &finding) {
  std::optional<target::Toolchain> toolchain;
  if (side.nvrtc)
    toolchain = toolchainOf(**side.nvrtc);
  auto found =
      target::targetOfDevice(device.major, device.minor, toolchain ? &*toolchain : nullptr);
  if (!found) {
    finding.problems.push_back(found.takeError());
    return "none";
  }
  if (found->note.empty())
    return found->name;
  std::string note = found->note;
  if (const jit::Nvrtc *other = betterNvrtc(side, device, found->name))
    note += "; FUSEWRIGHT_NVRTC=" + other->path() + " takes " + other->version() +
            " of this machine, which can";
  if (std::ranges::find(finding.notes, note) == finding.notes.end())
    finding.notes.push_back(note);
  return found->name;
}

/// Machine code of a newer generation of the toolkit may be foreign to the driver.
void compareGenerations(const GpuSide &side, Finding &finding) {
  int version = (*side.driver)->version();
  if (side.nvrtc && (*side.nvrtc)->majorVersion() > version / 1000)
    finding.notes.push_back("the driver is of CUDA " + dotted(version / 1000, version % 1000 / 10) +
                            " and may refuse code of " + (*side.nvrtc)->version() +
                            "; update it, or install NVRTC " + std::to_string(version / 1000));
}

/// Archs of the table that this NVRTC compiles for.
std::vector<std::string> commonArchs(const jit::Nvrtc &nvrtc) {
  std::vector<int> supported = nvrtc.supportedArchs();
  std::vector<std::string> names;
  for (const target::Arch &arch : target::archs())
    if (std::ranges::find(supported, arch.number) != supported.end())
      names.push_back(arch.name);
  return names;
}

/// Only a compile shows whether the builtins library opens.
void compileEmptyKernel(const jit::Nvrtc &nvrtc, const std::string &arch, Finding &finding) {
  auto compiled =
      nvrtc.compile("extern \"C\" __global__ void empty() {}\n", "empty.cu", arch, nvrtc.flags());
  if (compiled)
    finding.facts["empty kernel"] = std::to_string(int(compiled->milliseconds + 0.5)) + " ms";
  else
    finding.problems.push_back(compiled.takeError());
}

/// Those that are here too, and how one of them is taken instead.
void listOthers(const GpuSide &side, Finding &finding) {
  Json others = Json::array();
  for (const auto &other : side.all)
    if (other->path() != (*side.nvrtc)->path())
      others.push_back(
          {{"version", other->version()}, {"path", other->path()}, {"found in", other->place()}});
  if (others.empty())
    return;
  finding.facts["also found"] = others;
  finding.notes.push_back("the first in the order of the search is taken: " +
                          (*side.nvrtc)->place() + "; FUSEWRIGHT_NVRTC=PATH takes another");
}

/// Which NVRTC the devices of this machine need at least.
std::string leastVersion(const GpuSide &side) {
  const target::Arch *newest = nullptr;
  if (side.driver)
    for (const driver::Device &device : (*side.driver)->devices())
      if (const target::Arch *arch = target::findArch(device.major, device.minor))
        newest = !newest || arch->number > newest->number ? arch : newest;
  return newest ? "GPU " + dotted(newest->number / 10, newest->number % 10) + " needs NVRTC " +
                      newest->nvrtc + " or newer"
                : "";
}

} // namespace

GpuSide GpuSide::find(const jit::Settings &settings) {
  return {driver::Driver::open(settings.text(jit::Knob::cuda_driver)), jit::Nvrtc::open(settings),
          jit::Nvrtc::openAll(settings)};
}

Finding examineDriver(const GpuSide &side) {
  Finding finding{"GPU driver and devices"};
  if (!side.driver) {
    finding.problems.push_back(side.driver.error());
    return finding;
  }
  const driver::Driver &driver = **side.driver;
  finding.facts = {
      {"version", "CUDA " + dotted(driver.version() / 1000, driver.version() % 1000 / 10)},
      {"path", driver.path()},
      {"ranges for profilers (NVTX)", driver::hasRanges() ? "yes" : "not in this build"}};
  Json gpus = Json::array();
  for (const driver::Device &device : driver.devices())
    gpus.push_back({{"device", "cuda:" + std::to_string(device.ordinal)},
                    {"name", device.name},
                    {"compute capability", dotted(device.major, device.minor)},
                    {"target", targetText(side, device, finding)},
                    {"memory_bytes", device.memoryBytes}});
  finding.facts["GPU"] = std::move(gpus);
  compareGenerations(side, finding);
  return finding;
}

Finding examineNvrtc(const GpuSide &side) {
  Finding finding{"NVRTC (kernels for GPUs)"};
  if (!side.nvrtc) {
    finding.problems.push_back(side.nvrtc.error());
    if (std::string least = leastVersion(side); !least.empty())
      finding.notes.push_back(least);
    return finding;
  }
  const jit::Nvrtc &nvrtc = **side.nvrtc;
  std::vector<std::string> archs = commonArchs(nvrtc);
  finding.facts = {
      {"version", nvrtc.version()},
      {"path", nvrtc.path()},
      {"found in", nvrtc.place()},
      {"builtins", nvrtc.builtinsName() + (nvrtc.builtinsBeside() ? " beside it" : " elsewhere")},
      {"archs", archs}};
  if (!archs.empty())
    compileEmptyKernel(nvrtc, archs.back(), finding);
  listOthers(side, finding);
  return finding;
}

} // namespace fw::cli
