module {
  fuse.op @rms_norm_backward over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dy", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "rstd", role = row, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "dx", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 0.000000e+00 : f64>] scalars [] attributes {equations = {E1 = "h = x*rstd", E2 = "dx = rstd*(g - h*avg(g*h))"}} {
    %0 = fuse.read "x" : f32
    %1 = fuse.read "rstd" : f32
    %2 = arith.mulf %0, %1 {fuse.label = "E1", fuse.name = "h"} : f32
    %3 = fuse.read "dy" : f32
    %cst = arith.constant 1.000000e+00 : f64
    %4 = fuse.read "w" : f32
    %5 = fuse.uniform %cst : f64 to f32
    %6 = arith.addf %5, %4 : f32
    %7 = arith.mulf %3, %6 {fuse.name = "g"} : f32
    %8 = arith.mulf %7, %2 {fuse.label = "E2"} : f32
    %9 = fuse.reduce  sum keep <axes, axes = ["row"]> %8 {fuse.label = "E2"} : f32 to f32
    %10 = fuse.size <axes, axes = ["column"]>
    %11 = arith.sitofp %10 : i64 to f64
    %12 = fuse.uniform %11 : f64 to f32
    %13 = arith.divf %9, %12 {fuse.label = "E2"} : f32
    %14 = arith.mulf %2, %13 {fuse.label = "E2"} : f32
    %15 = arith.subf %7, %14 {fuse.label = "E2"} : f32
    %16 = arith.mulf %1, %15 {fuse.label = "E2", fuse.name = "dx"} : f32
    fuse.write "dx", %16 : f32
  }
}

