module {
  fuse.op @rms_norm_quantized over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 1.000000e+00 : f64>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "rstd", role = save, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "scale", role = out, dtype = "f32", scope = <axes, axes = ["row"]>>] scalars [#fuse.hyper<name = "eps", value = 1.000000e-05 : f64>] attributes {equations = {E1 = "n = rms_norm(x, w, eps = eps).y", E2 = "rstd = rms_norm(x, w, eps = eps).rstd", E3 = "a = absmax(n);  scale = if a > 0 then a/largest(y) else 1", E4 = "y = n/scale", rms_norm.E1 = "rstd = rsqrt(avg(x^2) + eps)", rms_norm.E2 = "n = x*rstd", rms_norm.E3 = "y = n*g"}} {
    %0 = fuse.read "x" : f32
    %1 = fuse.read "w" : f32
    %2 = fuse.scalar "eps" : f64
    %3 = arith.mulf %0, %0 {fuse.label = "rms_norm.E1"} : f32
    %4 = fuse.reduce  sum keep <axes, axes = ["row"]> %3 {fuse.label = "rms_norm.E1"} : f32 to f32
    %5 = fuse.size <axes, axes = ["column"]>
    %6 = arith.sitofp %5 : i64 to f64
    %7 = fuse.uniform %6 : f64 to f32
    %8 = arith.divf %4, %7 {fuse.label = "rms_norm.E1"} : f32
    %9 = fuse.uniform %2 : f64 to f32
    %10 = arith.addf %8, %9 {fuse.label = "rms_norm.E1"} : f32
    %11 = math.rsqrt %10 {fuse.label = "rms_norm.E1", fuse.name = "rms_norm_rstd"} : f32
    %12 = arith.mulf %0, %11 {fuse.label = "rms_norm.E2", fuse.name = "rms_norm_n"} : f32
    %13 = arith.mulf %12, %1 {fuse.label = "rms_norm.E3", fuse.name = "rms_norm_y"} : f32
    %14 = arith.mulf %0, %0 {fuse.label = "rms_norm.E1"} : f32
    %15 = fuse.reduce  sum keep <axes, axes = ["row"]> %14 {fuse.label = "rms_norm.E1"} : f32 to f32
    %16 = arith.divf %15, %7 {fuse.label = "rms_norm.E1"} : f32
    %17 = arith.addf %16, %9 {fuse.label = "rms_norm.E1"} : f32
    %18 = math.rsqrt %17 {fuse.label = "rms_norm.E1", fuse.name = "rms_norm_rstd"} : f32
    %19 = arith.mulf %0, %18 {fuse.label = "rms_norm.E2", fuse.name = "rms_norm_n"} : f32
    %20 = arith.mulf %19, %1 {fuse.label = "rms_norm.E3", fuse.name = "rms_norm_y"} : f32
    fuse.write "rstd", %18 : f32
    %21 = math.absf %13 {fuse.label = "E3"} : f32
    %22 = fuse.reduce  max keep <axes, axes = ["row"]> %21 {fuse.label = "E3", fuse.name = "a"} : f32 to f32
    %cst = arith.constant 0.000000e+00 : f64
    %23 = fuse.uniform %cst : f64 to f32
    %24 = arith.cmpf ogt, %22, %23 {fuse.label = "E3"} : f32
    %25 = fuse.largest "y" {fuse.label = "E3"} : f64
    %26 = fuse.uniform %25 : f64 to f32
    %27 = arith.divf %22, %26 {fuse.label = "E3"} : f32
    %cst_0 = arith.constant 1.000000e+00 : f64
    %28 = fuse.uniform %cst_0 : f64 to f32
    %29 = arith.select %24, %27, %28 {fuse.label = "E3", fuse.name = "scale"} : f32
    fuse.write "scale", %29 : f32
    %30 = arith.divf %13, %29 {fuse.label = "E4", fuse.name = "y"} : f32
    fuse.write "y", %30 : f32
  }
}

