// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(infer-scopes))' | FileCheck %s

// Constants, scalars, operands and what is computed from them.
// CHECK-LABEL: fuse.op @scopes
fuse.op @scopes over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  // CHECK: arith.constant {fuse.scope = #fuse.scope<const>} 2.000000e+00 : f64
  %two = arith.constant 2.0 : f64
  // CHECK: fuse.scalar "lr" {fuse.scope = #fuse.scope<launch>}
  %lr = fuse.scalar "lr" : f64
  // CHECK: arith.mulf {{.*}} {fuse.scope = #fuse.scope<launch>} : f64
  %0 = arith.mulf %two, %lr : f64
  // CHECK: fuse.uniform {{.*}} {fuse.scope = #fuse.scope<launch>} : f64 to f32
  %1 = fuse.uniform %0 : f64 to f32
  // CHECK: fuse.read "g" {fuse.scope = #fuse.scope<element>}
  %g = fuse.read "g" : f32
  // CHECK: arith.mulf {{.*}} {fuse.scope = #fuse.scope<element>} : f32
  %2 = arith.mulf %1, %g : f32
  fuse.write "p", %2 : f32
}

// A reduction has the scope it keeps; blocks of one size meet in themselves, of two sizes in element.
// CHECK-LABEL: fuse.op @reductions
fuse.op @reductions over <elements>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "a", role = in, dtype = "f32", scope = <blocks, size = 64>>,
              #fuse.operand<name = "b", role = in, dtype = "f32", scope = <blocks, size = 256>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [] {
  %x = fuse.read "x" : f32
  // CHECK: fuse.reduce sum keep <tensor> {{.*}} {fuse.scope = #fuse.scope<tensor>}
  %sum = fuse.reduce sum keep <tensor> %x : f32 to f64
  // CHECK: fuse.read "a" {fuse.scope = #fuse.scope<blocks, size = 64>}
  %a = fuse.read "a" : f32
  %b = fuse.read "b" : f32
  // CHECK: arith.addf {{.*}} {fuse.scope = #fuse.scope<blocks, size = 64>}
  %u = fuse.uniform %sum : f64 to f32
  %0 = arith.addf %a, %u : f32
  // CHECK: arith.addf {{.*}} {fuse.scope = #fuse.scope<element>}
  %1 = arith.addf %a, %b : f32
  fuse.write "y", %1 : f32
}

// CHECK-LABEL: fuse.op @axes
fuse.op @axes over <axes, kept = ["row"], spanned = ["column"]>
    operands [#fuse.operand<name = "r", role = row, dtype = "f32", scope = <axes, axes = ["row"]>>,
              #fuse.operand<name = "c", role = column, dtype = "f32", scope = <axes, axes = ["column"]>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [] {
  %r = fuse.read "r" : f32
  %c = fuse.read "c" : f32
  // CHECK: arith.addf {{.*}} {fuse.scope = #fuse.scope<element>}
  %0 = arith.addf %r, %c : f32
  fuse.write "y", %0 : f32
}

// Rows: a reduction keeps its axes in element precision, all axes are the element, a read at an index
// has the operand's other axes.
// CHECK-LABEL: fuse.op @rows
fuse.op @rows over <axes, kept = ["row"], spanned = ["column"]>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>>,
              #fuse.operand<name = "t", role = row, dtype = "i64", scope = <axes, axes = ["row"]>, kind = int>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [] {
  %x = fuse.read "x" : f32
  // CHECK: fuse.read "w" {fuse.scope = #fuse.scope<axes, axes = ["column"]>}
  %w = fuse.read "w" : f32
  %t = fuse.read "t" : i64
  // CHECK: fuse.reduce sum keep <axes, axes = ["row"]> %{{.+}} {fuse.scope = #fuse.scope<axes, axes = ["row"]>} : f32 to f32
  %s = fuse.reduce sum keep <axes, axes = ["row"]> %x : f32 to f32
  // CHECK: arith.mulf %{{.+}}, %{{.+}} {fuse.scope = #fuse.scope<element>}
  %0 = arith.mulf %s, %w : f32
  // CHECK: fuse.gather "x" along "column" at %{{.+}} {fuse.scope = #fuse.scope<axes, axes = ["row"]>}
  %g = fuse.gather "x" along "column" at %t : f32
  // CHECK: fuse.index "column" {fuse.scope = #fuse.scope<axes, axes = ["column"]>}
  %i = fuse.index "column"
  // CHECK: fuse.size <axes, axes = ["column"]> {fuse.scope = #fuse.scope<tensor>}
  %n = fuse.size <axes, axes = ["column"]>
  %1 = arith.addf %0, %g : f32
  fuse.write "y", %1 : f32
}
