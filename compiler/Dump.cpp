#include "compiler/Dump.h"

#include <filesystem>
#include <fstream>

namespace fw {

static void write(const std::filesystem::path &file, const std::string &text) {
  if (!text.empty())
    std::ofstream(file, std::ios::binary) << text;
}

void dump(const jit::Settings &settings, const ResolvedRequest &request, const Lowered &lowered) {
  const std::string &folder = settings.text(jit::Knob::dump);
  if (folder.empty())
    return;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  for (size_t i = 0; i < lowered.record.kernels.size(); ++i) {
    std::string stem = lowered.record.kernels[i].launch.symbol + "." + request.request.target;
    std::filesystem::path base = std::filesystem::path(folder) / stem;
    write(base.string() + ".request", request.canonicalText);
    write(base.string() + ".phases.mlir", lowered.phases);
    if (i < lowered.sources.size())
      write(base.string() + ".cu", lowered.sources[i]);
  }
}

} // namespace fw
