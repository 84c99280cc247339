// RUN: fw-opt %s --split-input-file --pass-pipeline='builtin.module(fuse.op(specialise{dtypes=g=bf16,m=e4m3fn.sat}))' | FileCheck %s
// RUN: fw-opt %s --split-input-file --pass-pipeline='builtin.module(fuse.op(specialise{dtypes=p=f64,g=f32,m=f32}))' | FileCheck %s --check-prefix=WIDE
// RUN: fw-opt %s --split-input-file --pass-pipeline='builtin.module(fuse.op(specialise))' | FileCheck %s --check-prefix=SAME

// CHECK-LABEL: fuse.op @bound
// CHECK-SAME:  name = "p", role = param, dtype = "f32"
// CHECK-SAME:  name = "g", role = grad, dtype = "bf16"
// CHECK-SAME:  name = "m", role = state, dtype = "e4m3fn.sat", scope = <element>, init = 1.000000e+00 : f64
// WIDE-LABEL:  fuse.op @bound
// WIDE-SAME:   name = "p", role = param, dtype = "f64"
// SAME-LABEL:  fuse.op @bound
// SAME-SAME:   name = "g", role = grad, dtype = "f32"
fuse.op @bound over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "m", role = state, dtype = "f32", scope = <element>, init = 1.0 : f64>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  // CHECK: fuse.read "g" : f32
  // WIDE:  %[[G:.+]] = fuse.read "g" : f64
  %g = fuse.read "g" : f32
  // Saturation is the dtype's; the rounding keeps label and name. In f64, f32 storage rounds too.
  // CHECK: %[[N:.+]] = fuse.cast saturate %{{.+}} {fuse.label = "E1"} : f32 to f8E4M3FN
  // CHECK: fuse.cast %[[N]] {fuse.label = "E1", fuse.name = "s"} : f8E4M3FN to f32
  // WIDE:  %[[N:.+]] = fuse.cast %[[G]] {fuse.label = "E1"} : f64 to f32
  // WIDE:  fuse.cast %[[N]] {fuse.label = "E1", fuse.name = "s"} : f32 to f64
  // SAME-NOT: fuse.cast
  %s = fuse.stored "m", %g {fuse.label = "E1", fuse.name = "s"} : f32
  // The largest finite value is a constant of the dtype, and rounded to elements at once.
  // CHECK: arith.constant 4.480000e+02 : f64
  // CHECK: %[[L:.+]] = arith.constant 4.480000e+02 : f32
  // CHECK: arith.minimumf %{{.+}}, %[[L]] : f32
  // WIDE:  %[[L:.+]] = arith.constant 3.4028234663852886E+38 : f64
  // WIDE:  arith.minimumf %{{.+}}, %[[L]] : f64
  %l = fuse.largest "m" : f64
  %l_e = fuse.uniform %l : f64 to f32
  %0 = arith.minimumf %s, %l_e : f32
  // Hyper-parameters stay; the scalar program is f64 either way.
  // CHECK: fuse.uniform %{{.+}} : f64 to f32
  // WIDE:  fuse.uniform %{{.+}} : f64 to f64
  %lr = fuse.scalar "lr" : f64
  %lr_e = fuse.uniform %lr : f64 to f32
  %1 = arith.mulf %lr_e, %0 : f32
  // SAME: fuse.write "m"
  fuse.write "m", %1 : f32
  fuse.write "p", %1 : f32
}

// -----

// A constant that comes as f64 is rounded once, to the precision of the elements.
// CHECK-LABEL: fuse.op @constants
// WIDE-LABEL:  fuse.op @constants
fuse.op @constants over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "m", role = state, dtype = "f32", scope = <element>>]
    scalars [] {
  %g = fuse.read "g" : f32
  // CHECK: %[[C:.+]] = arith.constant 1.000000e-01 : f32
  // CHECK: arith.mulf %{{.+}}, %[[C]] : f32
  // WIDE:  %[[C:.+]] = arith.constant 1.000000e-01 : f64
  // WIDE:  arith.mulf %{{.+}}, %[[C]] : f64
  %tenth = arith.constant 0.1 : f64
  %tenth_e = fuse.uniform %tenth : f64 to f32
  %0 = arith.mulf %g, %tenth_e : f32
  // A bool needs no rounding.
  // CHECK: %[[T:.+]] = arith.constant true
  // CHECK: arith.select %[[T]]
  %true = arith.constant true
  %true_e = fuse.uniform %true : i1 to i1
  %1 = arith.select %true_e, %0, %g : f32
  fuse.write "p", %1 : f32
}

// -----

// round_to is a cast and one back, in the precision where it stands; to the arithmetic's own dtype,
// or a wider one, it is nothing.
// CHECK-LABEL: fuse.op @rounded
// WIDE-LABEL:  fuse.op @rounded
fuse.op @rounded over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "m", role = state, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  // CHECK: %[[LR:.+]] = fuse.scalar "lr" : f64
  // CHECK: %[[N:.+]] = fuse.cast saturate %[[LR]] {fuse.label = "E1"} : f64 to f8E5M2
  // CHECK: %[[R:.+]] = fuse.cast %[[N]] {fuse.label = "E1", fuse.name = "r"} : f8E5M2 to f64
  // CHECK: %[[N32:.+]] = fuse.cast %[[R]] : f64 to f32
  // CHECK: %[[R32:.+]] = fuse.cast %[[N32]] : f32 to f64
  // CHECK: %[[U:.+]] = fuse.uniform %[[R32]] : f64 to f32
  %lr = fuse.scalar "lr" : f64
  %r = fuse.round_to "e5m2.sat", %lr {fuse.label = "E1", fuse.name = "r"} : f64
  %r32 = fuse.round_to "f32", %r : f64
  %r64 = fuse.round_to "f64", %r32 : f64
  %u = fuse.uniform %r64 : f64 to f32
  // CHECK: %[[G:.+]] = fuse.read "g" : f32
  // CHECK: arith.mulf %[[U]], %[[G]] : f32
  // WIDE:  %[[G:.+]] = fuse.read "g" : f64
  // WIDE:  %[[N:.+]] = fuse.cast %[[G]] : f64 to f32
  // WIDE:  %[[S:.+]] = fuse.cast %[[N]] : f32 to f64
  // WIDE:  arith.mulf %{{.+}}, %[[S]] : f64
  %g = fuse.read "g" : f32
  %g32 = fuse.round_to "f32", %g : f32
  %g64 = fuse.round_to "f64", %g32 : f32
  %1 = arith.mulf %u, %g64 : f32
  fuse.write "p", %1 : f32
}

// -----

// round_to is a rounding by name: to f32 it is one in f64 arithmetic only.
// CHECK-LABEL: fuse.op @round_to
// WIDE-LABEL:  fuse.op @round_to
fuse.op @round_to over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "m", role = state, dtype = "f32", scope = <element>>]
    scalars [] {
  %g = fuse.read "g" : f32
  // CHECK-NOT: fuse.cast
  // CHECK: %[[S:.+]] = fuse.cast saturate %{{.+}} : f32 to f8E5M2
  // CHECK: fuse.cast %[[S]] {fuse.name = "q"} : f8E5M2 to f32
  // WIDE:  %[[R:.+]] = fuse.cast %{{.+}} : f64 to f32
  // WIDE:  %[[B:.+]] = fuse.cast %[[R]] : f32 to f64
  // WIDE:  %[[S:.+]] = fuse.cast saturate %[[B]] : f64 to f8E5M2
  // WIDE:  fuse.cast %[[S]] {fuse.name = "q"} : f8E5M2 to f64
  %0 = fuse.round_to "f32", %g : f32
  %1 = fuse.round_to "e5m2.sat", %0 {fuse.name = "q"} : f32
  fuse.write "p", %1 : f32
}
