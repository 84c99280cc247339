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
