module {
  fuse.op @scale over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.000000e+00 : f64>] attributes {equations = {E1 = "y = a*x"}} {
    %0 = fuse.scalar "a" : f64
    %1 = fuse.read "x" : f32
    %2 = fuse.uniform %0 : f64 to f32
    %3 = arith.mulf %2, %1 {fuse.label = "E1", fuse.name = "y"} : f32
    fuse.write "y", %3 : f32
  }
}

