module {
  fuse.op @dropout_add_layer_norm over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "r", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 1.000000e+00 : f64>, #fuse.operand<name = "b", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 0.000000e+00 : f64>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "r2", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "mean", role = save, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "rstd", role = save, dtype = "f32", scope = <axes, axes = ["row"]>>] scalars [#fuse.hyper<name = "rate", value = 1.000000e-01 : f64>, #fuse.hyper<name = "eps", value = 1.000000e-05 : f64>, #fuse.hyper<name = "seed", kind = int>, #fuse.hyper<name = "offset", kind = int>] attributes {equations = {E1 = "d = if random() >= rate then x/(1 - rate) else 0", E2 = "r2 = d + r", E3 = "y = layer_norm(s, w, b, eps = eps).y", E4 = "mean = layer_norm(s, eps = eps).mean", E5 = "rstd = layer_norm(s, eps = eps).rstd", layer_norm.E1 = "mean = avg(x)", layer_norm.E2 = "rstd = rsqrt(avg((x - mean)^2) + eps)", layer_norm.E3 = "n = (x - mean)*rstd", layer_norm.E4 = "y = n*w + b"}} {
    %0 = fuse.scalar "seed" : i64
    %1 = fuse.uniform %0 : i64 to i64
    %2 = fuse.scalar "offset" : i64
    %3 = fuse.uniform %2 : i64 to i64
    %4 = fuse.bits 0 seed %1 offset %3 {fuse.label = "E1"}
    %5 = arith.sitofp %4 : i64 to f32
    %cst = arith.constant 1.52587890625E-5 : f64
    %6 = fuse.uniform %cst : f64 to f32
    %7 = arith.mulf %5, %6 {fuse.label = "E1"} : f32
    %8 = fuse.scalar "rate" : f64
    %9 = fuse.uniform %8 : f64 to f32
    %10 = arith.cmpf oge, %7, %9 {fuse.label = "E1"} : f32
    %11 = fuse.read "x" : f32
    %cst_0 = arith.constant 1.000000e+00 : f64
    %12 = arith.subf %cst_0, %8 {fuse.label = "E1"} : f64
    %13 = fuse.uniform %12 : f64 to f32
    %14 = arith.divf %11, %13 {fuse.label = "E1"} : f32
    %cst_1 = arith.constant 0.000000e+00 : f64
    %15 = fuse.uniform %cst_1 : f64 to f32
    %16 = arith.select %10, %14, %15 {fuse.label = "E1", fuse.name = "d"} : f32
    %17 = fuse.read "r" : f32
    %18 = arith.addf %16, %17 {fuse.label = "E2", fuse.name = "r2"} : f32
    fuse.write "r2", %18 : f32
    %19 = fuse.stored "r2", %18 {fuse.name = "s"} : f32
    %20 = fuse.read "w" : f32
    %21 = fuse.read "b" : f32
    %22 = fuse.scalar "eps" : f64
    %23 = fuse.reduce  sum keep <axes, axes = ["row"]> %19 {fuse.label = "layer_norm.E1"} : f32 to f32
    %24 = fuse.size <axes, axes = ["column"]>
    %25 = arith.sitofp %24 : i64 to f64
    %26 = fuse.uniform %25 : f64 to f32
    %27 = arith.divf %23, %26 {fuse.label = "layer_norm.E1", fuse.name = "layer_norm_mean"} : f32
    %28 = arith.subf %19, %27 {fuse.label = "layer_norm.E2"} : f32
    %29 = arith.mulf %28, %28 {fuse.label = "layer_norm.E2"} : f32
    %30 = fuse.reduce  sum keep <axes, axes = ["row"]> %29 {fuse.label = "layer_norm.E2"} : f32 to f32
    %31 = arith.divf %30, %26 {fuse.label = "layer_norm.E2"} : f32
    %32 = fuse.uniform %22 : f64 to f32
    %33 = arith.addf %31, %32 {fuse.label = "layer_norm.E2"} : f32
    %34 = math.rsqrt %33 {fuse.label = "layer_norm.E2", fuse.name = "layer_norm_rstd"} : f32
    %35 = arith.subf %19, %27 {fuse.label = "layer_norm.E3"} : f32
    %36 = arith.mulf %35, %34 {fuse.label = "layer_norm.E3", fuse.name = "layer_norm_n"} : f32
    %37 = arith.mulf %36, %20 {fuse.label = "layer_norm.E4"} : f32
    %38 = arith.addf %37, %21 {fuse.label = "layer_norm.E4", fuse.name = "layer_norm_y"} : f32
    fuse.write "y", %38 : f32
    %39 = fuse.reduce  sum keep <axes, axes = ["row"]> %19 {fuse.label = "layer_norm.E1"} : f32 to f32
    %40 = arith.divf %39, %26 {fuse.label = "layer_norm.E1", fuse.name = "layer_norm_mean"} : f32
    %41 = arith.subf %19, %40 {fuse.label = "layer_norm.E2"} : f32
    %42 = arith.mulf %41, %41 {fuse.label = "layer_norm.E2"} : f32
    %43 = fuse.reduce  sum keep <axes, axes = ["row"]> %42 {fuse.label = "layer_norm.E2"} : f32 to f32
    %44 = arith.divf %43, %26 {fuse.label = "layer_norm.E2"} : f32
    %45 = arith.addf %44, %32 {fuse.label = "layer_norm.E2"} : f32
    %46 = math.rsqrt %45 {fuse.label = "layer_norm.E2", fuse.name = "layer_norm_rstd"} : f32
    %47 = arith.subf %19, %40 {fuse.label = "layer_norm.E3"} : f32
    %48 = arith.mulf %47, %46 {fuse.label = "layer_norm.E3", fuse.name = "layer_norm_n"} : f32
    %49 = fuse.uniform %cst_0 : f64 to f32
    %50 = arith.mulf %48, %49 {fuse.label = "layer_norm.E4"} : f32
    %51 = arith.addf %50, %15 {fuse.label = "layer_norm.E4", fuse.name = "layer_norm_y"} : f32
    fuse.write "mean", %40 : f32
    %52 = fuse.reduce  sum keep <axes, axes = ["row"]> %19 {fuse.label = "layer_norm.E1"} : f32 to f32
    %53 = arith.divf %52, %26 {fuse.label = "layer_norm.E1", fuse.name = "layer_norm_mean"} : f32
    %54 = arith.subf %19, %53 {fuse.label = "layer_norm.E2"} : f32
    %55 = arith.mulf %54, %54 {fuse.label = "layer_norm.E2"} : f32
    %56 = fuse.reduce  sum keep <axes, axes = ["row"]> %55 {fuse.label = "layer_norm.E2"} : f32 to f32
    %57 = arith.divf %56, %26 {fuse.label = "layer_norm.E2"} : f32
    %58 = arith.addf %57, %32 {fuse.label = "layer_norm.E2"} : f32
    %59 = math.rsqrt %58 {fuse.label = "layer_norm.E2", fuse.name = "layer_norm_rstd"} : f32
    %60 = arith.subf %19, %53 {fuse.label = "layer_norm.E3"} : f32
    %61 = arith.mulf %60, %59 {fuse.label = "layer_norm.E3", fuse.name = "layer_norm_n"} : f32
    %62 = arith.mulf %61, %49 {fuse.label = "layer_norm.E4"} : f32
    %63 = arith.addf %62, %15 {fuse.label = "layer_norm.E4", fuse.name = "layer_norm_y"} : f32
    fuse.write "rstd", %59 : f32
  }
}

