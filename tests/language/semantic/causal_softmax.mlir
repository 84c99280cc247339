module {
  fuse.op @causal_softmax over <axes, kept = ["batch", "head", "query"], spanned = ["key"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>] scalars [#fuse.hyper<name = "scale", value = 1.000000e+00 : f64>] attributes {equations = {E1 = "s = if index(key) <= index(query) + shift then scale*x else -inf", E2 = "y = softmax(s, masked = true)", softmax.E1 = "t = max(s)", softmax.E2 = "e = if t == -inf then 0 else exp(s - t)", softmax.E3 = "z = sum(e)", softmax.E4 = "y = if t == -inf then 0 else e/z"}} {
    %0 = fuse.size <axes, axes = ["key"]>
    %1 = fuse.size <axes, axes = ["query"]>
    %2 = arith.subi %0, %1 {fuse.name = "shift"} : i64
    %3 = fuse.index "key"
    %4 = fuse.index "query"
    %5 = fuse.uniform %2 : i64 to i64
    %6 = arith.addi %4, %5 {fuse.label = "E1"} : i64
    %7 = arith.cmpi sle, %3, %6 {fuse.label = "E1"} : i64
    %8 = fuse.scalar "scale" : f64
    %9 = fuse.read "x" : f32
    %10 = fuse.uniform %8 : f64 to f32
    %11 = arith.mulf %10, %9 {fuse.label = "E1"} : f32
    %cst = arith.constant 0x7FF0000000000000 : f64
    %12 = arith.negf %cst {fuse.label = "E1"} : f64
    %13 = fuse.uniform %12 : f64 to f32
    %14 = arith.select %7, %11, %13 {fuse.label = "E1", fuse.name = "s"} : f32
    %cst_0 = arith.constant 1.000000e+00 : f64
    %15 = fuse.uniform %cst_0 : f64 to f32
    %16 = arith.mulf %15, %14 {fuse.name = "softmax_s"} : f32
    %17 = fuse.reduce  max keep <axes, axes = ["batch", "head", "query"]> %16 {fuse.label = "softmax.E1", fuse.name = "softmax_t"} : f32 to f32
    %18 = arith.negf %cst {fuse.label = "softmax.E2"} : f64
    %19 = fuse.uniform %18 : f64 to f32
    %20 = arith.cmpf oeq, %17, %19 {fuse.label = "softmax.E2"} : f32
    %cst_1 = arith.constant 0.000000e+00 : f64
    %21 = arith.subf %16, %17 {fuse.label = "softmax.E2"} : f32
    %22 = math.exp %21 fastmath<afn> {fuse.label = "softmax.E2"} : f32
    %23 = fuse.uniform %cst_1 : f64 to f32
    %24 = arith.select %20, %23, %22 {fuse.label = "softmax.E2", fuse.name = "softmax_e"} : f32
    %25 = fuse.reduce  sum keep <axes, axes = ["batch", "head", "query"]> %24 {fuse.label = "softmax.E3", fuse.name = "softmax_z"} : f32 to f32
    %26 = arith.negf %cst {fuse.label = "softmax.E4"} : f64
    %27 = fuse.uniform %26 : f64 to f32
    %28 = arith.cmpf oeq, %17, %27 {fuse.label = "softmax.E4"} : f32
    %29 = arith.divf %24, %25 {fuse.label = "softmax.E4"} : f32
    %30 = arith.select %28, %23, %29 {fuse.label = "softmax.E4", fuse.name = "softmax_y"} : f32
    fuse.write "y", %30 : f32
  }
}

