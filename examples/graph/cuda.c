#include "cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_DEVICE = 4 };

void cuda_check(int result, const char *what) {
  if (result == 0)
    return;
  fprintf(stderr, "error: %s: expected success, got CUDA error %d\n", what, result);
  exit(EXIT_DEVICE);
}

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) {
    fprintf(stderr, "error: expected a CUDA driver of version 12 or newer, got one without %s\n",
            name);
    exit(EXIT_DEVICE);
  }
  return found;
}

cuda cuda_open(void) {
  cuda cu;
  cu_handle context;
  const char *path = getenv("FUSEWRIGHT_CUDA_DRIVER");
  void *library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW);
  if (!library) {
    fprintf(stderr,
            "error: expected a CUDA driver, got none: %s; this example needs an NVIDIA GPU\n",
            dlerror());
    exit(EXIT_DEVICE);
  }
  /* C has no conversion between object and function pointers: dlsym's result is copied. */
#define FIND(member, name)                                                                         \
  do {                                                                                             \
    void *found = symbol(library, name);                                                           \
    memcpy(&cu.member, &found, sizeof found);                                                      \
  } while (0)
  FIND(init, "cuInit");
  FIND(primary_retain, "cuDevicePrimaryCtxRetain");
  FIND(set_current, "cuCtxSetCurrent");
  FIND(stream_create, "cuStreamCreate");
  FIND(stream_destroy, "cuStreamDestroy_v2");
  FIND(stream_synchronize, "cuStreamSynchronize");
  FIND(begin_capture, "cuStreamBeginCapture_v2");
  FIND(end_capture, "cuStreamEndCapture");
  FIND(instantiate, "cuGraphInstantiateWithFlags");
  FIND(graph_launch, "cuGraphLaunch");
  FIND(executable_destroy, "cuGraphExecDestroy");
  FIND(graph_destroy, "cuGraphDestroy");
#undef FIND
  cuda_check(cu.init(0), "cuInit");
  cuda_check(cu.primary_retain(&context, 0), "cuDevicePrimaryCtxRetain");
  cuda_check(cu.set_current(context), "cuCtxSetCurrent");
  return cu;
}
