module {
  fuse.op @masked_softmax over <axes, kept = ["batch", "head", "query"], spanned = ["key"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "keep", role = in, dtype = "bool", scope = <axes, axes = ["batch", "query", "key"]>, kind = bool>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>] scalars [#fuse.hyper<name = "scale", value = 1.000000e+00 : f64>, #fuse.hyper<name = "value", value = -1.000000e+04 : f64>] attributes {equations = {E1 = "s = if keep then scale*x else value", E2 = "y = if any(keep) then softmax(s) else 0", softmax.E1 = "t = max(s)", softmax.E2 = "e = exp(s - t)", softmax.E3 = "z = sum(e)", softmax.E4 = "y = e/z"}} {
    %0 = fuse.read "keep" : i1
    %1 = fuse.scalar "scale" : f64
    %2 = fuse.read "x" : f32
    %3 = fuse.uniform %1 : f64 to f32
    %4 = arith.mulf %3, %2 {fuse.label = "E1"} : f32
    %5 = fuse.scalar "value" : f64
    %6 = fuse.uniform %5 : f64 to f32
    %7 = arith.select %0, %4, %6 {fuse.label = "E1", fuse.name = "s"} : f32
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %8 = arith.select %0, %cst, %cst_0 {fuse.label = "E2"} : f32
    %9 = fuse.reduce  max keep <axes, axes = ["batch", "head", "query"]> %8 {fuse.label = "E2"} : f32 to f32
    %cst_1 = arith.constant 0.000000e+00 : f64
    %10 = fuse.uniform %cst_1 : f64 to f32
    %11 = arith.cmpf ogt, %9, %10 {fuse.label = "E2"} : f32
    %cst_2 = arith.constant 1.000000e+00 : f64
    %12 = fuse.uniform %cst_2 : f64 to f32
    %13 = arith.mulf %12, %7 {fuse.name = "softmax_s"} : f32
    %14 = fuse.reduce  max keep <axes, axes = ["batch", "head", "query"]> %13 {fuse.label = "softmax.E1", fuse.name = "softmax_t"} : f32 to f32
    %15 = arith.subf %13, %14 {fuse.label = "softmax.E2"} : f32
    %16 = math.exp %15 fastmath<afn> {fuse.label = "softmax.E2", fuse.name = "softmax_e"} : f32
    %17 = fuse.reduce  sum keep <axes, axes = ["batch", "head", "query"]> %16 {fuse.label = "softmax.E3", fuse.name = "softmax_z"} : f32 to f32
    %18 = arith.divf %16, %17 {fuse.label = "softmax.E4", fuse.name = "softmax_y"} : f32
    %19 = arith.select %11, %18, %10 {fuse.label = "E2", fuse.name = "y"} : f32
    fuse.write "y", %19 : f32
  }
}

