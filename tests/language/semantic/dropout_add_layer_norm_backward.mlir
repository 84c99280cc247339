module {
  fuse.op @dropout_add_layer_norm_backward over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "r2", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dy", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dr2", role = in, dtype = "f32", scope = <element>, neutral = 0.000000e+00 : f64>, #fuse.operand<name = "mean", role = row, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "rstd", role = row, dtype = "f32", scope = <axes, axes = ["row"]>>, #fuse.operand<name = "w", role = column, dtype = "f32", scope = <axes, axes = ["column"]>, neutral = 1.000000e+00 : f64>, #fuse.operand<name = "dx", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "dr", role = out, dtype = "f32", scope = <element>>] scalars [#fuse.hyper<name = "rate", value = 1.000000e-01 : f64>, #fuse.hyper<name = "seed", kind = int>, #fuse.hyper<name = "offset", kind = int>] attributes {equations = {E1 = "dr = layer_norm_backward(r2, dy, mean, rstd, w) + dr2", E2 = "dx = if random() >= rate then dr/(1 - rate) else 0", layer_norm_backward.E1 = "h = (x - mean)*rstd", layer_norm_backward.E2 = "g = dy*w", layer_norm_backward.E3 = "dx = rstd*(g - avg(g) - h*avg(g*h))"}} {
    %0 = fuse.read "r2" : f32
    %1 = fuse.read "dy" : f32
    %2 = fuse.read "mean" : f32
    %3 = fuse.read "rstd" : f32
    %4 = fuse.read "w" : f32
    %5 = arith.subf %0, %2 {fuse.label = "layer_norm_backward.E1"} : f32
    %6 = arith.mulf %5, %3 {fuse.label = "layer_norm_backward.E1", fuse.name = "layer_norm_backward_h"} : f32
    %7 = arith.mulf %1, %4 {fuse.label = "layer_norm_backward.E2", fuse.name = "layer_norm_backward_g"} : f32
    %8 = fuse.reduce  sum keep <axes, axes = ["row"]> %7 {fuse.label = "layer_norm_backward.E3"} : f32 to f32
    %9 = fuse.size <axes, axes = ["column"]>
    %10 = arith.sitofp %9 : i64 to f64
    %11 = fuse.uniform %10 : f64 to f32
    %12 = arith.divf %8, %11 {fuse.label = "layer_norm_backward.E3"} : f32
    %13 = arith.subf %7, %12 {fuse.label = "layer_norm_backward.E3"} : f32
    %14 = arith.mulf %7, %6 {fuse.label = "layer_norm_backward.E3"} : f32
    %15 = fuse.reduce  sum keep <axes, axes = ["row"]> %14 {fuse.label = "layer_norm_backward.E3"} : f32 to f32
    %16 = arith.divf %15, %11 {fuse.label = "layer_norm_backward.E3"} : f32
    %17 = arith.mulf %6, %16 {fuse.label = "layer_norm_backward.E3"} : f32
    %18 = arith.subf %13, %17 {fuse.label = "layer_norm_backward.E3"} : f32
    %19 = arith.mulf %3, %18 {fuse.label = "layer_norm_backward.E3", fuse.name = "layer_norm_backward_dx"} : f32
    %20 = fuse.read "dr2" : f32
    %21 = arith.addf %19, %20 {fuse.label = "E1", fuse.name = "dr"} : f32
    fuse.write "dr", %21 : f32
    %22 = fuse.scalar "seed" : i64
    %23 = fuse.uniform %22 : i64 to i64
    %24 = fuse.scalar "offset" : i64
    %25 = fuse.uniform %24 : i64 to i64
    %26 = fuse.bits 0 seed %23 offset %25 {fuse.label = "E2"}
    %27 = arith.sitofp %26 : i64 to f32
    %cst = arith.constant 1.52587890625E-5 : f64
    %28 = fuse.uniform %cst : f64 to f32
    %29 = arith.mulf %27, %28 {fuse.label = "E2"} : f32
    %30 = fuse.scalar "rate" : f64
    %31 = fuse.uniform %30 : f64 to f32
    %32 = arith.cmpf oge, %29, %31 {fuse.label = "E2"} : f32
    %cst_0 = arith.constant 1.000000e+00 : f64
    %33 = arith.subf %cst_0, %30 {fuse.label = "E2"} : f64
    %34 = fuse.uniform %33 : f64 to f32
    %35 = arith.divf %21, %34 {fuse.label = "E2"} : f32
    %cst_1 = arith.constant 0.000000e+00 : f64
    %36 = fuse.uniform %cst_1 : f64 to f32
    %37 = arith.select %32, %35, %36 {fuse.label = "E2", fuse.name = "dx"} : f32
    fuse.write "dx", %37 : f32
  }
}

