module {
  fuse.op @rms_norm_backward_from_y over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "y", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dy", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "rstd", role = row, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "dx", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 1.000000e+00 : f64>] scalars [#fuse.hyper<name = "eps", value = 1.000000e-05 : f64>] attributes {equations = {E1 = "d = if c >= 0 then max(c, eps) else min(c, -eps)", E2 = "h = y/d", E3 = "g = dy*c", E4 = "dx = rstd*(g - h*avg(g*h))"}} {
    %0 = fuse.read "w" : f32
    %cst = arith.constant 0.000000e+00 : f64
    %1 = fuse.uniform %cst : f64 to f32
    %2 = arith.cmpf oge, %0, %1 {fuse.label = "E1"} : f32
    %3 = fuse.scalar "eps" : f64
    %4 = fuse.uniform %3 : f64 to f32
    %5 = arith.maximumf %0, %4 {fuse.label = "E1"} : f32
    %6 = arith.negf %3 {fuse.label = "E1"} : f64
    %7 = fuse.uniform %6 : f64 to f32
    %8 = arith.minimumf %0, %7 {fuse.label = "E1"} : f32
    %9 = arith.select %2, %5, %8 {fuse.label = "E1", fuse.name = "d"} : f32
    %10 = fuse.read "y" : f32
    %11 = arith.divf %10, %9 {fuse.label = "E2", fuse.name = "h"} : f32
    %12 = fuse.read "dy" : f32
    %13 = arith.mulf %12, %0 {fuse.label = "E3", fuse.name = "g"} : f32
    %14 = fuse.read "rstd" : f32
    %15 = arith.mulf %13, %11 {fuse.label = "E4"} : f32
    %16 = fuse.reduce  sum keep <axes, axes = ["row"]> %15 {fuse.label = "E4"} : f32 to f32
    %17 = fuse.size <axes, axes = ["column"]>
    %18 = arith.sitofp %17 : i64 to f64
    %19 = fuse.uniform %18 : f64 to f32
    %20 = arith.divf %16, %19 {fuse.label = "E4"} : f32
    %21 = arith.mulf %11, %20 {fuse.label = "E4"} : f32
    %22 = arith.subf %13, %21 {fuse.label = "E4"} : f32
    %23 = arith.mulf %14, %22 {fuse.label = "E4", fuse.name = "dx"} : f32
    fuse.write "dx", %23 : f32
  }
}

