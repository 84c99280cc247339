module {
  fuse.op @rms_norm_backward_from_y over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "y", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dy", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "rstd", role = row, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "dx", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 0.000000e+00 : f64>] scalars [#fuse.hyper<name = "eps", value = 1.000000e-05 : f64>] attributes {equations = {E1 = "d = if c >= 0 then max(c, eps) else min(c, -eps)", E2 = "h = y/d", E3 = "g = dy*c", E4 = "dx = rstd*(g - h*avg(g*h))"}} {
    %cst = arith.constant 1.000000e+00 : f64
    %0 = fuse.read "w" : f32
    %1 = fuse.uniform %cst : f64 to f32
    %2 = arith.addf %1, %0 {fuse.name = "c"} : f32
    %cst_0 = arith.constant 0.000000e+00 : f64
    %3 = fuse.uniform %cst_0 : f64 to f32
    %4 = arith.cmpf oge, %2, %3 {fuse.label = "E1"} : f32
    %5 = fuse.scalar "eps" : f64
    %6 = fuse.uniform %5 : f64 to f32
    %7 = arith.maximumf %2, %6 {fuse.label = "E1"} : f32
    %8 = arith.negf %5 {fuse.label = "E1"} : f64
    %9 = fuse.uniform %8 : f64 to f32
    %10 = arith.minimumf %2, %9 {fuse.label = "E1"} : f32
    %11 = arith.select %4, %7, %10 {fuse.label = "E1", fuse.name = "d"} : f32
    %12 = fuse.read "y" : f32
    %13 = arith.divf %12, %11 {fuse.label = "E2", fuse.name = "h"} : f32
    %14 = fuse.read "dy" : f32
    %15 = arith.mulf %14, %2 {fuse.label = "E3", fuse.name = "g"} : f32
    %16 = fuse.read "rstd" : f32
    %17 = arith.mulf %15, %13 {fuse.label = "E4"} : f32
    %18 = fuse.reduce  sum keep <axes, axes = ["row"]> %17 {fuse.label = "E4"} : f32 to f32
    %19 = fuse.size <axes, axes = ["column"]>
    %20 = arith.sitofp %19 : i64 to f64
    %21 = fuse.uniform %20 : f64 to f32
    %22 = arith.divf %18, %21 {fuse.label = "E4"} : f32
    %23 = arith.mulf %13, %22 {fuse.label = "E4"} : f32
    %24 = arith.subf %15, %23 {fuse.label = "E4"} : f32
    %25 = arith.mulf %16, %24 {fuse.label = "E4", fuse.name = "dx"} : f32
    fuse.write "dx", %25 : f32
  }
}

