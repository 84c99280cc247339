// H8: the CPU backend's AdamW (28 bytes an element) against a bare stream of the same four reads
// and three writes, on all cores; and how long the compilation takes. Prints JSON.
#include "compiler/cpu/CpuLibrary.h"
#include "tests/cpu/Adamw.h"
#include "tests/cpu/Program.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double millisecondsOf(const std::function<void()> &work) {
  auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

double medianMilliseconds(int rounds, const std::function<void()> &work) {
  std::vector<double> times(rounds);
  for (double &time : times)
    time = millisecondsOf(work);
  return median(times);
}

#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void stream(float *__restrict p, const float *__restrict g, float *__restrict m,
            float *__restrict v, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    float x = g[i];
    p[i] += x;
    m[i] += x;
    v[i] += x;
  }
}

/// `range` over equal shares of n elements, one a thread.
void onAllCores(unsigned threads, int64_t n, const std::function<void(int64_t, int64_t)> &range) {
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < threads; ++t)
    pool.emplace_back(range, n * t / threads, n * (t + 1) / threads);
  for (std::thread &thread : pool)
    thread.join();
}

fw_cpu_bytes *compileObject(const std::string &phases) {
  fw_cpu_compile_args args = {};
  args.struct_size = sizeof args;
  args.phases = phases.data();
  args.phases_size = phases.size();
  fw_cpu_bytes *object = nullptr;
  if (fw_cpu_compile(&args, &object, nullptr) != 0)
    std::abort();
  return object;
}

fw_cpu_kernel *linkObject(const fw_cpu_bytes *object) {
  fw_cpu_kernel *kernel = nullptr;
  if (fw_cpu_link(fw_cpu_bytes_data(object), fw_cpu_bytes_size(object), "kernel", &kernel, nullptr))
    std::abort();
  return kernel;
}

/// Memory as frameworks allocate it: at a multiple of 64 bytes; `shift` bytes off in the second
/// measurement, as the allocator of the C library leaves large blocks.
class Tensor {
public:
  Tensor(int64_t n, float value, size_t shift)
      : base(std::aligned_alloc(4096, (n * sizeof(float) + shift + 8191) / 4096 * 4096)),
        elements(reinterpret_cast<float *>(static_cast<char *>(base) + shift)) {
    std::fill(elements, elements + n, value);
  }
  ~Tensor() { std::free(base); }
  Tensor(const Tensor &) = delete;
  float *data() { return elements; }

private:
  void *base;
  float *elements;
};

struct Tensors {
  Tensors(int64_t n, size_t shift)
      : p(n, 1, shift), g(n, 0.01f, shift), m(n, 0.1f, shift), v(n, 0.1f, shift) {}
  Tensor p, g, m, v;
};

struct Rates {
  double stream, adamw; ///< GB/s, best of all rounds
  double percent;       ///< of the stream's rate, median over the rounds
};

/// Both kernels in turn, so that a slow moment of the machine meets both.
Rates measure(fw_cpu_function function, int64_t n, int rounds, unsigned threads, size_t shift) {
  Tensors t(n, shift);
  fw::cpu::test::AdamwScalars scalars;
  const void *pointers[] = {t.p.data(), t.g.data(), t.m.data(), t.v.data()};
  auto adamw = [&](int64_t begin, int64_t end) {
    function(pointers, begin, end, &scalars, nullptr);
  };
  auto bare = [&](int64_t begin, int64_t end) {
    stream(t.p.data(), t.g.data(), t.m.data(), t.v.data(), begin, end);
  };
  std::vector<double> bareMs, adamwMs, percents;
  for (int i = 0; i < rounds; ++i) {
    bareMs.push_back(millisecondsOf([&] { onAllCores(threads, n, bare); }));
    adamwMs.push_back(millisecondsOf([&] { onAllCores(threads, n, adamw); }));
    percents.push_back(100 * bareMs.back() / adamwMs.back());
  }
  const double megabytes = 28.0 * static_cast<double>(n) * 1e-6;
  return {megabytes / *std::min_element(bareMs.begin(), bareMs.end()),
          megabytes / *std::min_element(adamwMs.begin(), adamwMs.end()), median(percents)};
}

} // namespace

int main(int argc, char **argv) {
  const int64_t n = argc > 1 ? std::atoll(argv[1]) : int64_t{1} << 24;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 41;
  const unsigned threads = argc > 3 ? std::atoi(argv[3]) : std::thread::hardware_concurrency();
  const std::string phases = fw::cpu::test::adamwProgram("f32");
  double first = 0, compile = 0, link = 0;
  fw_cpu_bytes *object = nullptr;
  first = millisecondsOf([&] { object = compileObject(phases); });
  compile = medianMilliseconds(21, [&] { fw_cpu_bytes_destroy(compileObject(phases)); });
  link = medianMilliseconds(21, [&] { fw_cpu_kernel_destroy(linkObject(object)); });
  fw_cpu_kernel *kernel = linkObject(object);
  fw_cpu_function function = fw_cpu_kernel_function(kernel);
  const Rates aligned = measure(function, n, rounds, threads, 0);
  const Rates shifted = measure(function, n, rounds, threads, 16);
  std::printf(
      "{\"bench\": \"cpu_stream\", \"features\": \"%s\", \"elements\": %lld, \"threads\": %u, "
      "\"stream_gbps\": %.2f, \"adamw_gbps\": %.2f, \"percent\": %.1f, "
      "\"shifted_stream_gbps\": %.2f, \"shifted_adamw_gbps\": %.2f, \"shifted_percent\": %.1f, "
      "\"first_compile_ms\": %.2f, \"compile_ms\": %.2f, \"link_ms\": %.2f, "
      "\"object_bytes\": %zu}\n",
      fw_cpu_host_features(), static_cast<long long>(n), threads, aligned.stream, aligned.adamw,
      aligned.percent, shifted.stream, shifted.adamw, shifted.percent, first, compile, link,
      fw_cpu_bytes_size(object));
  fw_cpu_kernel_destroy(kernel);
  fw_cpu_bytes_destroy(object);
  return 0;
}
