// RUN: fw-opt %s --form-phases --split-input-file | FileCheck %s

// CHECK-LABEL: fuse.program @demo operands [
// CHECK-SAME:  scalars [#fuse.hyper<name = "t", kind = int>
// CHECK-SAME:  equations = {E1 = "m = beta1*m + g"}
// CHECK-NEXT:  fuse.scalars {
// Slots in the order of their first use; a value that two slots need is computed once.
// CHECK-NEXT:    %[[BETA1:.+]] = fuse.scalar "beta1" : f64
// CHECK-NEXT:    fuse.result "beta1", %[[BETA1]] : f64 to f32
// CHECK-NEXT:    %[[ONE:.+]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT:    %[[U0:.+]] = arith.subf %[[ONE]], %[[BETA1]] {fuse.label = "E1"} : f64
// CHECK-NEXT:    fuse.result "u0", %[[U0]] : f64 to f32
// CHECK-NEXT:    %[[T:.+]] = fuse.scalar "t" : i64
// CHECK-NEXT:    %[[POWER:.+]] = math.fpowi %[[BETA1]], %[[T]] : f64, i64
// CHECK-NEXT:    %[[C1:.+]] = arith.subf %[[ONE]], %[[POWER]] {fuse.name = "c1"} : f64
// CHECK-NEXT:    fuse.result "c1", %[[C1]] : f64 to f32
// CHECK-NEXT:  }
// CHECK-NEXT:  fuse.kernel @demo_p_f32_g_bf16_m_f16_s_f32_p_copy_e5m2_sat elements f32 {
// CHECK-NEXT:    %[[SB:.+]] = fuse.slot "beta1" : f32
// CHECK-NEXT:    %[[SU:.+]] = fuse.slot "u0" : f32
// CHECK-NEXT:    %[[SC:.+]] = fuse.slot "c1" : f32
// CHECK-NEXT:    fuse.each {
// Loads in operand order, each once; `p` is written alone, so it is not loaded.
// CHECK-NEXT:      %[[GR:.+]] = fuse.load "g" : bf16
// CHECK-NEXT:      %[[G:.+]] = fuse.cast %[[GR]] : bf16 to f32
// CHECK-NEXT:      %[[MR:.+]] = fuse.load "m" : f16
// CHECK-NEXT:      %[[M:.+]] = fuse.cast %[[MR]] : f16 to f32
// CHECK-NEXT:      %[[X:.+]] = arith.mulf %[[SB]], %[[M]] : f32
// CHECK-NEXT:      %[[Y:.+]] = arith.mulf %[[SU]], %[[G]] : f32
// CHECK-NEXT:      %[[NEW:.+]] = arith.addf %[[X]], %[[Y]] {fuse.label = "E1", fuse.name = "m"} : f32
// CHECK-NEXT:      %[[P:.+]] = arith.divf %[[NEW]], %[[SC]] : f32
// Stores in operand order, rounded with the dtype's overflow mode. Scopes are gone, `s` never was.
// CHECK-NEXT:      fuse.store "p", %[[P]] : f32
// CHECK-NEXT:      %[[N:.+]] = fuse.cast %[[NEW]] : f32 to f16
// CHECK-NEXT:      fuse.store "m", %[[N]] : f16
// CHECK-NEXT:      %[[C:.+]] = fuse.cast saturate %[[P]] : f32 to f8E5M2
// CHECK-NEXT:      fuse.store "p.copy", %[[C]] : f8E5M2
// CHECK-NEXT:    }
fuse.op @demo over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "bf16", scope = <element>>,
              #fuse.operand<name = "m", role = state, dtype = "f16", scope = <element>, init = 0.0 : f64>,
              #fuse.operand<name = "s", role = state, dtype = "f32", scope = <element>, init = 0.0 : f64>,
              #fuse.operand<name = "p.copy", role = out, dtype = "e5m2.sat", scope = <element>>]
    scalars [#fuse.hyper<name = "t", kind = int>, #fuse.hyper<name = "lr", value = 0.001 : f64>,
             #fuse.hyper<name = "beta1", value = 0.9 : f64>]
    attributes {equations = {E1 = "m = beta1*m + g"}} {
  %lr = fuse.scalar "lr" : f64
  %unused = fuse.uniform %lr : f64 to f32
  %s = fuse.read "s" : f32
  %beta1 = fuse.scalar "beta1" : f64
  %b = fuse.uniform %beta1 : f64 to f32
  %m = fuse.read "m" {fuse.scope = #fuse.scope<element>} : f32
  %0 = arith.mulf %b, %m {fuse.scope = #fuse.scope<element>} : f32
  %one = arith.constant 1.0 : f64
  %1 = arith.subf %one, %beta1 {fuse.label = "E1"} : f64
  %2 = fuse.uniform %1 : f64 to f32
  %g = fuse.read "g" : f32
  %3 = arith.mulf %2, %g : f32
  %4 = arith.addf %0, %3 {fuse.label = "E1", fuse.name = "m"} : f32
  %t = fuse.scalar "t" : i64
  %5 = math.fpowi %beta1, %t : f64, i64
  %6 = arith.subf %one, %5 {fuse.name = "c1"} : f64
  %7 = fuse.uniform %6 : f64 to f32
  %8 = arith.divf %4, %7 : f32
  fuse.write "p.copy", %8 : f32
  fuse.write "m", %4 : f32
  fuse.write "p", %8 : f32
}

// -----

// Names of slots never meet: a value called like a scalar, or like another, or like u0, yields.
// CHECK-LABEL: fuse.program @names
// CHECK:       fuse.result "u0", %{{.+}} : f64 to f64
// CHECK:       fuse.result "lr", %{{.+}} : f64 to f64
// CHECK:       fuse.result "c", %{{.+}} : f64 to f64
// CHECK:       fuse.result "u2", %{{.+}} : f64 to f64
// CHECK:       fuse.result "warm", %{{.+}} : i1 to i1
// CHECK:       fuse.kernel @names_p_f64 elements f64
// CHECK:         fuse.slot "warm" : i1
fuse.op @names over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f64", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>, #fuse.hyper<name = "warm", kind = bool>,
             #fuse.hyper<name = "u1", value = 1.0 : f64>] {
  %lr = fuse.scalar "lr" : f64
  %0 = math.sqrt %lr {fuse.name = "lr"} : f64
  %1 = math.exp %lr {fuse.name = "c"} : f64
  %2 = math.log %lr {fuse.name = "c"} : f64
  %e0 = fuse.uniform %0 : f64 to f64
  %e1 = fuse.uniform %1 : f64 to f64
  %e2 = fuse.uniform %2 : f64 to f64
  %lre = fuse.uniform %lr : f64 to f64
  %warm = fuse.scalar "warm" : i1
  %warme = fuse.uniform %warm : i1 to i1
  %p = fuse.read "p" : f64
  %3 = arith.mulf %p, %e0 : f64
  %4 = arith.mulf %3, %lre : f64
  %5 = arith.mulf %4, %e1 : f64
  %6 = arith.mulf %5, %e2 : f64
  %7 = arith.select %warme, %6, %p : f64
  fuse.write "p", %7 : f64
}

// -----

// An op without scalars has an empty scalar program; a uniform value may be stored as it is.
// CHECK-LABEL: fuse.program @fill
// CHECK:       fuse.kernel @fill_y_f32 elements f32 {
// CHECK-NEXT:    %[[A:.+]] = fuse.slot "a" : f32
// CHECK-NEXT:    fuse.each {
// CHECK-NEXT:      fuse.store "y", %[[A]] : f32
fuse.op @fill over <elements>
    operands [#fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "a", value = 0.0 : f64>] {
  %a = fuse.scalar "a" : f64
  %0 = fuse.uniform %a : f64 to f32
  fuse.write "y", %0 : f32
}

// -----

// A value that two equations write is computed once and has one slot, whatever labels they carry.
// CHECK-LABEL: fuse.program @shared
// CHECK-NEXT:  fuse.scalars {
// CHECK-NEXT:    %[[ONE:.+]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT:    %[[LR:.+]] = fuse.scalar "lr" : f64
// CHECK-NEXT:    %[[V:.+]] = arith.subf %[[ONE]], %[[LR]] {fuse.label = "E1"} : f64
// CHECK-NEXT:    fuse.result "u0", %[[V]] : f64 to f32
// CHECK-NEXT:  }
// CHECK:         %[[S:.+]] = fuse.slot "u0" : f32
// CHECK-NEXT:    fuse.each {
// CHECK-NEXT:      %[[P:.+]] = fuse.load "p" : f32
// CHECK-NEXT:      %[[X:.+]] = arith.mulf %[[S]], %[[P]] : f32
// CHECK-NEXT:      arith.addf %[[S]], %[[X]] : f32
fuse.op @shared over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %one = arith.constant 1.0 : f64
  %lr = fuse.scalar "lr" : f64
  %0 = arith.subf %one, %lr {fuse.label = "E1"} : f64
  %e0 = fuse.uniform %0 : f64 to f32
  %1 = arith.subf %one, %lr {fuse.label = "E2", fuse.name = "c"} : f64
  %e1 = fuse.uniform %1 : f64 to f32
  %p = fuse.read "p" : f32
  %2 = arith.mulf %e0, %p : f32
  %3 = arith.addf %e1, %2 : f32
  fuse.write "p", %3 : f32
}

// -----

// A reduction ends a kernel; all elements are stored by the last one, which computes anew what it
// needs. What is skipped is decided before it.
// CHECK-LABEL: fuse.program @clip
fuse.op @clip over <elements>
    operands [#fuse.operand<name = "g", role = grad, dtype = "bf16", scope = <element>>,
              #fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "norm", role = out, dtype = "f32", scope = <all>>]
    scalars [#fuse.hyper<name = "max_norm", value = 1.0 : f64>] {
  // CHECK-NEXT: fuse.scalars {
  // CHECK-NEXT: }
  // CHECK-NEXT: fuse.kernel @clip_reduce0_g_bf16_p_f32_norm_f32 elements f32 {
  // CHECK-NEXT: %[[EACH:.+]] = fuse.each [#fuse<reduce_kind sum>] -> f32 {
  // CHECK-NEXT: %[[G:.+]] = fuse.load "g" : bf16
  // CHECK-NEXT: %[[G32:.+]] = fuse.cast %[[G]] : bf16 to f32
  // CHECK-NEXT: %[[SQUARE:.+]] = arith.mulf %[[G32]], %[[G32]] : f32
  // CHECK-NEXT: fuse.yield %[[SQUARE]] : f32
  // CHECK-NEXT: }
  // CHECK-NEXT: fuse.reduction "s" keep <all> %[[EACH]] : f32
  %g = fuse.read "g" : f32
  %p = fuse.read "p" : f32
  %gg = arith.mulf %g, %g : f32
  %s = fuse.reduce sum keep <all> %gg {fuse.name = "s"} : f32 to f64
  %f = math.isfinite %s : f64
  %true = arith.constant true
  %bad = arith.xori %f, %true : i1
  fuse.skip_if %bad
  // CHECK: fuse.scalars {
  // CHECK: fuse.reduced "s"
  // CHECK: fuse.result "q", %{{.+}} : f64 to f32
  // CHECK: fuse.result "u0", %[[BAD:.+]] : i1 to i1
  // CHECK-NEXT: fuse.write "norm", %{{.+}} : f64
  // CHECK-NEXT: fuse.skip_if %[[BAD]]
  %n = math.sqrt %s : f64
  fuse.write "norm", %n : f64
  %m = fuse.scalar "max_norm" : f64
  %q = arith.divf %m, %n {fuse.name = "q"} : f64
  // CHECK: fuse.kernel @clip_g_bf16_p_f32_norm_f32 elements f32 {
  // CHECK-NEXT: fuse.slot "q" : f32
  // CHECK-NEXT: %[[SKIP:.+]] = fuse.slot "u0" : i1
  // CHECK-NEXT: fuse.skip_if %[[SKIP]]
  // CHECK-NEXT: fuse.each {
  // CHECK: fuse.load "g" : bf16
  // CHECK: fuse.load "p" : f32
  // CHECK: fuse.store "p"
  %u = fuse.uniform %q : f64 to f32
  %d = arith.mulf %u, %g : f32
  %e = arith.subf %p, %d : f32
  fuse.write "p", %e : f32
}

// -----

// What nothing needs is not reduced; sizes, numbers of tensors and operands with one value per
// tensor are inputs of scalar programs, a tensor's as well as one of all.
// CHECK-LABEL: fuse.program @uniform
fuse.op @uniform over <elements>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "k", role = state, dtype = "f32", scope = <tensor>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <all>>]
    scalars [] {
  %x = fuse.read "x" : f32
  %unused = fuse.reduce min keep <all> %x : f32 to f64
  // CHECK: fuse.each [#fuse<reduce_kind max>, #fuse<reduce_kind sum>] -> f32, f32
  // CHECK: fuse.reduction "r0" keep <tensor>
  // CHECK-NEXT: fuse.reduction "r1" keep <world>
  %t = fuse.reduce max keep <tensor> %x : f32 to f64
  %w = fuse.reduce sum keep <world> %x : f32 to f64
  // CHECK: fuse.scalars {
  // CHECK: fuse.read "k" : f64
  // CHECK: fuse.index
  // CHECK: fuse.write "k"
  // CHECK: fuse.size <all>
  // CHECK: fuse.write "y"
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %k = fuse.read "k" : f64
  %i = fuse.index
  %ir = arith.sitofp %i : i64 to f64
  %0 = arith.addf %k, %t : f64
  %1 = arith.addf %0, %ir : f64
  fuse.write "k", %1 : f64
  %n = fuse.size <all>
  %nr = arith.sitofp %n : i64 to f64
  %2 = arith.divf %w, %nr : f64
  fuse.write "y", %2 : f64
}

// -----

// A name that the op file gives is no other reduction's, whatever it looks like.
// CHECK-LABEL: fuse.program @names
// CHECK:       fuse.reduction "r1" keep <all>
// CHECK-NEXT:  fuse.reduction "r2" keep <all>
// CHECK-NEXT:  fuse.reduction "r0" keep <all>
// CHECK:       %[[FIRST:.+]] = fuse.reduced "r1"
// CHECK:       fuse.write "a", %[[FIRST]] : f64
// CHECK:       %[[SECOND:.+]] = fuse.reduced "r2"
// CHECK:       fuse.write "b", %[[SECOND]] : f64
fuse.op @names over <elements>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "a", role = out, dtype = "f32", scope = <all>>,
              #fuse.operand<name = "b", role = out, dtype = "f32", scope = <all>>,
              #fuse.operand<name = "c", role = out, dtype = "f32", scope = <all>>]
    scalars [] {
  %x = fuse.read "x" : f32
  %xx = arith.mulf %x, %x : f32
  %0 = fuse.reduce sum keep <all> %x {fuse.name = "r1"} : f32 to f64
  fuse.write "a", %0 : f64
  %1 = fuse.reduce sum keep <all> %xx : f32 to f64
  fuse.write "b", %1 : f64
  %2 = fuse.reduce max keep <all> %x {fuse.name = "r0"} : f32 to f64
  fuse.write "c", %2 : f64
}

// -----

// One kernel over rows: a pass for each reduction that waits, what a row has one of between them, and
// all stores behind the last load. A pair hands its name to its passes.
// CHECK-LABEL: fuse.program @rows over <axes, kept = ["row"], spanned = ["column"]> operands [
// CHECK:       fuse.kernel @rows_x_bf16_w_f32_keep_bool_k_i32_y_f32_m_f32{{ +}}rows f32 {
// CHECK-NEXT:    %[[SCALE:.+]] = fuse.slot "scale" : f32
// CHECK-NEXT:    %[[T:.+]] = fuse.each [{{.*}}max{{.*}}] -> f32 {
// CHECK-NEXT:      fuse.load "x" : bf16
// CHECK-NEXT:      fuse.cast %{{.+}} : bf16 to f32
// CHECK-NEXT:      fuse.yield %{{.+}} : f32
// CHECK-NEXT:    } {fuse.pair = "max_sum_exp"}
// CHECK-NEXT:    %[[Z:.+]] = fuse.each [{{.*}}sum{{.*}}] -> f32 {
// CHECK:           math.exp
// CHECK:         } {fuse.pair = "max_sum_exp"}
// CHECK-NEXT:    %[[K:.+]] = fuse.load "k" : i64
// CHECK-NEXT:    %[[G:.+]] = fuse.gather "x" along "column" at %[[K]] : bf16
// CHECK-NEXT:    %[[GF:.+]] = fuse.cast %[[G]] : bf16 to f32
// CHECK-NEXT:    %[[M:.+]] = arith.mulf %[[GF]], %[[SCALE]] : f32
// CHECK-NEXT:    fuse.each {
// CHECK-DAG:       fuse.load "w" : f32
// CHECK-DAG:       fuse.load "keep" : i1
// CHECK:           arith.divf %{{.+}}, %[[Z]] : f32
// CHECK:           fuse.store "y", %{{.+}} : f32
// CHECK:         }
// CHECK-NEXT:    fuse.store "m", %[[M]] : f32
fuse.op @rows over <axes, kept = ["row"], spanned = ["column"]>
    operands [#fuse.operand<name = "x", role = in, dtype = "bf16", scope = <element>>,
              #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>>,
              #fuse.operand<name = "keep", role = in, dtype = "bool", scope = <element>, kind = bool>,
              #fuse.operand<name = "k", role = row, dtype = "i32", scope = <axes, axes = ["row"]>, kind = int>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "m", role = save, dtype = "f32", scope = <axes, axes = ["row"]>>]
    scalars [#fuse.hyper<name = "scale", value = 1.0 : f64>] {
  %s = fuse.scalar "scale" : f64
  %scale = fuse.uniform %s : f64 to f32
  %x = fuse.read "x" : f32
  %w = fuse.read "w" : f32
  %keep = fuse.read "keep" : i1
  %k = fuse.read "k" : i64
  %t = fuse.reduce max keep <axes, axes = ["row"]> %x {fuse.pair = "max_sum_exp"} : f32 to f32
  %0 = arith.subf %x, %t : f32
  %e = math.exp %0 : f32
  %z = fuse.reduce sum keep <axes, axes = ["row"]> %e {fuse.pair = "max_sum_exp"} : f32 to f32
  %g = fuse.gather "x" along "column" at %k : f32
  %m = arith.mulf %g, %scale : f32
  %1 = arith.divf %e, %z : f32
  %2 = arith.mulf %1, %w : f32
  %y = arith.select %keep, %2, %x : f32
  fuse.write "y", %y : f32
  fuse.write "m", %m : f32
}
