// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(specialise{dtypes=x=f64}))' | FileCheck %s
// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(specialise{dtypes=y=f64}))' | FileCheck %s --check-prefix=OUT

// In an op without parameters an input decides the precision, or a cast from f64 would round twice.
fuse.op @cast over <elements>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "bf16", scope = <element>>]
    scalars [] {
  // CHECK: fuse.read "x" : f64
  // OUT:   fuse.read "x" : f32
  %x = fuse.read "x" : f32
  // CHECK: fuse.write "y", %{{.+}} : f64
  fuse.write "y", %x : f32
}

// The hardware has exponentials of f32 alone.
fuse.op @softmax over <axes, kept = ["row"], spanned = ["column"]>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [] {
  %x = fuse.read "x" : f32
  // CHECK: math.exp %{{[^ ]+}} : f64
  // OUT:   math.exp %{{[^ ]+}} fastmath<afn> : f32
  %e = math.exp %x fastmath<afn> : f32
  // CHECK: math.exp2 %{{[^ ]+}} : f64
  // OUT:   math.exp2 %{{[^ ]+}} fastmath<afn> : f32
  %y = math.exp2 %e fastmath<afn> : f32
  fuse.write "y", %y : f32
}
