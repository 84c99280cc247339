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
