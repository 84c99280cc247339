module {
  fuse.op @add_rms_norm over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "r", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "r2", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "rstd", role = save, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 0.000000e+00 : f64>] scalars [#fuse.hyper<name = "eps", value = 1.000000e-05 : f64>] attributes {equations = {E1 = "r2 = x + r", E2 = "y = rms_norm(s, w, unit_offset = unit_offset, eps = eps).y", E3 = "rstd = rms_norm(s, w, unit_offset = unit_offset, eps = eps).rstd", rms_norm.E1 = "rstd = rsqrt(avg(x^2) + eps)", rms_norm.E2 = "n = x*rstd", rms_norm.E3 = "y = n*g"}} {
    %0 = fuse.read "x" : f32
    %1 = fuse.read "r" : f32
    %2 = arith.addf %0, %1 {fuse.label = "E1", fuse.name = "r2"} : f32
    fuse.write "r2", %2 : f32
    %3 = fuse.stored "r2", %2 {fuse.name = "s"} : f32
    %4 = fuse.read "w" : f32
    %5 = fuse.scalar "eps" : f64
    %6 = arith.mulf %3, %3 {fuse.label = "rms_norm.E1"} : f32
    %7 = fuse.reduce  sum keep <axes, axes = ["row"]> %6 {fuse.label = "rms_norm.E1"} : f32 to f32
    %8 = fuse.size <axes, axes = ["column"]>
    %9 = arith.sitofp %8 : i64 to f64
    %10 = fuse.uniform %9 : f64 to f32
    %11 = arith.divf %7, %10 {fuse.label = "rms_norm.E1"} : f32
    %12 = fuse.uniform %5 : f64 to f32
    %13 = arith.addf %11, %12 {fuse.label = "rms_norm.E1"} : f32
    %14 = math.rsqrt %13 {fuse.label = "rms_norm.E1", fuse.name = "rms_norm_rstd"} : f32
    %cst = arith.constant 1.000000e+00 : f64
    %15 = fuse.uniform %cst : f64 to f32
    %16 = arith.addf %15, %4 {fuse.name = "rms_norm_g"} : f32
    %17 = arith.mulf %3, %14 {fuse.label = "rms_norm.E2", fuse.name = "rms_norm_n"} : f32
    %18 = arith.mulf %17, %16 {fuse.label = "rms_norm.E3", fuse.name = "rms_norm_y"} : f32
    fuse.write "y", %18 : f32
    %19 = arith.mulf %3, %3 {fuse.label = "rms_norm.E1"} : f32
    %20 = fuse.reduce  sum keep <axes, axes = ["row"]> %19 {fuse.label = "rms_norm.E1"} : f32 to f32
    %21 = arith.divf %20, %10 {fuse.label = "rms_norm.E1"} : f32
    %22 = arith.addf %21, %12 {fuse.label = "rms_norm.E1"} : f32
    %23 = math.rsqrt %22 {fuse.label = "rms_norm.E1", fuse.name = "rms_norm_rstd"} : f32
    %24 = arith.addf %15, %4 {fuse.name = "rms_norm_g"} : f32
    %25 = arith.mulf %3, %23 {fuse.label = "rms_norm.E2", fuse.name = "rms_norm_n"} : f32
    %26 = arith.mulf %25, %24 {fuse.label = "rms_norm.E3", fuse.name = "rms_norm_y"} : f32
    fuse.write "rstd", %23 : f32
  }
}

