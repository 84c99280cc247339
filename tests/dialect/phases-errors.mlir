// RUN: fw-opt %s --split-input-file --verify-diagnostics

fuse.program @load operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  // expected-error@+3 {{'fuse.load' op expected the storage type 'bf16' of operand 'x', got 'f32'}}
  fuse.kernel @load elements f32 {
    fuse.each {
      %0 = fuse.load "x" : f32
    }
  }
}

// -----

fuse.program @store operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  fuse.kernel @store elements f32 {
    fuse.each {
      %0 = fuse.load "x" : bf16
      // expected-error@+1 {{'fuse.store' op expected the name of an operand, got 'y'}}
      fuse.store "y", %0 : bf16
    }
  }
}

// -----

fuse.program @slot operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  fuse.scalars {
    %0 = fuse.scalar "a" : f64
    fuse.result "a", %0 : f64 to f32
  }
  fuse.kernel @slot elements f64 {
    // expected-error@+1 {{'fuse.slot' op expected a result of the scalar program of type 'f64', got 'a'}}
    %0 = fuse.slot "a" : f64
  }
}

// -----

fuse.program @real operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  // expected-error@+1 {{'fuse.kernel' op expected f32 or f64 as arithmetic precision, got 'bf16'}}
  fuse.kernel @real elements bf16 {
  }
}

// -----

fuse.program @decision operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  // expected-error@+1 {{expected threads from 32 to 1024, got 4096}}
  fuse.kernel @decision elements f32 schedule <"chunk", {threads = 4096}> {
  }
}

// -----

fuse.program @unknown operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.0 : f64>] {
  // expected-error@+1 {{expected a schedule decision (}}
  fuse.kernel @unknown elements f32 schedule <"chunk", {warps = 8}> {
  }
}
