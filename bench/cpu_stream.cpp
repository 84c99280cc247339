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

double best(int rounds, const std::function<void()> &work) {
  double least = 1e30;
  for (int i = 0; i < rounds; ++i)
    least = std::min(least, millisecondsOf(work));
  return least;
}

double median(int rounds, const std::function<void()> &work) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i)
    times.push_back(millisecondsOf(work));
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[rounds / 2];
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

struct Tensors {
  explicit Tensors(int64_t n) : p(n, 1), g(n, 0.01f), m(n, 0.1f), v(n, 0.1f) {}
  std::vector<float> p, g, m, v;
};

} // namespace

int main(int argc, char **argv) {
  const int64_t n = argc > 1 ? std::atoll(argv[1]) : int64_t{1} << 24;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
  const unsigned threads = argc > 3 ? std::atoi(argv[3]) : std::thread::hardware_concurrency();
  const std::string phases = fw::cpu::test::adamwProgram("f32");
  double first = 0, compile = 0, link = 0;
  fw_cpu_bytes *object = nullptr;
  first = millisecondsOf([&] { object = compileObject(phases); });
  compile = median(21, [&] { fw_cpu_bytes_destroy(compileObject(phases)); });
  link = median(21, [&] { fw_cpu_kernel_destroy(linkObject(object)); });
  fw_cpu_kernel *kernel = linkObject(object);
  fw_cpu_function function = fw_cpu_kernel_function(kernel);

  Tensors t(n);
  fw::cpu::test::AdamwScalars scalars;
  const void *pointers[] = {t.p.data(), t.g.data(), t.m.data(), t.v.data()};
  auto adamw = [&](int64_t begin, int64_t end) { function(pointers, begin, end, &scalars); };
  auto bare = [&](int64_t begin, int64_t end) {
    stream(t.p.data(), t.g.data(), t.m.data(), t.v.data(), begin, end);
  };
  double bareMs = 1e30, adamwMs = 1e30;
  for (int i = 0; i < rounds; ++i) { // in turn, so that a slow minute of the machine meets both
    bareMs = std::min(bareMs, best(1, [&] { onAllCores(threads, n, bare); }));
    adamwMs = std::min(adamwMs, best(1, [&] { onAllCores(threads, n, adamw); }));
  }
  const double gigabytes = 28.0 * static_cast<double>(n) * 1e-9;
  std::printf(
      "{\"bench\": \"cpu_stream\", \"features\": \"%s\", \"elements\": %lld, \"threads\": %u, "
      "\"stream_gbps\": %.2f, \"adamw_gbps\": %.2f, \"percent\": %.1f, "
      "\"first_compile_ms\": %.2f, \"compile_ms\": %.2f, \"link_ms\": %.2f, "
      "\"object_bytes\": %zu}\n",
      fw_cpu_host_features(), static_cast<long long>(n), threads, gigabytes / bareMs * 1e3,
      gigabytes / adamwMs * 1e3, 100 * bareMs / adamwMs, first, compile, link,
      fw_cpu_bytes_size(object));
  fw_cpu_kernel_destroy(kernel);
  fw_cpu_bytes_destroy(object);
  return 0;
}
