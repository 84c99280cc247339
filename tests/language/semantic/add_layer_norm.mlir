module {
  fuse.op @add_layer_norm over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "r", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 1.000000e+00 : f64>, #fuse.operand<name = "b", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 0.000000e+00 : f64>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "r2", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "mean", role = save, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "rstd", role = save, dtype = "f32", scope = <axes, axes = ["row"]>>] scalars [#fuse.hyper<name = "eps", value = 1.000000e-05 : f64>] attributes {equations = {E1 = "r2 = x + r", E2 = "y = layer_norm(s, w, b, eps = eps).y", E3 = "mean = layer_norm(s, eps = eps).mean", E4 = "rstd = layer_norm(s, eps = eps).rstd", layer_norm.E1 = "mean = avg(x)", layer_norm.E2 = "rstd = rsqrt(avg((x - mean)^2) + eps)", layer_norm.E3 = "n = (x - mean)*rstd", layer_norm.E4 = "y = n*w + b"}} {
    %0 = fuse.read "x" : f32
    %1 = fuse.read "r" : f32
    %2 = arith.addf %0, %1 {fuse.label = "E1", fuse.name = "r2"} : f32
    fuse.write "r2", %2 : f32
    %3 = fuse.stored "r2", %2 {fuse.name = "s"} : f32
    %4 = fuse.read "w" : f32
    %5 = fuse.read "b" : f32
    %6 = fuse.scalar "eps" : f64
    %7 = fuse.reduce  sum keep <axes, axes = ["row"]> %3 {fuse.label = "layer_norm.E1"} : f32 to f32
    %8 = fuse.size <axes, axes = ["column"]>
    %9 = arith.sitofp %8 : i64 to f64
    %10 = fuse.uniform %9 : f64 to f32
    %11 = arith.divf %7, %10 {fuse.label = "layer_norm.E1", fuse.name = "layer_norm_mean"} : f32
    %12 = arith.subf %3, %11 {fuse.label = "layer_norm.E2"} : f32
    %13 = arith.mulf %12, %12 {fuse.label = "layer_norm.E2"} : f32
    %14 = fuse.reduce  sum keep <axes, axes = ["row"]> %13 {fuse.label = "layer_norm.E2"} : f32 to f32
    %15 = arith.divf %14, %10 {fuse.label = "layer_norm.E2"} : f32
    %16 = fuse.uniform %6 : f64 to f32
    %17 = arith.addf %15, %16 {fuse.label = "layer_norm.E2"} : f32
    %18 = math.rsqrt %17 {fuse.label = "layer_norm.E2", fuse.name = "layer_norm_rstd"} : f32
    %19 = arith.subf %3, %11 {fuse.label = "layer_norm.E3"} : f32
    %20 = arith.mulf %19, %18 {fuse.label = "layer_norm.E3", fuse.name = "layer_norm_n"} : f32
    %21 = arith.mulf %20, %4 {fuse.label = "layer_norm.E4"} : f32
    %22 = arith.addf %21, %5 {fuse.label = "layer_norm.E4", fuse.name = "layer_norm_y"} : f32
    fuse.write "y", %22 : f32
    %cst = arith.constant 1.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f64
    %23 = fuse.reduce  sum keep <axes, axes = ["row"]> %3 {fuse.label = "layer_norm.E1"} : f32 to f32
    %24 = arith.divf %23, %10 {fuse.label = "layer_norm.E1", fuse.name = "layer_norm_mean"} : f32
    %25 = arith.subf %3, %24 {fuse.label = "layer_norm.E2"} : f32
    %26 = arith.mulf %25, %25 {fuse.label = "layer_norm.E2"} : f32
    %27 = fuse.reduce  sum keep <axes, axes = ["row"]> %26 {fuse.label = "layer_norm.E2"} : f32 to f32
    %28 = arith.divf %27, %10 {fuse.label = "layer_norm.E2"} : f32
    %29 = arith.addf %28, %16 {fuse.label = "layer_norm.E2"} : f32
    %30 = math.rsqrt %29 {fuse.label = "layer_norm.E2", fuse.name = "layer_norm_rstd"} : f32
    %31 = arith.subf %3, %24 {fuse.label = "layer_norm.E3"} : f32
    %32 = arith.mulf %31, %30 {fuse.label = "layer_norm.E3", fuse.name = "layer_norm_n"} : f32
    %33 = fuse.uniform %cst : f64 to f32
    %34 = arith.mulf %32, %33 {fuse.label = "layer_norm.E4"} : f32
    %35 = fuse.uniform %cst_0 : f64 to f32
    %36 = arith.addf %34, %35 {fuse.label = "layer_norm.E4", fuse.name = "layer_norm_y"} : f32
    fuse.write "mean", %24 : f32
    %37 = fuse.reduce  sum keep <axes, axes = ["row"]> %3 {fuse.label = "layer_norm.E1"} : f32 to f32
    %38 = arith.divf %37, %10 {fuse.label = "layer_norm.E1", fuse.name = "layer_norm_mean"} : f32
    %39 = arith.subf %3, %38 {fuse.label = "layer_norm.E2"} : f32
    %40 = arith.mulf %39, %39 {fuse.label = "layer_norm.E2"} : f32
    %41 = fuse.reduce  sum keep <axes, axes = ["row"]> %40 {fuse.label = "layer_norm.E2"} : f32 to f32
    %42 = arith.divf %41, %10 {fuse.label = "layer_norm.E2"} : f32
    %43 = arith.addf %42, %16 {fuse.label = "layer_norm.E2"} : f32
    %44 = math.rsqrt %43 {fuse.label = "layer_norm.E2", fuse.name = "layer_norm_rstd"} : f32
    %45 = arith.subf %3, %38 {fuse.label = "layer_norm.E3"} : f32
    %46 = arith.mulf %45, %44 {fuse.label = "layer_norm.E3", fuse.name = "layer_norm_n"} : f32
    %47 = arith.mulf %46, %33 {fuse.label = "layer_norm.E4"} : f32
    %48 = arith.addf %47, %35 {fuse.label = "layer_norm.E4", fuse.name = "layer_norm_y"} : f32
    fuse.write "rstd", %44 : f32
  }
}

