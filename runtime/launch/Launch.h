// A launch on the CPU: check everything, then run the kernels over the list.
#pragma once

#include "compiler/support/Threads.h"
#include "runtime/launch/Scalars.h"
#include "runtime/launch/Tensors.h"
#include "runtime/launch/Work.h"

#include <functional>

namespace fw::launch {

/// A kernel's function over elements [begin, end) of one run; `scalars` is a row of its slots.
using KernelFunction = void (*)(const void *const *pointers, int64_t begin, int64_t end,
                                const void *scalars);

struct Kernel {
  KernelFunction function = nullptr;
  std::vector<uint32_t> operands; ///< columns of its pointer array, as places in Program::operands
  size_t slots = 0;
  bool doubleScalars = false; ///< slots are f64, else f32
};

/// What a launch needs to know of a program. Immutable.
struct Program {
  std::vector<Operand> operands;
  std::vector<Hyper> hypers;
  std::vector<Kernel> kernels;
  /// Slots of the scalar program from the values of `hypers`, in f64.
  std::function<void(std::span<const double> hypers, std::span<double> slots)> scalarProgram;
};

struct Executor {
  unsigned threads = 1; ///< that `parallelFor` may have
  ParallelFor parallelFor;
};

/// A checked list with its split into work.
struct PreparedList {
  TensorList list;
  WorkPlan work;
};
PreparedList prepare(const Program &program, TensorList list, unsigned threads);

/// Runs the program over the list and returns when it is done. Everything is allocated before the
/// first element is written.
void execute(const Program &program, const PreparedList &prepared, const ScalarRows &rows,
             const Executor &executor);

/// Memory that an element moves, over all operands: once per read and once per write.
int64_t bytesPerElement(std::span<const Operand> operands);

/// A one-shot launch: returns when it is done. All checks and allocations come
/// first: a call that fails has written nothing.
Result<void> launch(const Program &program, const TensorArray &tensors, const ScalarArray &scalars,
                    const Executor &executor);

} // namespace fw::launch
