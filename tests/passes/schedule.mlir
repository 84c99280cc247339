// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.program(schedule{arch=sm_90}))' | FileCheck %s
// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.program(schedule{arch=sm_75 overrides=threads=256,vec=1}))' | FileCheck %s --check-prefix=FIXED

// The vector is 16 bytes of the widest stream, here f32; the rule itself is tested in ElementsRuleTest.
// CHECK: fuse.kernel @fw_scale_x_bf16_y_f32_v4 elements f32 schedule <"chunk", {blocks_per_sm = 4 : i64, chunk = 8192 : i64, inflight = 2 : i64, threads = 512 : i64, vec = 4 : i64}> {
// FIXED: fuse.kernel @fw_scale_x_bf16_y_f32_v1 elements f32 schedule <"chunk", {blocks_per_sm = 4 : i64, chunk = 1024 : i64, inflight = 2 : i64, threads = 256 : i64, vec = 1 : i64}> {
fuse.program @scale
    operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [] {
  fuse.scalars {
  }
  fuse.kernel @scale_x_bf16_y_f32 elements f32 {
    fuse.each {
      %0 = fuse.load "x" : bf16
      %1 = fuse.cast %0 : bf16 to f32
      fuse.store "y", %1 : f32
    }
  }
}

// A kernel behind one that reduces starts before that one has ended, where the arch can.
// CHECK: fuse.kernel @fw_norm_x_f32_v4 elements f32 schedule <"norm_last_block", {blocks_per_sm = {{[0-9]+}} : i64, chunk = 65536 : i64, inflight = 4 : i64, threads = 256 : i64, vec = 4 : i64}> {
// CHECK: fuse.kernel @fw_behind_x_f32_y_f32_v4 elements f32 schedule <"chunk", {blocks_per_sm = {{[0-9]+}} : i64, chunk = 8192 : i64, early_launch = 1 : i64, inflight = 2 : i64, threads = 512 : i64, vec = 4 : i64}> {
// FIXED: fuse.kernel @fw_behind_x_f32_y_f32_v1 elements f32 schedule <"chunk", {blocks_per_sm = {{[0-9]+}} : i64, chunk = 1024 : i64, early_launch = 0 : i64, inflight = 2 : i64, threads = 256 : i64, vec = 1 : i64}> {
fuse.program @two
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [] {
  fuse.scalars {
  }
  fuse.kernel @norm_x_f32 elements f32 {
    %sum = fuse.each [#fuse<reduce_kind sum>] -> f32 {
      %0 = fuse.load "x" : f32
      fuse.yield %0 : f32
    }
    fuse.reduction "s" keep <all> %sum : f32
  }
  fuse.scalars {
    %s = fuse.reduced "s"
    fuse.result "s", %s : f64 to f32
  }
  fuse.kernel @behind_x_f32_y_f32 elements f32 {
    %s = fuse.slot "s" : f32
    fuse.each {
      %0 = fuse.load "x" : f32
      %1 = arith.mulf %s, %0 : f32
      fuse.store "y", %1 : f32
    }
  }
}
