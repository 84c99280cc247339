// The kernels that test_bench.py runs on the fake driver, which finds this library by
// FAKE_CUDA_KERNELS: twins of the suite's library FW_GPU_TWINS, and those of the bare reads.
#include "tests/driver/fake/SuiteTwins.h"

#include "tools/bench/ReadShape.h"

#include <cstring>
#include <list>
#include <vector>

namespace {

using fw::bench::ReadLaunch;
using fw::bench::ReadShape;

constexpr const char *programs[] = {"adamw_unscale_clip_guard", "l2norm"};

/// Reads the very bytes, so that one outside of an allocation is found, and checks the grid.
const char *runRead(const void *self, const fake_cuda_launch *launch) {
  const auto &shape = *static_cast<const ReadShape *>(self);
  ReadLaunch read;
  std::memcpy(&read, launch->parameters, sizeof read);
  const uint64_t bytes = read.vectors * ReadLaunch::vectorBytes;
  if (launch->grid * shape.blockBytes < bytes || (launch->grid - 1) * shape.blockBytes >= bytes)
    return "expected as many blocks as the bytes need";
  const auto *at = reinterpret_cast<const volatile unsigned char *>(read.address);
  for (uint64_t i = 0; i < bytes; ++i)
    (void)at[i];
  return nullptr;
}

std::vector<fake_cuda_kernel> collect() {
  static std::list<std::string> symbols;
  std::vector<fake_cuda_kernel> table;
  fw::driver::fake::FindTwin *find = fw::driver::fake::openTwins();
  for (const char *program : programs)
    for (size_t k = 0; const fake_cuda_kernel *twin = find(program, "sm_90", k); ++k)
      table.push_back(*twin);
  for (const ReadShape &shape : ReadShape::all()) {
    symbols.push_back(shape.symbol());
    table.push_back(
        {symbols.back().c_str(), unsigned(shape.threads), sizeof(ReadLaunch), &shape, runRead});
  }
  table.push_back({});
  return table;
}

} // namespace

extern "C" FAKE_CUDA_EXPORT const fake_cuda_kernel *fake_cuda_bundle() {
  static const std::vector<fake_cuda_kernel> table = collect();
  return table.data();
}
