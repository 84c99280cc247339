// write_rows FOLDER ARCH FILE [--cubins]: kernels of the sample ops of pattern `rows`, one NAME.cu
// per line of FILE (tests/rows/Samples.h), manifest.json and the same for a C++ program in
// STEM-OF-FILE.inc. A line may end in ";; FROM ;; TO": a mutant, where FROM, which must stand in
// its text once, is TO. With --cubins, NAME.cubin too, with the registers and spills that the
// compiler reports.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "compiler/jit/Nvrtc.h"
#include "tests/rows/Samples.h"

namespace {

using namespace fw;

int fail(const Error &error) {
  fprintf(stderr, "%s\n%s\n", render(error).c_str(), error.log.c_str());
  return static_cast<int>(error.code);
}

Result<jit::CompiledKernel> compile(const jit::Nvrtc &nvrtc, const rows::Sample &sample,
                                    const target::Arch &arch) {
  return nvrtc.compile(sample.text, sample.spec.name + ".cu", target::compileName(arch),
                       nvrtc.flags());
}

/// The same sample by the other candidate of its schedule, if it has one.
std::optional<rows::Sample> otherCandidate(const rows::Sample &sample, const target::Arch &arch) {
  const auto schedule = passes::otherCandidate(sample.schedule);
  if (!schedule)
    return std::nullopt;
  const bool isFresh = schedule->fresh != sample.schedule.fresh;
  const char *decision = isFresh ? "fresh" : "blocks_per_sm";
  if (sample.spec.overrides.contains(decision))
    return std::nullopt;
  rows::Spec spec = sample.spec;
  spec.overrides[decision] = isFresh ? 1 : schedule->blocksPerSm;
  Result<rows::Sample> other = rows::makeSample(spec, arch);
  if (!other)
    return std::nullopt;
  other->spec.overrides = sample.spec.overrides;
  return *other;
}

/// Compiles a sample, and where it spills its other candidate: `sample` becomes the one with fewer
/// bytes of spills. The fields of the manifest that tell how that went.
Result<std::string> compile(const jit::Nvrtc &nvrtc, rows::Sample &sample, const target::Arch &arch,
                            const std::string &stem) {
  Result<jit::CompiledKernel> kernel = compile(nvrtc, sample, arch);
  if (!kernel)
    return kernel.takeError();
  if (const auto spills = kernel->resources.at(0).spillBytes; spills > 0)
    if (std::optional<rows::Sample> other = otherCandidate(sample, arch)) {
      Result<jit::CompiledKernel> second = compile(nvrtc, *other, arch);
      if (!second)
        return second.takeError();
      if (second->resources.at(0).spillBytes < spills)
        sample = std::move(*other), kernel = std::move(second);
    }
  std::ofstream(stem + ".cubin", std::ios::binary) << kernel->cubin;
  const jit::KernelResources &use = kernel->resources.at(0);
  const std::string numbers = ", \"registers\": " + std::to_string(use.registers) +
                              ", \"spills\": " + std::to_string(use.spillBytes) +
                              ", \"stack\": " + std::to_string(use.stackBytes) +
                              ", \"ms\": " + std::to_string(static_cast<int>(kernel->milliseconds));
  printf("%s%s}\n", rows::describe(sample).c_str(), numbers.c_str());
  fflush(stdout);
  return numbers;
}

/// A line of the file in its three parts.
std::vector<std::string> partsOf(const std::string &line) {
  constexpr std::string_view SEPARATOR = " ;; ";
  std::vector<std::string> parts;
  size_t from = 0;
  for (size_t at; (at = line.find(SEPARATOR, from)) != line.npos; from = at + SEPARATOR.size())
    parts.push_back(line.substr(from, at - from));
  parts.push_back(line.substr(from));
  for (std::string &part : parts)
    for (size_t at; (at = part.find("\\n")) != part.npos;)
      part.replace(at, 2, "\n");
  return parts;
}

Result<rows::Sample> sampleOf(const std::vector<std::string> &parts, const target::Arch &arch) {
  Result<rows::Spec> spec = rows::parseSpec(parts[0]);
  if (!spec)
    return spec.takeError();
  Result<rows::Sample> sample = rows::makeSample(*spec, arch);
  if (!sample || parts.size() == 1)
    return sample;
  const size_t at = sample->text.find(parts.at(1));
  if (at == std::string::npos || sample->text.find(parts[1], at + 1) != std::string::npos)
    return Error{.code = Code::USAGE,
                 .text = "expected '" + parts[1] + "' exactly once in the kernel",
                 .remedy = "correct the mutant"};
  sample->text.replace(at, parts[1].size(), parts.at(2));
  return sample;
}

std::vector<std::string> linesOf(const std::string &file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#')
      lines.push_back(line);
  return lines;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4)
    return fprintf(stderr, "usage: write_rows FOLDER ARCH FILE [--cubins]\n"), 2;
  const std::string folder = argv[1], file = argv[3];
  Result<const target::Arch *> arch = target::findArch(argv[2]);
  if (!arch)
    return fail(arch.error());
  std::shared_ptr<const jit::Nvrtc> nvrtc;
  if (argc > 4) {
    auto opened = jit::Nvrtc::open(*jit::Settings::read());
    if (!opened)
      return fail(opened.error());
    nvrtc = *opened;
  }

  std::string manifest, table;
  for (const std::string &line : linesOf(file)) {
    const std::vector<std::string> parts = partsOf(line);
    Result<rows::Sample> sample = sampleOf(parts, **arch);
    if (!sample)
      return fprintf(stderr, "%s\n", line.c_str()), fail(sample.error());
    const std::string stem = folder + "/" + sample->spec.name;
    std::string numbers;
    if (nvrtc) {
      Result<std::string> compiled = compile(*nvrtc, *sample, **arch, stem);
      if (!compiled)
        return fprintf(stderr, "%s\n", line.c_str()), fail(compiled.error());
      numbers = *compiled;
    }
    std::ofstream(stem + ".cu") << sample->text;
    manifest += (manifest.empty() ? "" : ",\n") + rows::describe(*sample) + numbers + "}";
    table += "R\"(" + parts[0] + ")\",\n";
  }
  std::ofstream(folder + "/" + std::filesystem::path(file).stem().string() + ".inc") << table;
  return std::ofstream(folder + "/manifest.json") << "[\n" << manifest << "\n]\n" ? 0 : 1;
}
