module {
  fuse.op @dropout_add_rms_norm_backward over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "r2", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dy", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dr2", role = in, dtype = "f32", scope = <element>, neutral = 0.000000e+00 : f64>, #fuse.operand<name = "rstd", role = row, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "dx", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "dr", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 0.000000e+00 : f64>] scalars [#fuse.hyper<name = "rate", value = 1.000000e-01 : f64>, #fuse.hyper<name = "seed", kind = int>, #fuse.hyper<name = "offset", kind = int>] attributes {equations = {E1 = "dr = rms_norm_backward(r2, dy, rstd, w, unit_offset = unit_offset) + dr2", E2 = "dx = if random() >= rate then dr/(1 - rate) else 0", rms_norm_backward.E1 = "h = x*rstd", rms_norm_backward.E2 = "dx = rstd*(g - h*avg(g*h))"}} {
    %0 = fuse.read "r2" : f32
    %1 = fuse.read "dy" : f32
    %2 = fuse.read "rstd" : f32
    %3 = fuse.read "w" : f32
    %4 = arith.mulf %0, %2 {fuse.label = "rms_norm_backward.E1", fuse.name = "rms_norm_backward_h"} : f32
    %cst = arith.constant 1.000000e+00 : f64
    %5 = fuse.uniform %cst : f64 to f32
    %6 = arith.addf %5, %3 : f32
    %7 = arith.mulf %1, %6 {fuse.name = "rms_norm_backward_g"} : f32
    %8 = arith.mulf %7, %4 {fuse.label = "rms_norm_backward.E2"} : f32
    %9 = fuse.reduce  sum keep <axes, axes = ["row"]> %8 {fuse.label = "rms_norm_backward.E2"} : f32 to f32
    %10 = fuse.size <axes, axes = ["column"]>
    %11 = arith.sitofp %10 : i64 to f64
    %12 = fuse.uniform %11 : f64 to f32
    %13 = arith.divf %9, %12 {fuse.label = "rms_norm_backward.E2"} : f32
    %14 = arith.mulf %4, %13 {fuse.label = "rms_norm_backward.E2"} : f32
    %15 = arith.subf %7, %14 {fuse.label = "rms_norm_backward.E2"} : f32
    %16 = arith.mulf %2, %15 {fuse.label = "rms_norm_backward.E2", fuse.name = "rms_norm_backward_dx"} : f32
    %17 = fuse.read "dr2" : f32
    %18 = arith.addf %16, %17 {fuse.label = "E1", fuse.name = "dr"} : f32
    fuse.write "dr", %18 : f32
    %19 = fuse.scalar "seed" : i64
    %20 = fuse.uniform %19 : i64 to i64
    %21 = fuse.scalar "offset" : i64
    %22 = fuse.uniform %21 : i64 to i64
    %23 = fuse.bits 0 seed %20 offset %22 {fuse.label = "E2"}
    %24 = arith.sitofp %23 : i64 to f32
    %cst_0 = arith.constant 1.52587890625E-5 : f64
    %25 = fuse.uniform %cst_0 : f64 to f32
    %26 = arith.mulf %24, %25 {fuse.label = "E2"} : f32
    %27 = fuse.scalar "rate" : f64
    %28 = fuse.uniform %27 : f64 to f32
    %29 = arith.cmpf oge, %26, %28 {fuse.label = "E2"} : f32
    %30 = arith.subf %cst, %27 {fuse.label = "E2"} : f64
    %31 = fuse.uniform %30 : f64 to f32
    %32 = arith.divf %18, %31 {fuse.label = "E2"} : f32
    %cst_1 = arith.constant 0.000000e+00 : f64
    %33 = fuse.uniform %cst_1 : f64 to f32
    %34 = arith.select %29, %32, %33 {fuse.label = "E2", fuse.name = "dx"} : f32
    fuse.write "dx", %34 : f32
  }
}

