// The kernel that computes scalar programs on the device, for inputs that the host does not know
// when it launches: an interpreter of the operations that the host would have run.
#pragma once

#include "templates/vocab/scalar_program.h"
#include "templates/vocab/scalars_launch.h"
#include "templates/vocab/shared.h"

namespace fw {

struct ScalarValues {
  double values[ScalarsLaunch::VALUES]; // [value][lane], constants left out
};

template <class T> FW_INLINE void count(u64 address, int by) {
  *reinterpret_cast<T *>(address) += static_cast<T>(by);
}
FW_INLINE void count(const ScalarCounter &counter, int by) {
  switch (counter.type) {
  case ScalarType::F32:
    return count<float>(counter.address, by);
  case ScalarType::F64:
    return count<double>(counter.address, by);
  case ScalarType::I32:
    return count<int>(counter.address, by);
  case ScalarType::I64:
    return count<i64>(counter.address, by);
  }
}

template <class T> FW_INLINE double numberAt(u64 address) {
  return static_cast<double>(*reinterpret_cast<const T *>(address));
}
FW_INLINE double read(const ScalarSource &source) {
  if (source.address == 0)
    return source.value;
  switch (source.type) {
  case ScalarType::F32:
    return numberAt<float>(source.address);
  case ScalarType::F64:
    return numberAt<double>(source.address);
  case ScalarType::I32:
    return numberAt<int>(source.address);
  case ScalarType::I64:
    return numberAt<i64>(source.address);
  }
  return 0;
}

/// The values of one row: those of a lane are `lanes` apart, so that lanes meet different banks.
struct ScalarLane {
  const ScalarsLaunch &launch;
  double *values;
  u32 lanes;

  FW_INLINE double operator[](u32 number) const {
    const u32 inputs = launch.inputCount, constants = launch.constantCount;
    if (number - inputs < constants) // wraps for an input
      return launch.constants[number - inputs];
    return values[(number < inputs ? number : number - constants) * lanes];
  }

  FW_INLINE void compute(u32 row) const {
    double *next = values;
    const ScalarSource *sources = launch.sources + static_cast<u64>(row) * launch.inputCount;
#pragma unroll 1
    for (u32 k = 0; k < launch.inputCount; ++k, next += lanes)
      *next = read(sources[k]);
#pragma unroll 1
    for (u32 k = 0; k < launch.operationCount; ++k, next += lanes) {
      const ScalarOperation operation = launch.operations[k];
      *next = evaluateScalar(operation.code, (*this)[operation.a], (*this)[operation.b],
                             (*this)[operation.c]);
    }
  }

  FW_INLINE void store(u32 row) const {
    const u64 first = static_cast<u64>(row) * launch.slotCount;
#pragma unroll 1
    for (u32 k = 0; k < launch.slotCount; ++k) {
      const double value = (*this)[launch.slots[k]];
      if (launch.doubles)
        static_cast<double *>(launch.table)[first + k] = value;
      else
        static_cast<float *>(launch.table)[first + k] = static_cast<float>(value);
    }
  }
};

/// Body of the kernel, which is one block.
FW_INLINE void scalars(const ScalarsLaunch &launch) {
#pragma unroll 1
  for (u32 k = threadIdx.x; k < launch.counterCount; k += ScalarsLaunch::THREADS)
    count(launch.counters[k], launch.countBy);
  __syncthreads();

  const u32 lanes = ScalarsLaunch::lanes(launch.inputCount, launch.operationCount);
  if (threadIdx.x >= lanes)
    return;
  const ScalarLane lane{launch, shared<ScalarValues>().values + threadIdx.x, lanes};
#pragma unroll 1
  for (u32 row = threadIdx.x; row < launch.rows; row += lanes) {
    lane.compute(row);
    lane.store(row);
  }
}

} // namespace fw

extern "C" __global__ void __launch_bounds__(fw::ScalarsLaunch::THREADS)
    fw_scalars(const __grid_constant__ fw::ScalarsLaunch launch) {
  fw::scalars(launch);
}
