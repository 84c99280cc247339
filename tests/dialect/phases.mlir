// RUN: fw-opt %s | fw-opt | FileCheck %s
// RUN: fw-opt %s --mlir-print-op-generic | fw-opt | FileCheck %s
// Every operation of the phase level, with and without a schedule, printed and read again.

// CHECK-LABEL: fuse.program @scale operands [
// CHECK-SAME:  attributes {equations = {E1 = "y = a*x"}}
fuse.program @scale
    operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "e4m3fn.sat", scope = <element>>]
    scalars [#fuse.hyper<name = "a", value = 1.0 : f64>, #fuse.hyper<name = "on", kind = bool>]
    attributes {equations = {E1 = "y = a*x"}} {
  // CHECK: fuse.scalars {
  fuse.scalars {
    %a = fuse.scalar "a" : f64
    // CHECK: fuse.result "a", %{{.+}} : f64 to f32
    fuse.result "a", %a : f64 to f32
    %on = fuse.scalar "on" : i1
    // CHECK: fuse.result "on", %{{.+}} : i1 to i1
    fuse.result "on", %on : i1 to i1
  }
  // CHECK: fuse.kernel @plain elements f32 {
  fuse.kernel @plain elements f32 {
    // CHECK: fuse.slot "a" : f32
    %a = fuse.slot "a" : f32
    // CHECK: fuse.slot "on" : i1
    %on = fuse.slot "on" : i1
    // CHECK: fuse.each {
    fuse.each {
      // CHECK: fuse.load "x" : bf16
      %0 = fuse.load "x" : bf16
      %x = fuse.cast %0 : bf16 to f32
      %1 = arith.mulf %a, %x : f32
      %2 = arith.select %on, %1, %x : f32
      %y = fuse.cast saturate %2 : f32 to f8E4M3FN
      // CHECK: fuse.store "y", %{{.+}} : f8E4M3FN
      fuse.store "y", %y : f8E4M3FN
    }
  }
  // CHECK: fuse.kernel @scheduled rows f32 schedule <"row", {threads = 256 : i64, vec = 8 : i64}> {
  fuse.kernel @scheduled rows f32 schedule <"row", {threads = 256, vec = 8}> {
    // CHECK: %{{.+}}:2 = fuse.each [#fuse<reduce_kind sum>, #fuse<reduce_kind max>] -> f32, f32 {
    %sums:2 = fuse.each [#fuse<reduce_kind sum>, #fuse<reduce_kind max>] -> f32, f32 {
      %0 = fuse.load "x" : bf16
      %x = fuse.cast %0 : bf16 to f32
      // CHECK: fuse.yield %{{.+}}, %{{.+}} : f32, f32
      fuse.yield %x, %x : f32, f32
    }
  }
}
