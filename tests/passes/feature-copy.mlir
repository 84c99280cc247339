// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(feature-copy))' | FileCheck %s
// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(feature-copy{dtypes=p.copy=e5m2}))' | FileCheck %s --check-prefix=DTYPE

// CHECK-LABEL: fuse.op @sgd
// CHECK-SAME:  #fuse.operand<name = "p.copy", role = out, dtype = "bf16", scope = <element>>]
// DTYPE-LABEL: fuse.op @sgd
// DTYPE-SAME:  #fuse.operand<name = "p.copy", role = out, dtype = "e5m2", scope = <element>>]
fuse.op @sgd over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %p = fuse.read "p" : f32
  %g = fuse.read "g" : f32
  %0 = arith.subf %p, %g : f32
  // CHECK:      fuse.write "p", %[[P:.+]] : f32
  // CHECK-NEXT: fuse.write "p.copy", %[[P]] : f32
  fuse.write "p", %0 : f32
}

// A parameter that the op leaves alone is copied as it is; each parameter has its own copy.
// CHECK-LABEL: fuse.op @two
// CHECK-SAME:  name = "p.copy"
// CHECK-SAME:  name = "q.copy"
fuse.op @two over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f64", scope = <element>>,
              #fuse.operand<name = "q", role = param, dtype = "f32", scope = <element>>]
    scalars [] {
  %q = fuse.read "q" : f64
  // CHECK:      fuse.write "q", %[[Q:.+]] : f64
  // CHECK-NEXT: fuse.write "q.copy", %[[Q]] : f64
  fuse.write "q", %q : f64
  // CHECK:      %[[P:.+]] = fuse.read "p" : f64
  // CHECK-NEXT: fuse.write "p.copy", %[[P]] : f64
}
