module {
  fuse.op @causal_softmax over <axes, kept = ["batch", "head", "query"], spanned = ["key"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>] scalars [#fuse.hyper<name = "scale", value = 1.000000e+00 : f64>] attributes {equations = {E1 = "s = if index(key) <= index(query) + shift then scale*x else -inf", E2 = "y = softmax(s, masked = true)", softmax.E1 = "t = max(s)", softmax.E2 = "e = if t == -inf then 0 else exp(s - t)", softmax.E3 = "z = sum(e)", softmax.E4 = "y = if t == -inf then 0 else e/z"}} {
    %cst = arith.constant 0.000000e+00 : f64
    %0 = fuse.index "key"
    %1 = fuse.index "query"
    %c0_i64 = arith.constant 0 : i64
    %2 = fuse.uniform %c0_i64 : i64 to i64
    %3 = arith.addi %1, %2 {fuse.label = "E1"} : i64
    %4 = arith.cmpi sle, %0, %3 {fuse.label = "E1"} : i64
    %5 = fuse.scalar "scale" : f64
    %6 = fuse.read "x" : f32
    %7 = fuse.uniform %5 : f64 to f32
    %8 = arith.mulf %7, %6 {fuse.label = "E1"} : f32
    %cst_0 = arith.constant 0x7FF0000000000000 : f64
    %9 = arith.negf %cst_0 {fuse.label = "E1"} : f64
    %10 = fuse.uniform %9 : f64 to f32
    %11 = arith.select %4, %8, %10 {fuse.label = "E1", fuse.name = "s"} : f32
    %cst_1 = arith.constant 1.000000e+00 : f64
    %12 = fuse.uniform %cst_1 : f64 to f32
    %13 = arith.mulf %12, %11 {fuse.name = "softmax_s"} : f32
    %14 = fuse.reduce  max keep <axes, axes = ["batch", "head", "query"]> %13 {fuse.label = "softmax.E1", fuse.name = "softmax_t"} : f32 to f32
    %15 = arith.negf %cst_0 {fuse.label = "softmax.E2"} : f64
    %16 = fuse.uniform %15 : f64 to f32
    %17 = arith.cmpf oeq, %14, %16 {fuse.label = "softmax.E2"} : f32
    %18 = arith.subf %13, %14 {fuse.label = "softmax.E2"} : f32
    %19 = math.exp %18 fastmath<afn> {fuse.label = "softmax.E2"} : f32
    %20 = fuse.uniform %cst : f64 to f32
    %21 = arith.select %17, %20, %19 {fuse.label = "softmax.E2", fuse.name = "softmax_e"} : f32
    %22 = fuse.reduce  sum keep <axes, axes = ["batch", "head", "query"]> %21 {fuse.label = "softmax.E3", fuse.name = "softmax_z"} : f32 to f32
    %23 = arith.negf %cst_0 {fuse.label = "softmax.E4"} : f64
    %24 = fuse.uniform %23 : f64 to f32
    %25 = arith.cmpf oeq, %14, %24 {fuse.label = "softmax.E4"} : f32
    %26 = arith.divf %21, %22 {fuse.label = "softmax.E4"} : f32
    %27 = arith.select %25, %20, %26 {fuse.label = "softmax.E4", fuse.name = "softmax_y"} : f32
    fuse.write "y", %27 : f32
  }
}

