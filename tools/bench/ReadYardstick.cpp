#include "tools/bench/ReadYardstick.h"

#include "compiler/jit/Nvrtc.h"
#include "templates/vocab/launch.h"

#include <atomic>

namespace fw::bench {

namespace {

/// Behind the numbers of a shape; its Read is ReadLaunch. The sink is written for one sum in 2^32,
/// so that no load may be left out.
constexpr const char *body = R"(
typedef unsigned long long u64;
struct Read { u64 address, vectors, policy, sink; };

static __device__ __forceinline__ uint4 loadVector(u64 address, u64 policy) {
  uint4 v;
#if __CUDA_ARCH__ >= 800
  asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(address), "l"(policy));
#else
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(address));
#endif
  return v;
}

extern "C" __global__ void __launch_bounds__(THREADS) SYMBOL(const Read read) {
  const u64 first = blockIdx.x * (u64)BLOCK_VECTORS;
  const u64 end = first + BLOCK_VECTORS < read.vectors ? first + BLOCK_VECTORS : read.vectors;
  unsigned sum = 0;
#pragma unroll 1
  for (u64 i = first + threadIdx.x; i < end; i += THREADS * INFLIGHT) {
    uint4 v[INFLIGHT];
#pragma unroll
    for (int k = 0; k < INFLIGHT; ++k)
      v[k] = i + k * THREADS < end ? loadVector(read.address + 16 * (i + k * THREADS), read.policy)
                                   : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < INFLIGHT; ++k)
      sum += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  if (sum == 0x9E3779B9u)
    *(volatile unsigned *)read.sink = sum;
}
)";

std::string sourceOf(const ReadShape &shape) {
  auto define = [](const char *name, const std::string &value) {
    return std::string("#define ") + name + " " + value + "\n";
  };
  return define("THREADS", std::to_string(shape.threads)) +
         define("INFLIGHT", std::to_string(shape.inflight)) +
         define("BLOCK_VECTORS", std::to_string(shape.blockBytes / ReadLaunch::vectorBytes)) +
         define("SYMBOL", shape.symbol()) + body;
}

} // namespace

Result<std::unique_ptr<ReadYardstick>> ReadYardstick::create(const driver::Driver &driver,
                                                             const std::string &arch) {
  Result<jit::Settings> settings = jit::Settings::read();
  if (!settings)
    return settings.takeError();
  auto nvrtc = jit::Nvrtc::open(*settings);
  if (!nvrtc)
    return nvrtc.takeError();
  std::unique_ptr<ReadYardstick> made(new ReadYardstick(driver));
  for (const ReadShape &shape : ReadShape::all()) {
    const std::string symbol = shape.symbol();
    auto code = (*nvrtc)->compile(sourceOf(shape), symbol + ".cu", arch, (*nvrtc)->flags());
    if (!code)
      return code.takeError();
    made->kernels.push_back({std::move(*code), nullptr, nullptr});
  }
  // Modules keep views of the code, which has its place from here on.
  std::atomic<uint64_t> loads = 0;
  for (size_t k = 0; k < made->kernels.size(); ++k) {
    Kernel &kernel = made->kernels[k];
    const std::string &image = kernel.code.cubin.empty() ? kernel.code.ptx : kernel.code.cubin;
    kernel.module = std::make_unique<driver::Module>(image, ReadShape::all()[k].symbol());
    Result<driver::CUfunction> function = kernel.module->load(driver, loads);
    if (!function)
      return function.takeError();
    kernel.function = *function;
  }
  return made;
}

Result<void> ReadYardstick::launch(const ReadShape &shape, uint64_t address, uint64_t bytes,
                                   uint64_t sink, driver::CUstream stream) const {
  const size_t place = size_t(&shape - ReadShape::all().data());
  ReadLaunch launch = {address, bytes / ReadLaunch::vectorBytes,
                       shape.keepsLast ? L2::EVICT_LAST : L2::NORMAL, sink};
  const auto blocks = unsigned((bytes + shape.blockBytes - 1) / shape.blockBytes);
  void *parameters[] = {&launch};
  return driver::check(cuda,
                       cuda.cu().launchKernel(kernels[place].function, blocks, 1, 1,
                                              unsigned(shape.threads), 1, 1, 0, stream, parameters,
                                              nullptr),
                       "launching a read");
}

} // namespace fw::bench
