// write-matrix FOLDER BUNDLES LIST...: emits the CUDA text of every row of the matrix into FOLDER
// and writes, for each LIST file, the names of the kernels that its bundle holds.
#include "compiler/Stages.h"
#include "compiler/target/Target.h"
#include "tests/matrix/Rows.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace fw;

static int fail(const Error &error) {
  std::fprintf(stderr, "write-matrix: %s\n%s\n", render(error).c_str(), error.log.c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return fail({Code::USAGE, "expected a folder and list files, got fewer arguments"});
  std::filesystem::create_directories(argv[1]);
  std::vector<std::string> archs;
  for (const target::Arch &arch : target::archs())
    archs.push_back(arch.name);
  auto rows = matrix::matrixRows(archs, "sm_90");
  if (!rows)
    return fail(rows.error());
  std::vector<std::ofstream> lists;
  for (int i = 2; i < argc; ++i)
    lists.emplace_back(argv[i]);
  for (size_t number = 0; number < rows->size(); ++number) {
    auto resolved = resolve((*rows)[number]);
    if (!resolved)
      return fail(resolved.error());
    auto lowered = lower(*resolved);
    if (!lowered)
      return fail(lowered.error());
    const std::string row = matrix::rowName((*rows)[number], number);
    for (size_t kernel = 0; kernel < lowered->sources.size(); ++kernel) {
      std::filesystem::path file =
          std::filesystem::absolute(argv[1]) / matrix::kernelFile(row, kernel);
      std::ofstream(file) << lowered->sources[kernel];
      lists[number % lists.size()] << file.string() << "\n";
    }
  }
  return 0;
}
