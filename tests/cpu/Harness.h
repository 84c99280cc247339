// Compiles phase-level text and runs it, through the library's C functions as the core does.
#pragma once

#include "compiler/cpu/CpuLibrary.h"

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
                  const void *scalars = nullptr) const {
    ASSERT_TRUE(handle);
    fw_cpu_kernel_function(handle.get())(pointers.data(), begin, end, scalars);
  }

private:
  std::unique_ptr<fw_cpu_kernel, DestroyKernel> handle;
};

/// Bit-equal, except that any NaN equals any NaN (payloads are nobody's promise).
template <class T> bool sameBits(T a, T b) {
  return (a != a && b != b) || std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// An operand row of the program's table.
struct Operand {
  std::string name, role, dtype;
};

/// The text of a program with one kernel @kernel. `slots` are f32/f64 hypers; `body` is the content
/// of fuse.each, in which %slot names are in scope.
inline std::string program(const std::vector<Operand> &operands,
                           const std::vector<std::string> &slots, const std::string &body,
                           const std::string &real = "f32") {
  std::string table, hypers, results, reads;
  for (const Operand &operand : operands)
    table += (table.empty() ? "" : ", ") + ("#fuse.operand<name = \"" + operand.name) +
             "\", role = " + operand.role + ", dtype = \"" + operand.dtype +
             "\", scope = <element>>";
  for (const std::string &slot : slots) {
    hypers += (hypers.empty() ? "" : ", ") + ("#fuse.hyper<name = \"" + slot + "\">");
    results += "%" + slot + " = fuse.scalar \"" + slot + "\" : f64\n  fuse.result \"" + slot +
               "\", %" + slot + " : f64 to " + real + "\n";
    reads += "%" + slot + " = fuse.slot \"" + slot + "\" : " + real + "\n";
  }
  return "module {\nfuse.program @test operands [" + table + "] scalars [" + hypers +
         "] {\nfuse.scalars {\n" + results + "}\nfuse.kernel @kernel elements " + real + " {\n" +
         reads + "fuse.each {\n" + body + "\n}\n}\n}\n}\n";
}

} // namespace fw::cpu::test
