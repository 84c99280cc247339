// The kernels of examples/mixed_precision for the fake driver, which finds this library by
// FAKE_CUDA_KERNELS: twins of the suite's library FW_GPU_TWINS, of one program and of fw_scalars.
#include "tests/driver/fake/SuiteTwins.h"

#include <vector>

namespace {

constexpr const char *programs[] = {"adamw_param_bf16_grad_f16_unscale_clip_master_guard",
                                    "fw_scalars"};

std::vector<fake_cuda_kernel> collect() {
  std::vector<fake_cuda_kernel> table;
  fw::driver::fake::FindTwin *find = fw::driver::fake::openTwins();
  for (const char *program : programs)
    for (size_t k = 0; const fake_cuda_kernel *twin = find(program, "sm_90", k); ++k)
      table.push_back(*twin);
  table.push_back({});
  return table;
}

} // namespace

extern "C" FAKE_CUDA_EXPORT const fake_cuda_kernel *fake_cuda_bundle() {
  static const std::vector<fake_cuda_kernel> table = collect();
  return table.data();
}
