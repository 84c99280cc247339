module {
  fuse.op @biased_softmax over <axes, kept = ["batch", "head", "query"], spanned = ["key"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "bias", role = in, dtype = "f32", scope = <axes, axes = ["batch", "query", "key"]>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>] scalars [#fuse.hyper<name = "scale", value = 1.000000e+00 : f64>] attributes {equations = {E1 = "s = scale*x + bias", E2 = "y = softmax(s, masked = true)", softmax.E1 = "t = max(s)", softmax.E2 = "e = if t == -inf then 0 else exp(s - t)", softmax.E3 = "z = sum(e)", softmax.E4 = "y = if t == -inf then 0 else e/z"}} {
    %0 = fuse.scalar "scale" : f64
    %1 = fuse.read "x" : f32
    %2 = fuse.uniform %0 : f64 to f32
    %3 = arith.mulf %2, %1 {fuse.label = "E1"} : f32
    %4 = fuse.read "bias" : f32
    %5 = arith.addf %3, %4 {fuse.label = "E1", fuse.name = "s"} : f32
    %cst = arith.constant 1.000000e+00 : f64
    %6 = fuse.uniform %cst : f64 to f32
    %7 = arith.mulf %6, %5 {fuse.name = "softmax_s"} : f32
    %8 = fuse.reduce  max keep <axes, axes = ["batch", "head", "query"]> %7 {fuse.label = "softmax.E1", fuse.name = "softmax_t"} : f32 to f32
    %cst_0 = arith.constant 0x7FF0000000000000 : f64
    %9 = arith.negf %cst_0 {fuse.label = "softmax.E2"} : f64
    %10 = fuse.uniform %9 : f64 to f32
    %11 = arith.cmpf oeq, %8, %10 {fuse.label = "softmax.E2"} : f32
    %cst_1 = arith.constant 0.000000e+00 : f64
    %12 = arith.subf %7, %8 {fuse.label = "softmax.E2"} : f32
    %13 = math.exp %12 fastmath<afn> {fuse.label = "softmax.E2"} : f32
    %14 = fuse.uniform %cst_1 : f64 to f32
    %15 = arith.select %11, %14, %13 {fuse.label = "softmax.E2", fuse.name = "softmax_e"} : f32
    %16 = fuse.reduce  sum keep <axes, axes = ["batch", "head", "query"]> %15 {fuse.label = "softmax.E3", fuse.name = "softmax_z"} : f32 to f32
    %17 = arith.negf %cst_0 {fuse.label = "softmax.E4"} : f64
    %18 = fuse.uniform %17 : f64 to f32
    %19 = arith.cmpf oeq, %8, %18 {fuse.label = "softmax.E4"} : f32
    %20 = arith.divf %15, %16 {fuse.label = "softmax.E4"} : f32
    %21 = arith.select %19, %14, %20 {fuse.label = "softmax.E4", fuse.name = "softmax_y"} : f32
    fuse.write "y", %21 : f32
  }
}

