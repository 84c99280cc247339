// RUN: fw-opt %s --fuse-to-phases | fw-opt | FileCheck %s

#row = #fuse.scope<axes, axes = ["row"]>

// A partner's value is computed of loads at its place; the count is a slot.
// CHECK-LABEL: fuse.program @pairs
// CHECK:       fuse.kernel
// CHECK:         %[[N:.+]] = fuse.slot "n" : i64
// CHECK:         fuse.each {
// CHECK-NEXT:      %[[X:.+]] = fuse.load "x" : bf16
// CHECK-NEXT:      fuse.cast %[[X]]
// CHECK-NEXT:      %[[P:.+]] = fuse.load_pair interleaved "x" first %[[N]] : bf16
// CHECK-NEXT:      %[[WIDE:.+]] = fuse.cast %[[P]] : bf16 to f32
// CHECK-NEXT:      %[[AT:.+]] = fuse.pair_index interleaved first %[[N]]
// CHECK-NEXT:      %[[C:.+]] = arith.sitofp %[[AT]] : i64 to f32
// CHECK-NEXT:      arith.mulf %[[WIDE]], %[[C]] : f32
// CHECK-NOT:       fuse.swap_pairs
fuse.op @pairs over <axes, kept = ["row"], spanned = ["column"]>
    operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "bf16", scope = <element>>]
    scalars [#fuse.hyper<name = "n", kind = int, value = 4.0 : f64>] {
  %x = fuse.read "x" : f32
  %c = fuse.index "column"
  %r = arith.sitofp %c : i64 to f32
  %v = arith.mulf %x, %r : f32
  %n = fuse.scalar "n" : i64
  %count = fuse.uniform %n : i64 to i64
  %p = fuse.swap_pairs interleaved %v along "column" first %count : f32
  %y = arith.subf %x, %p : f32
  fuse.write "y", %y : f32
}

// Draws get the number of the row's first element; an op without `;` spans its last axis.
// CHECK-LABEL: fuse.program @draws over <axes, kept = ["a", "b"], spanned = ["c"]>
// CHECK:       fuse.kernel
// CHECK-DAG:     %[[B:.+]] = fuse.slot {{.+}} : i64
// CHECK:         %[[I:.+]] = fuse.index "a"
// CHECK:         arith.muli %[[I]]
// CHECK:         fuse.index "b"
// CHECK:         arith.addi
// CHECK:         %[[FIRST:.+]] = arith.muli
// CHECK:         fuse.each {
// CHECK:           fuse.bits 0 seed %{{.+}} offset %{{.+}} first %[[FIRST]]
fuse.op @draws over <axes, kept = ["a", "b", "c"]>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "seed", kind = int>, #fuse.hyper<name = "offset", kind = int>] {
  %x = fuse.read "x" : f32
  %s = fuse.scalar "seed" : i64
  %o = fuse.scalar "offset" : i64
  %seed = fuse.uniform %s : i64 to i64
  %offset = fuse.uniform %o : i64 to i64
  %bits = fuse.bits 0 seed %seed offset %offset
  %r = arith.sitofp %bits : i64 to f32
  %y = arith.mulf %x, %r : f32
  fuse.write "y", %y : f32
}

// What an operand of a tensor makes is f64 in the kernel; what the launch alone makes is a slot.
// CHECK-LABEL: fuse.program @scaled
// CHECK:         fuse.result "u0", %{{.+}} : f64 to f64
// CHECK:       fuse.kernel {{.+}} rows f32
// CHECK:         %[[A:.+]] = fuse.slot "u0" : f64
// CHECK:         %[[S:.+]] = fuse.load "s" : bf16
// CHECK:         %[[WIDE:.+]] = fuse.cast %[[S]] : bf16 to f64
// CHECK:         %[[Q:.+]] = arith.divf %[[A]], %[[WIDE]] : f64
// CHECK:         %[[ONCE:.+]] = fuse.cast %[[Q]] : f64 to f32
// CHECK:         fuse.each {
// CHECK:           arith.mulf %{{.+}}, %[[ONCE]] : f32
fuse.op @scaled over <axes, kept = ["row"], spanned = ["column"]>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "s", role = in, dtype = "bf16", scope = <tensor>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  %x = fuse.read "x" : f32
  %s = fuse.read "s" : f64
  %a = fuse.scalar "a" : f64
  %twice = arith.addf %a, %a : f64
  %q = arith.divf %twice, %s : f64
  %once = fuse.uniform %q : f64 to f32
  %y = arith.mulf %x, %once : f32
  fuse.write "y", %y : f32
}
