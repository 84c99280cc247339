module {
  fuse.op @rms_norm_backward over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dy", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "rstd", role = row, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "dx", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 1.000000e+00 : f64>] scalars [] attributes {equations = {E1 = "h = x*rstd", E2 = "dx = rstd*(g - h*avg(g*h))"}} {
    %0 = fuse.read "x" : f32
    %1 = fuse.read "rstd" : f32
    %2 = arith.mulf %0, %1 {fuse.label = "E1", fuse.name = "h"} : f32
    %3 = fuse.read "dy" : f32
    %4 = fuse.read "w" : f32
    %5 = arith.mulf %3, %4 {fuse.name = "g"} : f32
    %6 = arith.mulf %5, %2 {fuse.label = "E2"} : f32
    %7 = fuse.reduce  sum keep <axes, axes = ["row"]> %6 {fuse.label = "E2"} : f32 to f32
    %8 = fuse.size <axes, axes = ["column"]>
    %9 = arith.sitofp %8 : i64 to f64
    %10 = fuse.uniform %9 : f64 to f32
    %11 = arith.divf %7, %10 {fuse.label = "E2"} : f32
    %12 = arith.mulf %2, %11 {fuse.label = "E2"} : f32
    %13 = arith.subf %5, %12 {fuse.label = "E2"} : f32
    %14 = arith.mulf %1, %13 {fuse.label = "E2", fuse.name = "dx"} : f32
    fuse.write "dx", %14 : f32
  }
}

