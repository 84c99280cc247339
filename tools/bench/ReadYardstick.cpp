#include "tools/bench/ReadYardstick.h"

#include "compiler/jit/Nvrtc.h"
#include "templates/vocab/launch.h"

#include <atomic>

namespace fw::bench {

namespace {

/// What the kernel takes; as `struct Read` of its text.
struct ReadLaunch {
  uint64_t address, vectors, policy, sink;
};

constexpr uint64_t vectorBytes = 16;

/// Behind the numbers of a shape. The sink is written for one sum in 2^32, so that no load may be
/// left out.
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

std::string symbolOf(const ReadYardstick::Shape &shape) {
  return "fw_bench_read_" + std::to_string(shape.threads) + "x" + std::to_string(shape.inflight) +
         "_" + std::to_string(shape.blockBytes >> 10) + "k" + (shape.keepsLast ? "_last" : "");
}

std::string sourceOf(const ReadYardstick::Shape &shape) {
  auto define = [](const char *name, const std::string &value) {
    return std::string("#define ") + name + " " + value + "\n";
  };
  return define("THREADS", std::to_string(shape.threads)) +
         define("INFLIGHT", std::to_string(shape.inflight)) +
         define("BLOCK_VECTORS", std::to_string(shape.blockBytes / vectorBytes)) +
         define("SYMBOL", symbolOf(shape)) + body;
}

} // namespace

std::string ReadYardstick::Shape::text() const {
  return std::to_string(threads) + " threads, " + std::to_string(inflight) +
         " x 16 bytes in flight, blocks of " + std::to_string(blockBytes >> 10) + " KiB" +
         (keepsLast ? ", evict_last" : "");
}

std::span<const ReadYardstick::Shape> ReadYardstick::shapes() {
  constexpr uint64_t kib = 1024;
  static constexpr Shape all[] = {
      {512, 4, 256 * kib, true}, {512, 4, 256 * kib, false}, {512, 8, 256 * kib, true},
      {256, 8, 128 * kib, true}, {256, 4, 64 * kib, true},   {1024, 4, 256 * kib, true},
  };
  return all;
}

Result<std::unique_ptr<ReadYardstick>> ReadYardstick::create(const driver::Driver &driver,
                                                             const std::string &arch) {
  Result<jit::Settings> settings = jit::Settings::read();
  if (!settings)
    return settings.takeError();
  auto nvrtc = jit::Nvrtc::open(*settings);
  if (!nvrtc)
    return nvrtc.takeError();
  std::unique_ptr<ReadYardstick> made(new ReadYardstick(driver));
  for (const Shape &shape : shapes()) {
    const std::string symbol = symbolOf(shape);
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
    kernel.module = std::make_unique<driver::Module>(image, symbolOf(shapes()[k]));
    Result<driver::CUfunction> function = kernel.module->load(driver, loads);
    if (!function)
      return function.takeError();
    kernel.function = *function;
  }
  return made;
}

Result<void> ReadYardstick::launch(const Shape &shape, uint64_t address, uint64_t bytes,
                                   uint64_t sink, driver::CUstream stream) const {
  const size_t place = size_t(&shape - shapes().data());
  ReadLaunch launch = {address, bytes / vectorBytes, shape.keepsLast ? L2::EVICT_LAST : L2::NORMAL,
                       sink};
  const auto blocks = unsigned((bytes + shape.blockBytes - 1) / shape.blockBytes);
  void *parameters[] = {&launch};
  return driver::check(cuda,
                       cuda.cu().launchKernel(kernels[place].function, blocks, 1, 1,
                                              unsigned(shape.threads), 1, 1, 0, stream, parameters,
                                              nullptr),
                       "launching a read");
}

} // namespace fw::bench
