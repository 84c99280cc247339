// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(infer-scopes))' --split-input-file --verify-diagnostics

fuse.op @element_in_scalar_program over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f64", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "f64", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %g = fuse.read "g" : f64
  // expected-error@+1 {{'fuse.uniform' op expected a value of the scalar program, got one of scope element in element precision; use it as it is}}
  %0 = fuse.uniform %g : f64 to f64
  fuse.write "p", %0 : f64
}

// -----

fuse.op @uniform_twice over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %lr = fuse.scalar "lr" : f64
  %0 = fuse.uniform %lr : f64 to f64
  // expected-error@+1 {{got one of scope launch in element precision}}
  %1 = fuse.uniform %0 : f64 to f32
  fuse.write "p", %1 : f32
}

// -----

fuse.op @unrounded_uniform over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f64", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "f64", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  // expected-note@+1 {{the value}}
  %lr = fuse.scalar "lr" : f64
  %g = fuse.read "g" : f64
  // expected-error@+1 {{'arith.mulf' op expected values of the scalar program through 'fuse.uniform', got one directly; insert it}}
  %0 = arith.mulf %lr, %g : f64
  fuse.write "p", %0 : f64
}

// -----

fuse.op @reduction_inwards over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %lr = fuse.scalar "lr" : f64
  // expected-error@+1 {{'fuse.reduce' op expected a value that varies within the scope kept, tensor, got scope launch; keep a scope further out}}
  %0 = fuse.reduce sum keep <tensor> %lr : f64 to f64
}

// -----

fuse.op @element_into_tensor over <elements>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "n", role = out, dtype = "f32", scope = <tensor>>]
    scalars [] {
  %x = fuse.read "x" : f32
  // expected-error@+1 {{'fuse.write' op expected a value of scope tensor or further out for operand 'n', got scope element; reduce it first}}
  fuse.write "n", %x : f32
}
