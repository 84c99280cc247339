module {
  fuse.op @layer_norm over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 1.000000e+00 : f64>, #fuse.operand<name = "b", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 0.000000e+00 : f64>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "mean", role = save, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "rstd", role = save, dtype = "f32", scope = <axes, axes = ["row"]>>] scalars [#fuse.hyper<name = "eps", value = 1.000000e-05 : f64>] attributes {equations = {E1 = "mean = avg(x)", E2 = "rstd = rsqrt(avg((x - mean)^2) + eps)", E3 = "n = (x - mean)*rstd", E4 = "y = round_to(f16, n)*w + b"}} {
    %0 = fuse.read "x" : f32
    %1 = fuse.reduce  sum keep <axes, axes = ["row"]> %0 {fuse.label = "E1"} : f32 to f32
    %2 = fuse.size <axes, axes = ["column"]>
    %3 = arith.sitofp %2 : i64 to f64
    %4 = fuse.uniform %3 : f64 to f32
    %5 = arith.divf %1, %4 {fuse.label = "E1", fuse.name = "mean"} : f32
    fuse.write "mean", %5 : f32
    %6 = arith.subf %0, %5 {fuse.label = "E2"} : f32
    %7 = arith.mulf %6, %6 {fuse.label = "E2"} : f32
    %8 = fuse.reduce  sum keep <axes, axes = ["row"]> %7 {fuse.label = "E2"} : f32 to f32
    %9 = arith.divf %8, %4 {fuse.label = "E2"} : f32
    %10 = fuse.scalar "eps" : f64
    %11 = fuse.uniform %10 : f64 to f32
    %12 = arith.addf %9, %11 {fuse.label = "E2"} : f32
    %13 = math.rsqrt %12 {fuse.label = "E2", fuse.name = "rstd"} : f32
    fuse.write "rstd", %13 : f32
    %14 = arith.subf %0, %5 {fuse.label = "E3"} : f32
    %15 = arith.mulf %14, %13 {fuse.label = "E3", fuse.name = "n"} : f32
    %16 = fuse.round_to "f16", %15 {fuse.label = "E4"} : f32
    %17 = fuse.read "w" : f32
    %18 = arith.mulf %16, %17 {fuse.label = "E4"} : f32
    %19 = fuse.read "b" : f32
    %20 = arith.addf %18, %19 {fuse.label = "E4", fuse.name = "y"} : f32
    fuse.write "y", %20 : f32
  }
}

