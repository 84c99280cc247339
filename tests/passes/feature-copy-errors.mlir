// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(feature-copy))' --verify-diagnostics
// RUN: not fw-opt %s --fuse-to-semantic=features=copi 2>&1 | FileCheck %s --check-prefix=NAME

// NAME: expected a feature (unscale, clip, clip_value, master, copy, ema, zero_grad, guard), got 'copi'; choose one of the list

// expected-error@+1 {{expected an op with an operand of role param for feature 'copy', got none; drop the feature}}
fuse.op @scale over <elements>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [] {
}
