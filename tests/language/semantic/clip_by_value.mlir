module {
  fuse.op @clip_by_value over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>] scalars [#fuse.hyper<name = "limit", value = 1.000000e+00 : f64>] attributes {equations = {E1 = "y = clamp(x, -limit, limit)"}} {
    %0 = fuse.read "x" : f32
    %1 = fuse.scalar "limit" : f64
    %2 = arith.negf %1 {fuse.label = "E1"} : f64
    %3 = fuse.uniform %2 : f64 to f32
    %4 = fuse.uniform %1 : f64 to f32
    %5 = arith.maximumf %0, %3 {fuse.label = "E1"} : f32
    %6 = arith.minimumf %5, %4 {fuse.label = "E1", fuse.name = "y"} : f32
    fuse.write "y", %6 : f32
  }
}

