module {
  fuse.op @dropout_add_rms_norm over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "r", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "r2", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "rstd", role = save, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 1.000000e+00 : f64>] scalars [#fuse.hyper<name = "rate", value = 1.000000e-01 : f64>, #fuse.hyper<name = "eps", value = 1.000000e-05 : f64>, #fuse.hyper<name = "seed", kind = int>, #fuse.hyper<name = "offset", kind = int>] attributes {equations = {E1 = "d = if random() >= rate then x/(1 - rate) else 0", E2 = "r2 = d + r", E3 = "y = rms_norm(s, w, unit_offset = unit_offset, eps = eps).y", E4 = "rstd = rms_norm(s, w, unit_offset = unit_offset, eps = eps).rstd", rms_norm.E1 = "rstd = rsqrt(avg(x^2) + eps)", rms_norm.E2 = "n = x*rstd", rms_norm.E3 = "y = n*g"}} {
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
    %21 = fuse.scalar "eps" : f64
    %22 = arith.mulf %19, %19 {fuse.label = "rms_norm.E1"} : f32
    %23 = fuse.reduce  sum keep <axes, axes = ["row"]> %22 {fuse.label = "rms_norm.E1"} : f32 to f32
    %24 = fuse.size <axes, axes = ["column"]>
    %25 = arith.sitofp %24 : i64 to f64
    %26 = fuse.uniform %25 : f64 to f32
    %27 = arith.divf %23, %26 {fuse.label = "rms_norm.E1"} : f32
    %28 = fuse.uniform %21 : f64 to f32
    %29 = arith.addf %27, %28 {fuse.label = "rms_norm.E1"} : f32
    %30 = math.rsqrt %29 {fuse.label = "rms_norm.E1", fuse.name = "rms_norm_rstd"} : f32
    %31 = arith.mulf %19, %30 {fuse.label = "rms_norm.E2", fuse.name = "rms_norm_n"} : f32
    %32 = arith.mulf %31, %20 {fuse.label = "rms_norm.E3", fuse.name = "rms_norm_y"} : f32
    fuse.write "y", %32 : f32
    %33 = arith.mulf %19, %19 {fuse.label = "rms_norm.E1"} : f32
    %34 = fuse.reduce  sum keep <axes, axes = ["row"]> %33 {fuse.label = "rms_norm.E1"} : f32 to f32
    %35 = arith.divf %34, %26 {fuse.label = "rms_norm.E1"} : f32
    %36 = arith.addf %35, %28 {fuse.label = "rms_norm.E1"} : f32
    %37 = math.rsqrt %36 {fuse.label = "rms_norm.E1", fuse.name = "rms_norm_rstd"} : f32
    %38 = arith.mulf %19, %37 {fuse.label = "rms_norm.E2", fuse.name = "rms_norm_n"} : f32
    %39 = arith.mulf %38, %20 {fuse.label = "rms_norm.E3", fuse.name = "rms_norm_y"} : f32
    fuse.write "rstd", %37 : f32
  }
}

