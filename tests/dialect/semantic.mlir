// RUN: fw-opt %s | fw-opt | FileCheck %s
// RUN: fw-opt %s --mlir-print-op-generic | fw-opt | FileCheck %s
// Every operation and attribute of the semantic level, printed and read again.

// CHECK-LABEL: fuse.op @everything over <axes, kept = ["row"], spanned = ["column"]> operands [
// CHECK-SAME: #fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>
// CHECK-SAME: #fuse.operand<name = "keep", role = in, dtype = "bool", scope = <element>, kind = bool>
// CHECK-SAME: #fuse.operand<name = "n", role = row, dtype = "i32", scope = <axes, axes = ["row"]>, kind = int>
// CHECK-SAME: #fuse.operand<name = "w", role = column, dtype = "f16", scope = <axes, axes = ["column"]>, neutral = 1.000000e+00 : f64>
// CHECK-SAME: #fuse.operand<name = "m", role = state, dtype = "f32", scope = <blocks, size = 256>, init = 0.000000e+00 : f64>
// CHECK-SAME: scalars [#fuse.hyper<name = "t", kind = int>, #fuse.hyper<name = "eps", value = 1.000000e-08 : f64>, #fuse.hyper<name = "on", kind = bool>]
// CHECK-SAME: attributes {equations = {E1 = "y = x"}}
fuse.op @everything over <axes, kept = ["row"], spanned = ["column"]>
    operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>,
              #fuse.operand<name = "keep", role = in, dtype = "bool", scope = <element>, kind = bool>,
              #fuse.operand<name = "n", role = row, dtype = "i32", scope = <axes, axes = ["row"]>, kind = int>,
              #fuse.operand<name = "w", role = column, dtype = "f16", scope = <axes, axes = ["column"]>, neutral = 1.0 : f64>,
              #fuse.operand<name = "m", role = state, dtype = "f32", scope = <blocks, size = 256>, init = 0.0 : f64>,
              #fuse.operand<name = "y", role = out, dtype = "f64", scope = <element>>]
    scalars [#fuse.hyper<name = "t", kind = int>, #fuse.hyper<name = "eps", value = 1.0e-8 : f64>,
             #fuse.hyper<name = "on", kind = bool>]
    attributes {equations = {E1 = "y = x"}} {
  // CHECK: fuse.scalar "t" : i64
  %t = fuse.scalar "t" : i64
  // CHECK: fuse.scalar "on" : i1
  %on = fuse.scalar "on" : i1
  // CHECK: fuse.scalar "eps" {fuse.label = "E1", fuse.name = "e", fuse.scope = #fuse.scope<launch>} : f64
  %eps = fuse.scalar "eps" {fuse.label = "E1", fuse.name = "e", fuse.scope = #fuse.scope<launch>} : f64
  // CHECK: fuse.uniform %{{.+}} : f64 to f32
  %0 = fuse.uniform %eps : f64 to f32
  // CHECK: fuse.uniform %{{.+}} : i1 to i1
  %1 = fuse.uniform %on : i1 to i1
  // CHECK: fuse.read "x" : f32
  %x = fuse.read "x" : f32
  // CHECK: fuse.read "keep" : i1
  %keep = fuse.read "keep" : i1
  // CHECK: fuse.read "n" : i64
  %n = fuse.read "n" : i64
  // CHECK: fuse.index "column"
  %i = fuse.index "column"
  // CHECK: fuse.size <axes, axes = ["column"]>
  %size = fuse.size <axes, axes = ["column"]>
  // CHECK: fuse.uniform %{{.+}} : i64 to i64
  %count = fuse.uniform %size : i64 to i64
  // CHECK: fuse.div %{{.+}}, %{{.+}}
  %q = fuse.div %i, %count
  // CHECK: fuse.mod %{{.+}}, %{{.+}}
  %m = fuse.mod %i, %q
  // CHECK: fuse.shift_left %{{.+}}, %{{.+}}
  %l = fuse.shift_left %q, %m
  // CHECK: fuse.shift_right %{{.+}}, %{{.+}}
  %r = fuse.shift_right %l, %m
  // CHECK: fuse.gather "x" along "column" at %{{.+}} : f32
  %g = fuse.gather "x" along "column" at %n : f32
  // CHECK: fuse.swap_pairs %{{.+}} along "column" first %{{.+}} : f32
  %s = fuse.swap_pairs %x along "column" first %count : f32
  // CHECK: fuse.swap_pairs interleaved %{{.+}} along "column" first %{{.+}} : f32
  %p = fuse.swap_pairs interleaved %x along "column" first %count : f32
  // CHECK: fuse.bits 3 seed %{{.+}} offset %{{.+}}
  %b = fuse.bits 3 seed %t offset %t
  // CHECK: fuse.stored "m", %{{.+}} : f32
  %2 = fuse.stored "m", %x : f32
  // CHECK: fuse.round_to "e5m2.sat", %{{.+}} : f32
  %3 = fuse.round_to "e5m2.sat", %2 : f32
  // CHECK: fuse.largest "x" : f64
  %4 = fuse.largest "x" : f64
  // CHECK: fuse.reduce sum keep <axes, axes = ["row"]> %{{.+}} : f32 to f32
  %5 = fuse.reduce sum keep <axes, axes = ["row"]> %3 : f32 to f32
  // CHECK: fuse.reduce max keep <all> %{{.+}} : f32 to f64
  %6 = fuse.reduce max keep <all> %3 : f32 to f64
  // CHECK: fuse.sign %{{.+}} : f32
  %7 = fuse.sign %5 : f32
  // CHECK: fuse.sigmoid %{{.+}} : f32
  %8 = fuse.sigmoid %7 : f32
  // CHECK: fuse.cast saturate %{{.+}} : f32 to f8E4M3FN
  %9 = fuse.cast saturate %8 : f32 to f8E4M3FN
  // CHECK: fuse.cast %{{.+}} : f8E4M3FN to f32
  %10 = fuse.cast %9 : f8E4M3FN to f32
  // CHECK: fuse.write "y", %{{.+}} : f32
  fuse.write "y", %10 : f32
}
