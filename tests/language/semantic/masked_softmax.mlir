module {
  fuse.op @masked_softmax over <axes, kept = ["batch", "head", "query"], spanned = ["key"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "keep", role = in, dtype = "bool", scope = <axes, axes = ["batch", "query", "key"]>, kind = bool>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>] scalars [#fuse.hyper<name = "scale", value = 1.000000e+00 : f64>] attributes {equations = {E1 = "s = if keep then scale*x else -inf", E2 = "y = softmax(s, masked = true)", softmax.E1 = "t = max(s)", softmax.E2 = "e = if t == -inf then 0 else exp(s - t)", softmax.E3 = "z = sum(e)", softmax.E4 = "y = if t == -inf then 0 else e/z"}} {
    %0 = fuse.read "keep" : i1
    %1 = fuse.scalar "scale" : f64
    %2 = fuse.read "x" : f32
    %3 = fuse.uniform %1 : f64 to f32
    %4 = arith.mulf %3, %2 {fuse.label = "E1"} : f32
    %cst = arith.constant 0x7FF0000000000000 : f64
    %5 = arith.negf %cst {fuse.label = "E1"} : f64
    %6 = fuse.uniform %5 : f64 to f32
    %7 = arith.select %0, %4, %6 {fuse.label = "E1", fuse.name = "s"} : f32
    %cst_0 = arith.constant 1.000000e+00 : f64
    %8 = fuse.uniform %cst_0 : f64 to f32
    %9 = arith.mulf %8, %7 {fuse.name = "softmax_s"} : f32
    %10 = fuse.reduce  max keep <axes, axes = ["batch", "head", "query"]> %9 {fuse.label = "softmax.E1", fuse.name = "softmax_t"} : f32 to f32
    %11 = arith.negf %cst {fuse.label = "softmax.E2"} : f64
    %12 = fuse.uniform %11 : f64 to f32
    %13 = arith.cmpf oeq, %10, %12 {fuse.label = "softmax.E2"} : f32
    %cst_1 = arith.constant 0.000000e+00 : f64
    %14 = arith.subf %9, %10 {fuse.label = "softmax.E2"} : f32
    %15 = math.exp %14 fastmath<afn> {fuse.label = "softmax.E2"} : f32
    %16 = fuse.uniform %cst_1 : f64 to f32
    %17 = arith.select %13, %16, %15 {fuse.label = "softmax.E2", fuse.name = "softmax_e"} : f32
    %18 = fuse.reduce  sum keep <axes, axes = ["batch", "head", "query"]> %17 {fuse.label = "softmax.E3", fuse.name = "softmax_z"} : f32 to f32
    %19 = arith.negf %cst {fuse.label = "softmax.E4"} : f64
    %20 = fuse.uniform %19 : f64 to f32
    %21 = arith.cmpf oeq, %10, %20 {fuse.label = "softmax.E4"} : f32
    %22 = arith.divf %17, %18 {fuse.label = "softmax.E4"} : f32
    %23 = arith.select %21, %16, %22 {fuse.label = "softmax.E4", fuse.name = "softmax_y"} : f32
    fuse.write "y", %23 : f32
  }
}

