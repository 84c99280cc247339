// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.program(schedule{arch=sm_90 overrides=vec=8}))' --verify-diagnostics
// RUN: not fw-opt %s --pass-pipeline='builtin.module(fuse.program(schedule{arch=sm_90 overrides=warps=8}))' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not fw-opt %s --pass-pipeline='builtin.module(fuse.program(schedule{arch=sm_1}))' 2>&1 | FileCheck %s --check-prefix=ARCH
// RUN: not fw-opt %s --pass-pipeline='builtin.module(fuse.program(schedule{arch=sm_90},schedule{arch=sm_90}))' 2>&1 | FileCheck %s --check-prefix=TWICE

// NAME: expected a schedule decision (threads, vec, inflight, blocks_per_sm, chunk, early_launch, vectors, steps, threads_per_row, rows_per_thread, keep, weight, fresh, lined, bounded), got 'warps'; correct the schedule
// ARCH: expected an arch (sm_75, {{.*}}), got 'sm_1'
// TWICE: expected a kernel without a schedule, got #fuse.schedule<"chunk"

fuse.program @copy
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [] {
  // expected-error@+1 {{expected vec to be a power of two up to 4 (16 bytes of the widest stream), got 8; choose a smaller vector, or narrower dtypes}}
  fuse.kernel @copy_x_f32_y_f32 elements f32 {
    fuse.each {
      %0 = fuse.load "x" : f32
      fuse.store "y", %0 : f32
    }
  }
}
