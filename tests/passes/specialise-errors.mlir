// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(specialise{dtypes=q=bf16}))' --verify-diagnostics
// RUN: not fw-opt %s --pass-pipeline='builtin.module(fuse.op(specialise{dtypes=g=bf32}))' 2>&1 | FileCheck %s --check-prefix=DTYPE
// RUN: not fw-opt %s --pass-pipeline='builtin.module(fuse.op(specialise{dtypes=g}))' 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not fw-opt %s --pass-pipeline='builtin.module(fuse.op(specialise{dtypes=g=f16,g=bf16}))' 2>&1 | FileCheck %s --check-prefix=TWICE

// DTYPE: expected one of the dtypes f32, f64, f16, bf16, e4m3fn, e4m3fn.sat, e5m2, e5m2.sat for 'g', got 'bf32'; choose one of the list
// SHAPE: expected operand=dtype, got 'g'; write for example p=f32,g=bf16
// TWICE: expected one dtype for 'g', got two; give one

// expected-error@+1 {{expected an operand (p, g) to bind a dtype to, got 'q'}}
fuse.op @sgd over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
}
