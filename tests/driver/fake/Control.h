/* What a test can do to the fake driver; found with dlsym, or linked. Every call is thread-safe. */
#ifndef FUSEWRIGHT_TESTS_FAKE_CUDA_CONTROL_H
#define FUSEWRIGHT_TESTS_FAKE_CUDA_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One launch of a kernel, as its host twin sees it. */
typedef struct fake_cuda_launch {
  const void *parameters; /**< parameterBytes of them */
  unsigned grid, threads;
  uint64_t seed;
} fake_cuda_launch;

/** The host twin of a kernel that takes one struct. */
typedef struct fake_cuda_kernel {
  const char *symbol;
  unsigned threads; /**< of a block */
  size_t parameterBytes;
  const void *self; /**< handed to `run` */
  /** Runs a whole launch. What went wrong, or null; the text must stay until the thread's next. */
  const char *(*run)(const void *self, const fake_cuda_launch *launch);
} fake_cuda_kernel;

/** A shared object named in FAKE_CUDA_KERNELS (several: ':' between) exports this function as
 * `fake_cuda_bundle`; its table ends with a row without symbol. cuInit registers it. */
typedef const fake_cuda_kernel *(*fake_cuda_bundle_function)(void);

typedef struct fake_cuda_counts {
  uint64_t launches;               /**< kernels that were launched, from graphs too */
  uint64_t libraryLoads, jitLoads; /**< machine code; PTX */
  uint64_t kernelLoads;            /**< of a kernel into a context */
  /** Calls that waited though asynchronous by name: pageable copies to the host, pageable copies of
   * more than 64 KB to the device, frees. */
  uint64_t implicitSynchronisations;
} fake_cuda_counts;

#define FAKE_CUDA_EXPORT __attribute__((visibility("default")))
#define FAKE_CUDA(result, name, arguments) FAKE_CUDA_EXPORT result fake_cuda_##name arguments;
#include "tests/driver/fake/control.def"
#undef FAKE_CUDA

#ifdef __cplusplus
}
#endif
#endif
