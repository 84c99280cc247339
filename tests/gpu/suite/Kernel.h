// A program of the suite, compiled for a GPU and for the CPU.
#pragma once

#include "tests/gpu/suite/Gpu.h"

#include <memory>

namespace suite {

struct OperandInfo {
  std::string name, role, dtype;
  bool read = false, written = false;
  std::string scope = "element";

  bool isElement() const { return scope == "element"; }
  bool isOfAll() const { return scope == "all"; }
};

struct ScalarInfo {
  std::string name, kind;
  bool isStep = false;
  double value = 0; ///< default
};

struct Kernel {
  const ProgramRow *row = nullptr;
  api::Request request; ///< for the GPU
  api::Program gpu, cpu;
  std::vector<OperandInfo> operands;
  std::vector<ScalarInfo> scalars;
  int64_t chunk = 0, vector = 0; ///< of the GPU's last kernel, in elements
  size_t kernels = 0;            ///< on the GPU

  size_t operand(const std::string &name) const;
  /// False for what reduces or has numbers of tensors or of all: sums differ between devices, and
  /// one-shot launches do not have it.
  bool isOnePass() const;
  /// Name of the step; "" where the op has none.
  std::string step() const;
};

/// Requests of a row; `target` as fw_request_target takes it.
api::Request requestOf(fw_context *context, const ProgramRow &row, const std::string &target);

/// Compiled in the shared context and loaded on the device; made once per process.
const Kernel &compiled(const std::string &program, int device = 0);

/// The same in a context of the caller's, not loaded yet.
std::unique_ptr<Kernel> makeKernel(fw_context *context, const std::string &program, int device = 0);

/// For the CPU alone; `row` outlives it.
std::unique_ptr<Kernel> makeCpuKernel(fw_context *context, const ProgramRow &row);

} // namespace suite
