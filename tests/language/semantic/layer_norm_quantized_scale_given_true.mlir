module {
  fuse.op @layer_norm_quantized over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 1.000000e+00 : f64>, #fuse.operand<name = "b", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 0.000000e+00 : f64>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "mean", role = save, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "rstd", role = save, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "scale", role = in, dtype = "f32", scope = <tensor>>] scalars [#fuse.hyper<name = "eps", value = 1.000000e-05 : f64>] attributes {equations = {E1 = "n = layer_norm(x, w, b, eps = eps).y", E2 = "mean = layer_norm(x, eps = eps).mean", E3 = "rstd = layer_norm(x, eps = eps).rstd", E5 = "y = n/scale", layer_norm.E1 = "mean = avg(x)", layer_norm.E2 = "rstd = rsqrt(avg((x - mean)^2) + eps)", layer_norm.E3 = "n = (x - mean)*rstd", layer_norm.E4 = "y = n*w + b"}} {
    %0 = fuse.read "x" : f32
    %1 = fuse.read "w" : f32
    %2 = fuse.read "b" : f32
    %3 = fuse.scalar "eps" : f64
    %4 = fuse.reduce  sum keep <axes, axes = ["row"]> %0 {fuse.label = "layer_norm.E1"} : f32 to f32
    %5 = fuse.size <axes, axes = ["column"]>
    %6 = arith.sitofp %5 : i64 to f64
    %7 = fuse.uniform %6 : f64 to f32
    %8 = arith.divf %4, %7 {fuse.label = "layer_norm.E1", fuse.name = "layer_norm_mean"} : f32
    %9 = arith.subf %0, %8 {fuse.label = "layer_norm.E2"} : f32
    %10 = arith.mulf %9, %9 {fuse.label = "layer_norm.E2"} : f32
    %11 = fuse.reduce  sum keep <axes, axes = ["row"]> %10 {fuse.label = "layer_norm.E2"} : f32 to f32
    %12 = arith.divf %11, %7 {fuse.label = "layer_norm.E2"} : f32
    %13 = fuse.uniform %3 : f64 to f32
    %14 = arith.addf %12, %13 {fuse.label = "layer_norm.E2"} : f32
    %15 = math.rsqrt %14 {fuse.label = "layer_norm.E2", fuse.name = "layer_norm_rstd"} : f32
    %16 = arith.subf %0, %8 {fuse.label = "layer_norm.E3"} : f32
    %17 = arith.mulf %16, %15 {fuse.label = "layer_norm.E3", fuse.name = "layer_norm_n"} : f32
    %18 = arith.mulf %17, %1 {fuse.label = "layer_norm.E4"} : f32
    %19 = arith.addf %18, %2 {fuse.label = "layer_norm.E4", fuse.name = "layer_norm_y"} : f32
    %cst = arith.constant 1.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f64
    %20 = fuse.reduce  sum keep <axes, axes = ["row"]> %0 {fuse.label = "layer_norm.E1"} : f32 to f32
    %21 = arith.divf %20, %7 {fuse.label = "layer_norm.E1", fuse.name = "layer_norm_mean"} : f32
    %22 = arith.subf %0, %21 {fuse.label = "layer_norm.E2"} : f32
    %23 = arith.mulf %22, %22 {fuse.label = "layer_norm.E2"} : f32
    %24 = fuse.reduce  sum keep <axes, axes = ["row"]> %23 {fuse.label = "layer_norm.E2"} : f32 to f32
    %25 = arith.divf %24, %7 {fuse.label = "layer_norm.E2"} : f32
    %26 = arith.addf %25, %13 {fuse.label = "layer_norm.E2"} : f32
    %27 = math.rsqrt %26 {fuse.label = "layer_norm.E2", fuse.name = "layer_norm_rstd"} : f32
    %28 = arith.subf %0, %21 {fuse.label = "layer_norm.E3"} : f32
    %29 = arith.mulf %28, %27 {fuse.label = "layer_norm.E3", fuse.name = "layer_norm_n"} : f32
    %30 = fuse.uniform %cst : f64 to f32
    %31 = arith.mulf %29, %30 {fuse.label = "layer_norm.E4"} : f32
    %32 = fuse.uniform %cst_0 : f64 to f32
    %33 = arith.addf %31, %32 {fuse.label = "layer_norm.E4", fuse.name = "layer_norm_y"} : f32
    fuse.write "mean", %21 : f32
    %34 = fuse.reduce  sum keep <axes, axes = ["row"]> %0 {fuse.label = "layer_norm.E1"} : f32 to f32
    %35 = arith.divf %34, %7 {fuse.label = "layer_norm.E1", fuse.name = "layer_norm_mean"} : f32
    %36 = arith.subf %0, %35 {fuse.label = "layer_norm.E2"} : f32
    %37 = arith.mulf %36, %36 {fuse.label = "layer_norm.E2"} : f32
    %38 = fuse.reduce  sum keep <axes, axes = ["row"]> %37 {fuse.label = "layer_norm.E2"} : f32 to f32
    %39 = arith.divf %38, %7 {fuse.label = "layer_norm.E2"} : f32
    %40 = arith.addf %39, %13 {fuse.label = "layer_norm.E2"} : f32
    %41 = math.rsqrt %40 {fuse.label = "layer_norm.E2", fuse.name = "layer_norm_rstd"} : f32
    %42 = arith.subf %0, %35 {fuse.label = "layer_norm.E3"} : f32
    %43 = arith.mulf %42, %41 {fuse.label = "layer_norm.E3", fuse.name = "layer_norm_n"} : f32
    %44 = arith.mulf %43, %30 {fuse.label = "layer_norm.E4"} : f32
    %45 = arith.addf %44, %32 {fuse.label = "layer_norm.E4", fuse.name = "layer_norm_y"} : f32
    fuse.write "rstd", %41 : f32
    %46 = fuse.read "scale" : f64
    %47 = fuse.uniform %46 : f64 to f32
    %48 = arith.divf %19, %47 {fuse.label = "E5", fuse.name = "y"} : f32
    fuse.write "y", %48 : f32
  }
}

