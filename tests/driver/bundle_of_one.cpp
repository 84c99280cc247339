// A shared object with a kernel's twin, as FAKE_CUDA_KERNELS names them.
#include "tests/driver/fake/Control.h"

namespace {

const char *fill(const void *, const fake_cuda_launch *launch) {
  int *data = *static_cast<int *const *>(launch->parameters);
  for (unsigned block = 0; block < launch->grid; ++block)
    data[block] = 77;
  return nullptr;
}

const fake_cuda_kernel table[] = {{"from_a_file", 1, sizeof(int *), nullptr, fill}, {}};

} // namespace

extern "C" FAKE_CUDA_EXPORT const fake_cuda_kernel *fake_cuda_bundle() { return table; }
