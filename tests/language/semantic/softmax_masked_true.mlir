module {
  fuse.op @softmax over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>] scalars [#fuse.hyper<name = "scale", value = 1.000000e+00 : f64>] attributes {equations = {E1 = "t = max(s)", E2 = "e = if t == -inf then 0 else exp(s - t)", E3 = "z = sum(e)", E4 = "y = if t == -inf then 0 else e/z"}} {
    %0 = fuse.scalar "scale" : f64
    %1 = fuse.read "x" : f32
    %2 = fuse.uniform %0 : f64 to f32
    %3 = arith.mulf %2, %1 {fuse.name = "s"} : f32
    %4 = fuse.reduce  max keep <axes, axes = ["row"]> %3 {fuse.label = "E1", fuse.name = "t"} : f32 to f32
    %cst = arith.constant 0x7FF0000000000000 : f64
    %5 = arith.negf %cst {fuse.label = "E2"} : f64
    %6 = fuse.uniform %5 : f64 to f32
    %7 = arith.cmpf oeq, %4, %6 {fuse.label = "E2"} : f32
    %cst_0 = arith.constant 0.000000e+00 : f64
    %8 = arith.subf %3, %4 {fuse.label = "E2"} : f32
    %9 = math.exp %8 fastmath<afn> {fuse.label = "E2"} : f32
    %10 = fuse.uniform %cst_0 : f64 to f32
    %11 = arith.select %7, %10, %9 {fuse.label = "E2", fuse.name = "e"} : f32
    %12 = fuse.reduce  sum keep <axes, axes = ["row"]> %11 {fuse.label = "E3", fuse.name = "z"} : f32 to f32
    %13 = arith.negf %cst {fuse.label = "E4"} : f64
    %14 = fuse.uniform %13 : f64 to f32
    %15 = arith.cmpf oeq, %4, %14 {fuse.label = "E4"} : f32
    %16 = arith.divf %11, %12 {fuse.label = "E4"} : f32
    %17 = arith.select %15, %10, %16 {fuse.label = "E4", fuse.name = "y"} : f32
    fuse.write "y", %17 : f32
  }
}

