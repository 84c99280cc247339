// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(pair-reductions))' | FileCheck %s

// CHECK-LABEL: fuse.op @moments
fuse.op @moments over <axes, kept = ["row"], spanned = ["column"]>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <axes, axes = ["row"]>>]
    scalars [] {
  %x = fuse.read "x" : f32
  // CHECK: fuse.reduce sum keep <axes, axes = ["row"]> %{{.+}} {fuse.pair = "moments"} : f32 to f32
  %sum = fuse.reduce sum keep <axes, axes = ["row"]> %x : f32 to f32
  %n = fuse.size <axes, axes = ["column"]>
  %real = arith.sitofp %n : i64 to f64
  %count = fuse.uniform %real : f64 to f32
  %mean = arith.divf %sum, %count : f32
  %d = arith.subf %x, %mean : f32
  %square = arith.mulf %d, %d : f32
  // CHECK: fuse.reduce sum keep <axes, axes = ["row"]> %{{.+}} {fuse.pair = "moments"} : f32 to f32
  %squares = fuse.reduce sum keep <axes, axes = ["row"]> %square : f32 to f32
  fuse.write "y", %squares : f32
}

// CHECK-LABEL: fuse.op @softmax
fuse.op @softmax over <axes, kept = ["row"], spanned = ["column"]>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <axes, axes = ["row"]>>]
    scalars [] {
  %x = fuse.read "x" : f32
  // CHECK: fuse.reduce max keep <axes, axes = ["row"]> %{{.+}} {fuse.pair = "max_sum_exp"} : f32 to f32
  %t = fuse.reduce max keep <axes, axes = ["row"]> %x : f32 to f32
  %nothing = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %empty = arith.cmpf oeq, %t, %nothing : f32
  %below = arith.subf %x, %t : f32
  // CHECK: math.exp %{{.+}} fastmath<afn> : f32
  %power = math.exp %below fastmath<afn> : f32
  %e = arith.select %empty, %zero, %power : f32
  // CHECK: fuse.reduce sum keep <axes, axes = ["row"]> %{{.+}} {fuse.pair = "max_sum_exp"} : f32 to f32
  %z = fuse.reduce sum keep <axes, axes = ["row"]> %e : f32 to f32
  fuse.write "y", %z : f32
}

// Another average, another maximum, sums that wait for nothing: no pairs.
// CHECK-LABEL: fuse.op @others
// CHECK-NOT: fuse.pair
fuse.op @others over <axes, kept = ["row"], spanned = ["column"]>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "w", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <axes, axes = ["row"]>>,
              #fuse.operand<name = "z", role = out, dtype = "f32", scope = <axes, axes = ["row"]>>]
    scalars [] {
  %x = fuse.read "x" : f32
  %w = fuse.read "w" : f32
  %sum = fuse.reduce sum keep <axes, axes = ["row"]> %w : f32 to f32
  %n = fuse.size <axes, axes = ["column"]>
  %real = arith.sitofp %n : i64 to f64
  %count = fuse.uniform %real : f64 to f32
  %mean = arith.divf %sum, %count : f32
  %d = arith.subf %x, %mean : f32
  %square = arith.mulf %d, %d : f32
  %squares = fuse.reduce sum keep <axes, axes = ["row"]> %square : f32 to f32
  fuse.write "y", %squares : f32
  %t = fuse.reduce max keep <axes, axes = ["row"]> %w : f32 to f32
  %below = arith.subf %x, %t : f32
  %power = math.exp %below : f32
  %z = fuse.reduce sum keep <axes, axes = ["row"]> %power : f32 to f32
  fuse.write "z", %z : f32
}
