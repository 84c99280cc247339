module {
  fuse.op @softmax over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>] scalars [#fuse.hyper<name = "scale", value = 1.000000e+00 : f64>] attributes {equations = {E1 = "t = max(s)", E2 = "e = exp(s - t)", E3 = "z = sum(e)", E4 = "y = e/z"}} {
    %0 = fuse.scalar "scale" : f64
    %1 = fuse.read "x" : f32
    %2 = fuse.uniform %0 : f64 to f32
    %3 = arith.mulf %2, %1 {fuse.name = "s"} : f32
    %4 = fuse.reduce  max keep <axes, axes = ["row"]> %3 {fuse.label = "E1", fuse.name = "t"} : f32 to f32
    %5 = arith.subf %3, %4 {fuse.label = "E2"} : f32
    %6 = math.exp %5 fastmath<afn> {fuse.label = "E2", fuse.name = "e"} : f32
    %7 = fuse.reduce  sum keep <axes, axes = ["row"]> %6 {fuse.label = "E3", fuse.name = "z"} : f32 to f32
    %8 = arith.divf %6, %7 {fuse.label = "E4", fuse.name = "y"} : f32
    fuse.write "y", %8 : f32
  }
}

