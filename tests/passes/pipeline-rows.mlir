// RUN: fw-opt %s --fuse-to-semantic | FileCheck %s --check-prefix=SEMANTIC
// RUN: fw-opt %s --fuse-to-contracted | FileCheck %s --check-prefix=CONTRACTED
// RUN: fw-opt %s --fuse-to-phases | fw-opt | FileCheck %s --check-prefix=PHASES

// Equal values are merged, and pairs named, before anything evaluates the op; exponentials keep
// their form through every stage.
// SEMANTIC: fuse.reduce max keep <axes, axes = ["row"]> %[[X:.+]] {fuse.pair = "max_sum_exp"
// SEMANTIC: arith.subf %[[X]]
// SEMANTIC: math.exp %{{.+}} fastmath<afn>
// SEMANTIC: fuse.reduce sum {{.+}} {fuse.pair = "max_sum_exp"
// CONTRACTED: fuse.pair = "max_sum_exp"
// CONTRACTED: math.exp %{{.+}} fastmath<afn>
// PHASES: fuse.kernel @softmax
// PHASES: } {fuse.pair = "max_sum_exp"}
// PHASES: math.exp %{{.+}} fastmath<afn>
// PHASES: } {fuse.pair = "max_sum_exp"}
fuse.op @softmax over <axes, kept = ["row"], spanned = ["column"]>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <axes, axes = ["row"]>>]
    scalars [] {
  %x = fuse.read "x" : f32
  %t = fuse.reduce max keep <axes, axes = ["row"]> %x : f32 to f32
  %again = fuse.read "x" : f32
  %below = arith.subf %again, %t : f32
  %e = math.exp %below fastmath<afn> : f32
  %z = fuse.reduce sum keep <axes, axes = ["row"]> %e : f32 to f32
  fuse.write "y", %z : f32
}
