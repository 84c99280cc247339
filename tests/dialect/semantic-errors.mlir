// RUN: fw-opt %s --split-input-file --verify-diagnostics

fuse.op @read over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  // expected-error@+1 {{'fuse.read' op expected the name of an operand, got 'z'}}
  %0 = fuse.read "z" : f32
}

// -----

fuse.op @write over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  %0 = fuse.read "x" : f32
  // expected-error@+1 {{'fuse.write' op expected the name of an operand, got 'z'}}
  fuse.write "z", %0 : f32
}

// -----

fuse.op @write_twice over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  %0 = fuse.read "x" : f32
  fuse.write "x", %0 : f32
  // expected-error@+1 {{'fuse.write' op expected one write of operand 'x', got a second}}
  fuse.write "x", %0 : f32
}

// -----

fuse.op @scalar over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  // expected-error@+1 {{'fuse.scalar' op expected the name of a scalar, got 'b'}}
  %0 = fuse.scalar "b" : f64
}

// -----

fuse.op @scalar_type over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "on", kind = bool>] {
  // expected-error@+1 {{'fuse.scalar' op expected the type of a scalar of kind bool, got 'f64'}}
  %0 = fuse.scalar "on" : f64
}

// -----

fuse.op @stored over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  %0 = fuse.read "x" : f32
  // expected-error@+1 {{'fuse.stored' op expected the name of an operand, got 'z'}}
  %1 = fuse.stored "z", %0 : f32
}

// -----

fuse.op @largest over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  // expected-error@+1 {{'fuse.largest' op expected the name of an operand, got 'z'}}
  %0 = fuse.largest "z" : f64
}

// -----

fuse.op @round_to over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  %0 = fuse.read "x" : f32
  // expected-error@+1 {{'fuse.round_to' op expected one of the dtypes f32, f64, f16, bf16, e4m3fn, e4m3fn.sat, e5m2, e5m2.sat, got 'bf32'}}
  %1 = fuse.round_to "bf32", %0 : f32
}

// -----

fuse.op @uniform over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  %0 = fuse.scalar "a" : f64
  // expected-error@+1 {{'fuse.uniform' op expected a real for a real, a bool for a bool or an int for an int, got 'f64' to 'i1'}}
  %1 = fuse.uniform %0 : f64 to i1
}

// -----

fuse.op @cast over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  %0 = fuse.read "x" : f32
  // expected-error@+1 {{'fuse.cast' op expected two different formats, got 'f32' twice}}
  %1 = fuse.cast %0 : f32 to f32
}

// -----

fuse.op @saturate over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  %0 = fuse.read "x" : f32
  // expected-error@+1 {{'fuse.cast' op expected an 8-bit format with 'saturate', got 'bf16'}}
  %1 = fuse.cast saturate %0 : f32 to bf16
}

// -----

// expected-error@+1 {{expected one of the dtypes f32, f64, f16, bf16, e4m3fn, e4m3fn.sat, e5m2, e5m2.sat, got "f8"}}
fuse.op @dtype over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "f8", scope = <element>>] scalars [] {
}

// -----

// expected-error@+1 {{expected 'init' on a state only, got it on in}}
fuse.op @init over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>, init = 0.0 : f64>] scalars [] {
}

// -----

// expected-error@+2 {{failed to parse Fuse_OperandAttr parameter 'scope'}}
// expected-error@+1 {{expected a size above 0 with scope blocks and with no other, got 0}}
fuse.op @blocks over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <blocks>>] scalars [] {
}

// -----

// expected-error@+2 {{failed to parse Fuse_OperandAttr parameter 'scope'}}
// expected-error@+1 {{expected axis names with scope axes and with no other}}
fuse.op @scope_axes over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <tensor, axes = ["row"]>>] scalars [] {
}

// -----

// expected-error@+1 {{expected axis names with domain axes and with no other}}
fuse.op @domain over <elements, kept = ["row"]> operands [] scalars [] {
}

// -----

fuse.op @attribute over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  // expected-error@+1 {{expected a string as 'fuse.label', got 1 : i64}}
  %0 = fuse.read "x" {fuse.label = 1} : f32
}

// -----

fuse.op @unknown over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  // expected-error@+1 {{expected 'fuse.label', 'fuse.name', 'fuse.pair' or 'fuse.scope', got 'fuse.lable'}}
  %0 = fuse.read "x" {fuse.lable = "E1"} : f32
}

// -----

// expected-error@+2 {{expected a dtype of kind bool, got "f32"}}
fuse.op @bool_stored_as_real over <elements>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>, kind = bool>]
    scalars [] {
}

// -----

fuse.op @gather_along_no_axis over <axes, kept = ["row"], spanned = ["column"]>
    operands [#fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>>]
    scalars [] {
  %i = fuse.index "row"
  // expected-error@+1 {{expected an axis of operand 'w', got 'row'}}
  %0 = fuse.gather "w" along "row" at %i : f32
}
