#include "compiler/Dump.h"

#include <filesystem>
#include <fstream>

namespace fw {

namespace {

// Leaves room for key and stage in the 255 bytes of a file's name.
constexpr size_t kLongestSymbol = 200;
constexpr size_t kKeyDigits = 12;

bool write(const std::filesystem::path &file, const std::string &text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  return bool(out.flush());
}

} // namespace

void dump(const DumpInput &input, const jit::Reporter &reporter) {
  const std::vector<jit::KernelRecord> &kernels = input.lowered.record.kernels;
  auto stem = [&](size_t kernel) {
    return kernels[kernel].launch.symbol.substr(0, kLongestSymbol) + "-" +
           input.key.substr(0, kKeyDigits) + ".";
  };
  std::vector<StageText> files;
  for (const StageText &stage : input.lowered.stages)
    files.push_back({stem(0) + stage.name, stage.text});
  for (size_t i = 0; i < input.lowered.sources.size(); ++i)
    files.push_back({stem(i) + "cu", input.lowered.sources[i]});
  if (auto text = input.machineText(); text)
    files.push_back({stem(0) + input.machineStage, std::move(*text)});

  std::error_code ignored; // what cannot be made cannot be written to either
  std::filesystem::create_directories(input.folder, ignored);
  for (const StageText &file : files)
    if (!write(std::filesystem::path(input.folder) / file.name, file.text))
      reporter.sayOnce(jit::Severity::Warning, "dump",
                       "expected FUSEWRIGHT_DUMP to name a folder that can be written, got '" +
                           input.folder + "'; nothing is dumped there");
}

} // namespace fw
