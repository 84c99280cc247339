module {
  fuse.op @layer_norm_backward_from_y over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "y", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dy", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "rstd", role = row, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 1.000000e+00 : f64>, #fuse.operand<name = "b", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 0.000000e+00 : f64>, #fuse.operand<name = "dx", role = out, dtype = "f32", scope = <element>>] scalars [#fuse.hyper<name = "eps", value = 1.000000e-05 : f64>] attributes {equations = {E1 = "d = w", E2 = "h = (y - b)/d", E3 = "g = dy*w", E4 = "dx = rstd*(g - avg(g) - h*avg(g*h))"}} {
    %0 = fuse.read "w" : f32
    %1 = fuse.read "y" : f32
    %2 = fuse.read "b" : f32
    %3 = arith.subf %1, %2 {fuse.label = "E2"} : f32
    %4 = arith.divf %3, %0 {fuse.label = "E2", fuse.name = "h"} : f32
    %5 = fuse.read "dy" : f32
    %6 = arith.mulf %5, %0 {fuse.label = "E3", fuse.name = "g"} : f32
    %7 = fuse.read "rstd" : f32
    %8 = fuse.reduce  sum keep <axes, axes = ["row"]> %6 {fuse.label = "E4"} : f32 to f32
    %9 = fuse.size <axes, axes = ["column"]>
    %10 = arith.sitofp %9 : i64 to f64
    %11 = fuse.uniform %10 : f64 to f32
    %12 = arith.divf %8, %11 {fuse.label = "E4"} : f32
    %13 = arith.subf %6, %12 {fuse.label = "E4"} : f32
    %14 = arith.mulf %6, %4 {fuse.label = "E4"} : f32
    %15 = fuse.reduce  sum keep <axes, axes = ["row"]> %14 {fuse.label = "E4"} : f32 to f32
    %16 = arith.divf %15, %11 {fuse.label = "E4"} : f32
    %17 = arith.mulf %4, %16 {fuse.label = "E4"} : f32
    %18 = arith.subf %13, %17 {fuse.label = "E4"} : f32
    %19 = arith.mulf %7, %18 {fuse.label = "E4", fuse.name = "dx"} : f32
    fuse.write "dx", %19 : f32
  }
}

