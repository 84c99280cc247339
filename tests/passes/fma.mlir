// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(fma))' | FileCheck %s
// The five rules of the pass, in the order of its description, then what it leaves alone.

// CHECK-LABEL: fuse.op @product_plus
// CHECK:       %[[A:.+]] = fuse.read "a"
// CHECK:       %[[B:.+]] = fuse.read "b"
// CHECK:       %[[C:.+]] = fuse.read "c"
// CHECK-NOT:   arith
// CHECK:       math.fma %[[A]], %[[B]], %[[C]] {fuse.label = "E2", fuse.name = "y"} : f32
fuse.op @product_plus over <elements>
    operands [#fuse.operand<name = "a", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "b", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "c", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "d", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %a = fuse.read "a" : f32
  %b = fuse.read "b" : f32
  %c = fuse.read "c" : f32
  %d = fuse.read "d" : f32
  %0 = arith.mulf %a, %b {fuse.label = "E1", fuse.name = "x"} : f32
  %y = arith.addf %0, %c {fuse.label = "E2", fuse.name = "y"} : f32
  fuse.write "y", %y : f32
}

// CHECK-LABEL: fuse.op @plus_product
// CHECK:       %[[A:.+]] = fuse.read "a"
// CHECK:       %[[B:.+]] = fuse.read "b"
// CHECK:       %[[C:.+]] = fuse.read "c"
// CHECK:       math.fma %[[A]], %[[B]], %[[C]] : f32
fuse.op @plus_product over <elements>
    operands [#fuse.operand<name = "a", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "b", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "c", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "d", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %a = fuse.read "a" : f32
  %b = fuse.read "b" : f32
  %c = fuse.read "c" : f32
  %d = fuse.read "d" : f32
  %0 = arith.mulf %a, %b : f32
  %y = arith.addf %c, %0 : f32
  fuse.write "y", %y : f32
}

// CHECK-LABEL: fuse.op @product_minus
// CHECK:       %[[A:.+]] = fuse.read "a"
// CHECK:       %[[B:.+]] = fuse.read "b"
// CHECK:       %[[C:.+]] = fuse.read "c"
// CHECK:       %[[N:.+]] = arith.negf %[[C]] {fuse.label = "E1"} : f32
// CHECK:       math.fma %[[A]], %[[B]], %[[N]] {fuse.label = "E1"} : f32
fuse.op @product_minus over <elements>
    operands [#fuse.operand<name = "a", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "b", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "c", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "d", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %a = fuse.read "a" : f32
  %b = fuse.read "b" : f32
  %c = fuse.read "c" : f32
  %d = fuse.read "d" : f32
  %0 = arith.mulf %a, %b : f32
  %y = arith.subf %0, %c {fuse.label = "E1"} : f32
  fuse.write "y", %y : f32
}

// CHECK-LABEL: fuse.op @minus_product
// CHECK:       %[[A:.+]] = fuse.read "a"
// CHECK:       %[[B:.+]] = fuse.read "b"
// CHECK:       %[[C:.+]] = fuse.read "c"
// CHECK:       %[[N:.+]] = arith.negf %[[A]] : f32
// CHECK:       math.fma %[[N]], %[[B]], %[[C]] : f32
fuse.op @minus_product over <elements>
    operands [#fuse.operand<name = "a", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "b", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "c", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "d", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %a = fuse.read "a" : f32
  %b = fuse.read "b" : f32
  %c = fuse.read "c" : f32
  %d = fuse.read "d" : f32
  %0 = arith.mulf %a, %b : f32
  %y = arith.subf %c, %0 : f32
  fuse.write "y", %y : f32
}

// CHECK-LABEL: fuse.op @products_plus
// CHECK:       %[[A:.+]] = fuse.read "a"
// CHECK:       %[[B:.+]] = fuse.read "b"
// CHECK:       %[[R:.+]] = arith.mulf
// CHECK:       math.fma %[[A]], %[[B]], %[[R]] : f32
fuse.op @products_plus over <elements>
    operands [#fuse.operand<name = "a", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "b", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "c", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "d", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %a = fuse.read "a" : f32
  %b = fuse.read "b" : f32
  %c = fuse.read "c" : f32
  %d = fuse.read "d" : f32
  %0 = arith.mulf %a, %b : f32
  %1 = arith.mulf %c, %d : f32
  %y = arith.addf %0, %1 : f32
  fuse.write "y", %y : f32
}

// CHECK-LABEL: fuse.op @products_minus
// CHECK:       %[[A:.+]] = fuse.read "a"
// CHECK:       %[[B:.+]] = fuse.read "b"
// CHECK:       %[[R:.+]] = arith.mulf
// CHECK:       %[[N:.+]] = arith.negf %[[R]] : f32
// CHECK:       math.fma %[[A]], %[[B]], %[[N]] : f32
fuse.op @products_minus over <elements>
    operands [#fuse.operand<name = "a", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "b", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "c", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "d", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %a = fuse.read "a" : f32
  %b = fuse.read "b" : f32
  %c = fuse.read "c" : f32
  %d = fuse.read "d" : f32
  %0 = arith.mulf %a, %b : f32
  %1 = arith.mulf %c, %d : f32
  %y = arith.subf %0, %1 : f32
  fuse.write "y", %y : f32
}

// A chain is contracted from its first sum on.
// CHECK-LABEL: fuse.op @chain
// CHECK:       %[[D:.+]] = fuse.read "d"
// CHECK:       %[[R:.+]] = arith.mulf
// CHECK:       %[[F:.+]] = math.fma %{{.+}}, %{{.+}}, %[[R]] : f32
// CHECK:       math.fma %[[D]], %[[D]], %[[F]] : f32
fuse.op @chain over <elements>
    operands [#fuse.operand<name = "a", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "b", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "c", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "d", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %a = fuse.read "a" : f32
  %b = fuse.read "b" : f32
  %c = fuse.read "c" : f32
  %d = fuse.read "d" : f32
  %0 = arith.mulf %a, %b : f32
  %1 = arith.mulf %c, %d : f32
  %2 = arith.addf %0, %1 : f32
  %3 = arith.mulf %d, %d : f32
  %y = arith.addf %2, %3 : f32
  fuse.write "y", %y : f32
}

// A product with two readers stays: contracting it would compute it twice, with different bits.
// CHECK-LABEL: fuse.op @two_uses
// CHECK-NOT:   math.fma
// CHECK:       fuse.write
fuse.op @two_uses over <elements>
    operands [#fuse.operand<name = "a", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "b", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "c", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "d", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %a = fuse.read "a" : f32
  %b = fuse.read "b" : f32
  %c = fuse.read "c" : f32
  %d = fuse.read "d" : f32
  %0 = arith.mulf %a, %b : f32
  %1 = arith.addf %0, %c : f32
  %y = arith.divf %0, %1 : f32
  fuse.write "y", %y : f32
}

// So does a product that is both sides of one sum.
// CHECK-LABEL: fuse.op @both_sides
// CHECK-NOT:   math.fma
// CHECK:       fuse.write
fuse.op @both_sides over <elements>
    operands [#fuse.operand<name = "a", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "b", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "c", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "d", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %a = fuse.read "a" : f32
  %b = fuse.read "b" : f32
  %c = fuse.read "c" : f32
  %d = fuse.read "d" : f32
  %0 = arith.mulf %a, %b : f32
  %y = arith.addf %0, %0 : f32
  fuse.write "y", %y : f32
}

// The scalar program is left alone, also where elements are f64 too.
// CHECK-LABEL: fuse.op @scalar_program
// CHECK:       arith.mulf %{{.+}} : f64
// CHECK:       arith.addf %{{.+}} : f64
// CHECK:       math.fma %{{.+}} : f64
fuse.op @scalar_program over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f64", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %lr = fuse.scalar "lr" : f64
  %0 = arith.mulf %lr, %lr : f64
  %1 = arith.addf %0, %lr : f64
  %2 = fuse.uniform %1 : f64 to f64
  %p = fuse.read "p" : f64
  %3 = arith.mulf %2, %p : f64
  %4 = arith.addf %3, %p : f64
  fuse.write "p", %4 : f64
}
