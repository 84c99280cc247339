module {
  fuse.op @dropout_add_rms_norm_backward over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "r2", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dy", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dr2", role = in, dtype = "f32", scope = <element>, neutral = 0.000000e+00 : f64>, #fuse.operand<name = "rstd", role = row, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "dx", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "dr", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 1.000000e+00 : f64>] scalars [#fuse.hyper<name = "rate", value = 1.000000e-01 : f64>, #fuse.hyper<name = "seed", kind = int>, #fuse.hyper<name = "offset", kind = int>] attributes {equations = {E1 = "dr = rms_norm_backward(r2, dy, rstd, w, unit_offset = unit_offset) + dr2", E2 = "dx = if random() >= rate then dr/(1 - rate) else 0", rms_norm_backward.E1 = "h = x*rstd", rms_norm_backward.E2 = "dx = rstd*(g - h*avg(g*h))"}} {
    %0 = fuse.read "r2" : f32
    %1 = fuse.read "dy" : f32
    %2 = fuse.read "rstd" : f32
    %3 = fuse.read "w" : f32
    %4 = arith.mulf %0, %2 {fuse.label = "rms_norm_backward.E1", fuse.name = "rms_norm_backward_h"} : f32
    %5 = arith.mulf %1, %3 {fuse.name = "rms_norm_backward_g"} : f32
    %6 = arith.mulf %5, %4 {fuse.label = "rms_norm_backward.E2"} : f32
    %7 = fuse.reduce  sum keep <axes, axes = ["row"]> %6 {fuse.label = "rms_norm_backward.E2"} : f32 to f32
    %8 = fuse.size <axes, axes = ["column"]>
    %9 = arith.sitofp %8 : i64 to f64
    %10 = fuse.uniform %9 : f64 to f32
    %11 = arith.divf %7, %10 {fuse.label = "rms_norm_backward.E2"} : f32
    %12 = arith.mulf %4, %11 {fuse.label = "rms_norm_backward.E2"} : f32
    %13 = arith.subf %5, %12 {fuse.label = "rms_norm_backward.E2"} : f32
    %14 = arith.mulf %2, %13 {fuse.label = "rms_norm_backward.E2", fuse.name = "rms_norm_backward_dx"} : f32
    %15 = fuse.read "dr2" : f32
    %16 = arith.addf %14, %15 {fuse.label = "E1", fuse.name = "dr"} : f32
    fuse.write "dr", %16 : f32
    %17 = fuse.scalar "seed" : i64
    %18 = fuse.uniform %17 : i64 to i64
    %19 = fuse.scalar "offset" : i64
    %20 = fuse.uniform %19 : i64 to i64
    %21 = fuse.bits 0 seed %18 offset %20 {fuse.label = "E2"}
    %22 = arith.sitofp %21 : i64 to f32
    %cst = arith.constant 1.52587890625E-5 : f64
    %23 = fuse.uniform %cst : f64 to f32
    %24 = arith.mulf %22, %23 {fuse.label = "E2"} : f32
    %25 = fuse.scalar "rate" : f64
    %26 = fuse.uniform %25 : f64 to f32
    %27 = arith.cmpf oge, %24, %26 {fuse.label = "E2"} : f32
    %cst_0 = arith.constant 1.000000e+00 : f64
    %28 = arith.subf %cst_0, %25 {fuse.label = "E2"} : f64
    %29 = fuse.uniform %28 : f64 to f32
    %30 = arith.divf %16, %29 {fuse.label = "E2"} : f32
    %cst_1 = arith.constant 0.000000e+00 : f64
    %31 = fuse.uniform %cst_1 : f64 to f32
    %32 = arith.select %27, %30, %31 {fuse.label = "E2", fuse.name = "dx"} : f32
    fuse.write "dx", %32 : f32
  }
}

