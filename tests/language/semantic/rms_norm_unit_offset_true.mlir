module {
  fuse.op @rms_norm over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "rstd", role = save, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 0.000000e+00 : f64>] scalars [#fuse.hyper<name = "eps", value = 1.000000e-05 : f64>] attributes {equations = {E1 = "rstd = rsqrt(avg(x^2) + eps)", E2 = "n = x*rstd", E3 = "y = n*g"}} {
    %0 = fuse.read "x" : f32
    %1 = arith.mulf %0, %0 {fuse.label = "E1"} : f32
    %2 = fuse.reduce  sum keep <axes, axes = ["row"]> %1 {fuse.label = "E1"} : f32 to f32
    %3 = fuse.size <axes, axes = ["column"]>
    %4 = arith.sitofp %3 : i64 to f64
    %5 = fuse.uniform %4 : f64 to f32
    %6 = arith.divf %2, %5 {fuse.label = "E1"} : f32
    %7 = fuse.scalar "eps" : f64
    %8 = fuse.uniform %7 : f64 to f32
    %9 = arith.addf %6, %8 {fuse.label = "E1"} : f32
    %10 = math.rsqrt %9 {fuse.label = "E1", fuse.name = "rstd"} : f32
    fuse.write "rstd", %10 : f32
    %cst = arith.constant 1.000000e+00 : f64
    %11 = fuse.read "w" : f32
    %12 = fuse.uniform %cst : f64 to f32
    %13 = arith.addf %12, %11 {fuse.name = "g"} : f32
    %14 = arith.mulf %0, %10 {fuse.label = "E2", fuse.name = "n"} : f32
    %15 = arith.mulf %14, %13 {fuse.label = "E3", fuse.name = "y"} : f32
    fuse.write "y", %15 : f32
  }
}

