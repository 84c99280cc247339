// What a fresh process pays: opening libfusewright, its first program from a warm cache, and a
// hundred of them. Run by bench-host, which made the cache; prints three numbers in milliseconds.
//
// usage: bench-load LIBRARY TARGET OP-FILE
#include "fusewright/fusewright.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// The calls that the measurement needs, from a library that this program is not linked with.
struct Library {
  explicit Library(const char *path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle) {
      std::fprintf(stderr, "error: %s\n", dlerror());
      std::exit(5);
    }
  }
  template <class Function> Function *call(const char *name) const {
    return reinterpret_cast<Function *>(dlsym(handle, name));
  }
  void *handle;
};

void check(const Library &library, fw_status status) {
  if (status == FW_OK)
    return;
  std::fprintf(stderr, "error: %s\n",
               library.call<decltype(fw_last_error)>("fw_last_error")()->text);
  std::exit(int(status));
}

/// The ops of a file, each ending with a line "}".
std::vector<std::string> opsOf(const char *path) {
  std::ifstream file(path);
  std::vector<std::string> ops = {""};
  for (std::string line; std::getline(file, line);) {
    ops.back() += line + "\n";
    if (line == "}")
      ops.emplace_back();
  }
  ops.pop_back();
  return ops;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench-load LIBRARY TARGET OP-FILE\n");
    return 2;
  }
  const std::vector<std::string> ops = opsOf(argv[3]);
  auto start = Clock::now();
  Library library(argv[1]);
  double load = millisecondsSince(start);

  auto parse = library.call<decltype(fw_op_parse)>("fw_op_parse");
  auto create = library.call<decltype(fw_request_create)>("fw_request_create");
  auto target = library.call<decltype(fw_request_target)>("fw_request_target");
  auto compile = library.call<decltype(fw_compile)>("fw_compile");
  double first = 0;
  start = Clock::now();
  fw_context *context = nullptr;
  check(library, library.call<decltype(fw_context_create)>("fw_context_create")(nullptr, &context));
  for (const std::string &text : ops) {
    fw_op *op = nullptr;
    fw_request *request = nullptr;
    fw_program *program = nullptr;
    check(library, parse(context, text.data(), text.size(), "bench.fuse", nullptr, &op));
    check(library, create(op, &request));
    check(library, target(request, argv[2]));
    check(library, compile(context, request, &program));
    if (first == 0)
      first = millisecondsSince(start);
  }
  std::printf("%.4f %.4f %.4f\n", load, first, millisecondsSince(start));
}
