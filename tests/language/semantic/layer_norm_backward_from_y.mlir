module {
  fuse.op @layer_norm_backward_from_y over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "y", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dy", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "rstd", role = row, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 1.000000e+00 : f64>, #fuse.operand<name = "b", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 0.000000e+00 : f64>, #fuse.operand<name = "dx", role = out, dtype = "f32", scope = <element>>] scalars [#fuse.hyper<name = "eps", value = 1.000000e-05 : f64>] attributes {equations = {E1 = "d = if w >= 0 then max(w, eps) else min(w, -eps)", E2 = "h = (y - b)/d", E3 = "g = dy*w", E4 = "dx = rstd*(g - avg(g) - h*avg(g*h))"}} {
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
    %11 = fuse.read "b" : f32
    %12 = arith.subf %10, %11 {fuse.label = "E2"} : f32
    %13 = arith.divf %12, %9 {fuse.label = "E2", fuse.name = "h"} : f32
    %14 = fuse.read "dy" : f32
    %15 = arith.mulf %14, %0 {fuse.label = "E3", fuse.name = "g"} : f32
    %16 = fuse.read "rstd" : f32
    %17 = fuse.reduce  sum keep <axes, axes = ["row"]> %15 {fuse.label = "E4"} : f32 to f32
    %18 = fuse.size <axes, axes = ["column"]>
    %19 = arith.sitofp %18 : i64 to f64
    %20 = fuse.uniform %19 : f64 to f32
    %21 = arith.divf %17, %20 {fuse.label = "E4"} : f32
    %22 = arith.subf %15, %21 {fuse.label = "E4"} : f32
    %23 = arith.mulf %15, %13 {fuse.label = "E4"} : f32
    %24 = fuse.reduce  sum keep <axes, axes = ["row"]> %23 {fuse.label = "E4"} : f32 to f32
    %25 = arith.divf %24, %20 {fuse.label = "E4"} : f32
    %26 = arith.mulf %13, %25 {fuse.label = "E4"} : f32
    %27 = arith.subf %22, %26 {fuse.label = "E4"} : f32
    %28 = arith.mulf %16, %27 {fuse.label = "E4", fuse.name = "dx"} : f32
    fuse.write "dx", %28 : f32
  }
}

