module {
  fuse.op @softmax_backward over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "y", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dy", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dx", role = out, dtype = "f32", scope = <element>>] scalars [#fuse.hyper<name = "scale", value = 1.000000e+00 : f64>] attributes {equations = {E1 = "d = sum(y*dy)", E2 = "dx = scale*y*(dy - d)"}} {
    %0 = fuse.read "y" : f32
    %1 = fuse.read "dy" : f32
    %2 = arith.mulf %0, %1 {fuse.label = "E1"} : f32
    %3 = fuse.reduce  sum keep <axes, axes = ["row"]> %2 {fuse.label = "E1", fuse.name = "d"} : f32 to f32
    %4 = fuse.scalar "scale" : f64
    %5 = fuse.uniform %4 : f64 to f32
    %6 = arith.mulf %5, %0 {fuse.label = "E2"} : f32
    %7 = arith.subf %1, %3 {fuse.label = "E2"} : f32
    %8 = arith.mulf %6, %7 {fuse.label = "E2", fuse.name = "dx"} : f32
    fuse.write "dx", %8 : f32
  }
}

