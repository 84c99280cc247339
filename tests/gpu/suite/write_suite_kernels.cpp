// write-suite-kernels FOLDER NAMES.cpp SCALARS.cpp LIST...: emits into FOLDER the CUDA text of
// every program of the suite for the targets that it runs on. Each LIST names the kernels of one
// bundle; NAMES.cpp has the table by which Twins.cpp finds them. SCALARS.cpp is fw_scalars as host
// code.
#include "compiler/RuntimeKernels.h"
#include "compiler/Stages.h"
#include "ops/ShippedOps.h"
#include "tests/gpu/suite/Programs.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace fw;

namespace {

template <class T> T need(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "write-suite-kernels: %s\n%s\n", render(result.error()).c_str(),
                 result.error().log.c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>)
    return std::move(*result);
}

Request requestOf(const suite::ProgramRow &row, const std::string &target) {
  Request request;
  request.op = row.text.empty() ? need(findShippedOp(row.op))
                                : need(language::parseOp(row.text, "suite.fuse"));
  for (const auto &[operand, dtype] : suite::pairsOf(row.dtypes))
    request.dtypes[operand] = dtype;
  for (const auto &[option, value] : suite::pairsOf(row.options))
    request.options[option] = value;
  for (const std::string &feature : suite::namesOf(row.features))
    request.features.insert(feature);
  request.target = target;
  return request;
}

/// Writes texts and remembers where they are.
class Output {
public:
  Output(const char *into, const char *table, std::vector<std::string> files)
      : folder(std::filesystem::absolute(into)), names(table), lists(files.begin(), files.end()) {
    std::filesystem::create_directories(folder);
    names << "#include \"tests/gpu/suite/TwinNames.h\"\n\n"
          << "const TwinName twinNames[] = {\n";
  }
  ~Output() { names << "    {nullptr, nullptr, nullptr}};\n"; }

  void add(const std::string &program, const std::string &target,
           const std::vector<std::string> &texts) {
    for (size_t k = 0; k < texts.size(); ++k) {
      const std::string file = program + "." + target + "." + std::to_string(k) + ".cu";
      std::ofstream(folder / file) << texts[k];
      lists[count++ % lists.size()] << (folder / file).string() << "\n";
      names << "    {\"" << program << "\", \"" << target << "\", \"" << file << "\"},\n";
    }
  }

private:
  std::filesystem::path folder;
  std::ofstream names;
  std::vector<std::ofstream> lists;
  size_t count = 0;
};

} // namespace

int main(int argc, char **argv) {
  if (argc < 5) {
    std::fprintf(stderr, "write-suite-kernels: expected FOLDER NAMES.cpp SCALARS.cpp LIST...\n");
    return 2;
  }
  Output output(argv[1], argv[2], {argv + 4, argv + argc});
  for (const suite::ProgramRow &row : suite::programRows())
    for (const std::string &target : suite::targetsOf(row))
      output.add(row.name(), target, need(lower(need(resolve(requestOf(row, target))))).sources);
  std::ofstream(argv[3]) << "#include \"tests/emulator/KernelText.h\"\n\n"
                         << need(lowerScalars("sm_90")).sources[0]; // on the host, of every arch
  return 0;
}
