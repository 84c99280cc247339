// RUN: fw-opt %s --form-phases --split-input-file --verify-diagnostics

fuse.op @largest_tensor over <elements>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <all>>]
    scalars [] {
  %x = fuse.read "x" : f32
  %0 = fuse.reduce sum keep <tensor> %x : f32 to f64
  // expected-error@+1 {{'fuse.reduce' op expected a reduction of elements, got max[all] of scope tensor; reductions of scalars are not compiled yet}}
  %1 = fuse.reduce max keep <all> %0 : f64 to f64
  fuse.write "y", %1 : f64
}

// -----

// expected-error@+1 {{'fuse.op' op expected an op whose rows are one kernel, got op 'rows' over [row; head, dim] with rows that span 2 axes; no backend compiles it yet; fw_evaluate computes it, with bounds}}
fuse.op @rows over <axes, kept = ["row"], spanned = ["head", "dim"]>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [] {
}

// -----

// expected-error@+1 {{'fuse.op' op expected operands with one value per element, tensor or plan, got 'n' of scope blocks; such operands are not compiled yet}}
fuse.op @per_block over <elements>
    operands [#fuse.operand<name = "n", role = in, dtype = "f32", scope = <blocks, size = 64>>]
    scalars [] {
}

// -----

fuse.op @unbound over <elements>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [] {
  %x = fuse.read "x" : f32
  // expected-error@+1 {{'fuse.stored' op expected a body with bound dtypes; run specialise first}}
  %0 = fuse.stored "y", %x : f32
  fuse.write "y", %0 : f32
}

// -----

fuse.op @int over <elements>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "t", kind = int>] {
  %t = fuse.scalar "t" : i64
  // expected-error@+1 {{'fuse.uniform' op expected a real or a bool for elements, got an int; convert it in the scalar program}}
  %0 = fuse.uniform %t : i64 to i64
}

// -----

fuse.op @block_norm over <elements>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [] {
  %x = fuse.read "x" : f32
  // expected-error@+1 {{'fuse.reduce' op expected a reduction that keeps a tensor, all or the world, got max[blocks], which ends a pass; such reductions are not compiled yet}}
  %0 = fuse.reduce max keep <blocks, size = 256> %x : f32 to f32
  fuse.write "y", %0 : f32
}

// -----

fuse.op @element over <elements>
    operands [#fuse.operand<name = "x", role = in, dtype = "f64", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f64", scope = <element>>]
    scalars [] {
  %x = fuse.read "x" : f64
  // expected-error@+1 {{'fuse.uniform' op expected a value of the scalar program, got one of scope element}}
  %0 = fuse.uniform %x : f64 to f64
  fuse.write "y", %0 : f64
}
