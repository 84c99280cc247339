module {
  fuse.op @alibi_softmax over <axes, kept = ["batch", "head", "query"], spanned = ["key"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "slope", role = in, dtype = "f32", scope = <axes, axes = ["head"]>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>] scalars [#fuse.hyper<name = "scale", value = 1.000000e+00 : f64>] attributes {equations = {E1 = "d = index(query) + size(key) - size(query) - index(key)", E2 = "s = if d >= 0 then scale*x - slope*d else -inf", E3 = "y = softmax(s, masked = true)", softmax.E1 = "t = max(s)", softmax.E2 = "e = if t == -inf then 0 else exp(s - t)", softmax.E3 = "z = sum(e)", softmax.E4 = "y = if t == -inf then 0 else e/z"}} {
    %0 = fuse.index "query"
    %1 = fuse.size <axes, axes = ["key"]>
    %2 = fuse.uniform %1 : i64 to i64
    %3 = arith.addi %0, %2 {fuse.label = "E1"} : i64
    %4 = fuse.size <axes, axes = ["query"]>
    %5 = fuse.uniform %4 : i64 to i64
    %6 = arith.subi %3, %5 {fuse.label = "E1"} : i64
    %7 = fuse.index "key"
    %8 = arith.subi %6, %7 {fuse.label = "E1", fuse.name = "d"} : i64
    %c0_i64 = arith.constant 0 : i64
    %9 = fuse.uniform %c0_i64 : i64 to i64
    %10 = arith.cmpi sge, %8, %9 {fuse.label = "E2"} : i64
    %11 = fuse.scalar "scale" : f64
    %12 = fuse.read "x" : f32
    %13 = fuse.uniform %11 : f64 to f32
    %14 = arith.mulf %13, %12 {fuse.label = "E2"} : f32
    %15 = fuse.read "slope" : f32
    %16 = arith.sitofp %8 : i64 to f32
    %17 = arith.mulf %15, %16 {fuse.label = "E2"} : f32
    %18 = arith.subf %14, %17 {fuse.label = "E2"} : f32
    %cst = arith.constant 0x7FF0000000000000 : f64
    %19 = arith.negf %cst {fuse.label = "E2"} : f64
    %20 = fuse.uniform %19 : f64 to f32
    %21 = arith.select %10, %18, %20 {fuse.label = "E2", fuse.name = "s"} : f32
    %cst_0 = arith.constant 1.000000e+00 : f64
    %22 = fuse.uniform %cst_0 : f64 to f32
    %23 = arith.mulf %22, %21 {fuse.name = "softmax_s"} : f32
    %24 = fuse.reduce  max keep <axes, axes = ["batch", "head", "query"]> %23 {fuse.label = "softmax.E1", fuse.name = "softmax_t"} : f32 to f32
    %25 = arith.negf %cst {fuse.label = "softmax.E2"} : f64
    %26 = fuse.uniform %25 : f64 to f32
    %27 = arith.cmpf oeq, %24, %26 {fuse.label = "softmax.E2"} : f32
    %cst_1 = arith.constant 0.000000e+00 : f64
    %28 = arith.subf %23, %24 {fuse.label = "softmax.E2"} : f32
    %29 = math.exp %28 fastmath<afn> {fuse.label = "softmax.E2"} : f32
    %30 = fuse.uniform %cst_1 : f64 to f32
    %31 = arith.select %27, %30, %29 {fuse.label = "softmax.E2", fuse.name = "softmax_e"} : f32
    %32 = fuse.reduce  sum keep <axes, axes = ["batch", "head", "query"]> %31 {fuse.label = "softmax.E3", fuse.name = "softmax_z"} : f32 to f32
    %33 = arith.negf %cst {fuse.label = "softmax.E4"} : f64
    %34 = fuse.uniform %33 : f64 to f32
    %35 = arith.cmpf oeq, %24, %34 {fuse.label = "softmax.E4"} : f32
    %36 = arith.divf %31, %32 {fuse.label = "softmax.E4"} : f32
    %37 = arith.select %35, %30, %36 {fuse.label = "softmax.E4", fuse.name = "softmax_y"} : f32
    fuse.write "y", %37 : f32
  }
}

