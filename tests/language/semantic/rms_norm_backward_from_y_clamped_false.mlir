module {
  fuse.op @rms_norm_backward_from_y over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "y", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dy", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "rstd", role = row, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "dx", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 1.000000e+00 : f64>] scalars [#fuse.hyper<name = "eps", value = 1.000000e-05 : f64>] attributes {equations = {E1 = "d = c", E2 = "h = y/d", E3 = "g = dy*c", E4 = "dx = rstd*(g - h*avg(g*h))"}} {
    %0 = fuse.read "w" : f32
    %1 = fuse.read "y" : f32
    %2 = arith.divf %1, %0 {fuse.label = "E2", fuse.name = "h"} : f32
    %3 = fuse.read "dy" : f32
    %4 = arith.mulf %3, %0 {fuse.label = "E3", fuse.name = "g"} : f32
    %5 = fuse.read "rstd" : f32
    %6 = arith.mulf %4, %2 {fuse.label = "E4"} : f32
    %7 = fuse.reduce  sum keep <axes, axes = ["row"]> %6 {fuse.label = "E4"} : f32 to f32
    %8 = fuse.size <axes, axes = ["column"]>
    %9 = arith.sitofp %8 : i64 to f64
    %10 = fuse.uniform %9 : f64 to f32
    %11 = arith.divf %7, %10 {fuse.label = "E4"} : f32
    %12 = arith.mulf %2, %11 {fuse.label = "E4"} : f32
    %13 = arith.subf %4, %12 {fuse.label = "E4"} : f32
    %14 = arith.mulf %5, %13 {fuse.label = "E4", fuse.name = "dx"} : f32
    fuse.write "dx", %14 : f32
  }
}

