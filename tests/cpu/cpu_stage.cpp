// fw-cpu-stage STAGE FEATURES FILE: prints what the CPU backend makes of a phase-level module, for
// the .mlir tests of this folder. Diagnostics go to stdout too, so that FileCheck reads them.
#include "compiler/cpu/CpuLibrary.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

int main(int argc, char **argv) {
  if (argc != 4)
    return std::fputs("usage: fw-cpu-stage STAGE FEATURES FILE\n", stderr), 2;
  std::ifstream file(argv[3]);
  const std::string phases{std::istreambuf_iterator<char>(file), {}};
  fw_cpu_compile_args args = {};
  args.struct_size = sizeof args;
  args.stage = argv[1];
  args.features = argv[2];
  args.phases = phases.data();
  args.phases_size = phases.size();
  fw_cpu_error error = {};
  error.struct_size = sizeof error;
  fw_cpu_bytes *text = nullptr;
  int status = fw_cpu_compile(&args, &text, &error);
  std::fputs(fw_cpu_bytes_data(status == 0 ? text : error.text), stdout);
  for (fw_cpu_bytes *bytes : {text, error.text, error.log})
    fw_cpu_bytes_destroy(bytes);
  return status;
}
