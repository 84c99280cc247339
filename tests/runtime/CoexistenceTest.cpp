// Beside another LLVM: a program loads LLVM and MLIR for everybody to see, then libfusewright,
// which must not take a symbol from them. Not linked with the library.
//
// usage: coexistence-test LIBFUSEWRIGHT OTHER-LIBRARY...
#include "fusewright/fusewright.h"

#include <cmath>
#include <cstdio>
#include <dlfcn.h>

namespace {

template <class Function> Function *call(void *library, const char *name) {
  return reinterpret_cast<Function *>(dlsym(library, name));
}

/// adamw's first step with gradient 1 moves p by lr.
int trainOneStep(void *library) {
#define CALL(name) call<decltype(name)>(library, #name)
  fw_context *context = nullptr;
  fw_op *op = nullptr;
  fw_request *request = nullptr;
  fw_program *program = nullptr;
  fw_status status = CALL(fw_context_create)(nullptr, &context);
  status = status ? status : CALL(fw_op_find)(context, "adamw", &op);
  status = status ? status : CALL(fw_request_create)(op, &request);
  status = status ? status : CALL(fw_compile)(context, request, &program);
  float data[4][5] = {{}, {1, 1, 1, 1, 1}, {}, {}};
  const int64_t count = 5;
  fw_tensor tensors[4] = {};
  for (int k = 0; k < 4; ++k) {
    tensors[k].struct_size = sizeof tensors[k];
    tensors[k].device = FW_DEVICE_CPU;
    tensors[k].rank = 1;
    tensors[k].dtype = "f32";
    tensors[k].data = data[k];
    tensors[k].shape = &count;
  }
  fw_scalar scalars[] = {{sizeof(fw_scalar), 0, "t", 1, nullptr, 0},
                         {sizeof(fw_scalar), 0, "lr", 0.5, nullptr, 0}};
  status = status ? status : CALL(fw_launch)(context, program, tensors, 4, scalars, 2, nullptr);
  if (status) {
    std::fprintf(stderr, "error: %s\n", CALL(fw_last_error)()->text);
    return 1;
  }
  std::printf("p moved by %g, expected -0.5\n", double(data[0][4]));
  return std::abs(data[0][4] + 0.5f) < 1e-6f ? 0 : 1;
#undef CALL
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  int loaded = 0;
  for (int i = 2; i < argc; ++i)
    loaded += dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL) != nullptr;
  if (argc > 2 && loaded == 0) {
    std::printf("skipped: no shared LLVM is installed\n");
    return 77;
  }
  std::printf("%d other libraries loaded\n", loaded);
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "error: %s\n", dlerror());
    return 1;
  }
  return trainOneStep(library);
}
