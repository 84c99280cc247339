// Compiles phase-level text and runs it, through the library's C functions as the core does.
#pragma once

#include "compiler/cpu/CpuLibrary.h"
#include "tests/cpu/Program.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace fw::cpu::test {

/// The bytes of a stage; a failure is a test failure with the library's message.
inline std::string compileStage(const std::string &phases, const char *stage,
                                const char *features = nullptr, int unroll = 0) {
  fw_cpu_compile_args args = {};
  args.struct_size = sizeof args;
  args.phases = phases.data();
  args.phases_size = phases.size();
  args.features = features;
  args.stage = stage;
  args.unroll = unroll;
  fw_cpu_error error = {};
  error.struct_size = sizeof error;
  fw_cpu_bytes *bytes = nullptr;
  int status = fw_cpu_compile(&args, &bytes, &error);
  std::string out;
  if (status == 0)
    out.assign(fw_cpu_bytes_data(bytes), fw_cpu_bytes_size(bytes));
  else
    ADD_FAILURE() << (error.text ? fw_cpu_bytes_data(error.text) : "no message") << "\n"
                  << (error.log ? fw_cpu_bytes_data(error.log) : "");
  for (fw_cpu_bytes *each : {bytes, error.text, error.log})
    fw_cpu_bytes_destroy(each);
  return out;
}

/// The message of a compilation that must fail with `status`.
inline std::string compileError(const std::string &phases, int status,
                                const char *features = nullptr, const char *stage = "object") {
  fw_cpu_compile_args args = {};
  args.struct_size = sizeof args;
  args.phases = phases.data();
  args.phases_size = phases.size();
  args.features = features;
  args.stage = stage;
  fw_cpu_error error = {};
  error.struct_size = sizeof error;
  fw_cpu_bytes *bytes = nullptr;
  EXPECT_EQ(fw_cpu_compile(&args, &bytes, &error), status);
  std::string out = error.text ? fw_cpu_bytes_data(error.text) : "";
  for (fw_cpu_bytes *each : {bytes, error.text, error.log})
    fw_cpu_bytes_destroy(each);
  return out;
}

struct DestroyKernel {
  void operator()(fw_cpu_kernel *kernel) const { fw_cpu_kernel_destroy(kernel); }
};

/// A kernel ready to be called.
class Kernel {
public:
  explicit Kernel(const std::string &phases, const char *symbol = "kernel",
                  const char *features = nullptr, int unroll = 0) {
    std::string object = compileStage(phases, "object", features, unroll);
    fw_cpu_error error = {};
    error.struct_size = sizeof error;
    fw_cpu_kernel *raw = nullptr;
    if (fw_cpu_link(object.data(), object.size(), symbol, &raw, &error) != 0)
      ADD_FAILURE() << (error.text ? fw_cpu_bytes_data(error.text) : "no message");
    fw_cpu_bytes_destroy(error.text);
    fw_cpu_bytes_destroy(error.log);
    handle.reset(raw);
  }

  void operator()(const std::vector<const void *> &pointers, int64_t begin, int64_t end,
                  const void *scalars = nullptr, double *results = nullptr) const {
    ASSERT_TRUE(handle);
    fw_cpu_kernel_function(handle.get())(pointers.data(), begin, end, scalars, results);
  }

private:
  std::unique_ptr<fw_cpu_kernel, DestroyKernel> handle;
};

/// The feature sets under which numbers must not change: the host's, and on x86-64 half as wide
/// vectors, with and without the hardware's f16 conversion.
inline std::vector<std::string> testedFeatures() {
  std::vector<std::string> out = {fw_cpu_host_features()};
#if defined(__x86_64__)
  out.insert(out.end(), {"x86-64+avx+avx2+fma+f16c", "x86-64+avx+avx2+fma"});
#endif
  return out;
}

/// Bit-equal, except that any NaN equals any NaN (payloads are nobody's promise).
template <class T> bool sameBits(T a, T b) {
  return (a != a && b != b) || std::memcmp(&a, &b, sizeof(T)) == 0;
}

} // namespace fw::cpu::test
