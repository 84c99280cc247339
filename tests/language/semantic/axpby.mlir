module {
  fuse.op @axpby over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "y", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "z", role = out, dtype = "f32", scope = <element>>] scalars [#fuse.hyper<name = "a", value = 1.000000e+00 : f64>, #fuse.hyper<name = "b", value = 1.000000e+00 : f64>] attributes {equations = {E1 = "z = a*x + b*y"}} {
    %0 = fuse.scalar "a" : f64
    %1 = fuse.read "x" : f32
    %2 = fuse.uniform %0 : f64 to f32
    %3 = arith.mulf %2, %1 {fuse.label = "E1"} : f32
    %4 = fuse.scalar "b" : f64
    %5 = fuse.read "y" : f32
    %6 = fuse.uniform %4 : f64 to f32
    %7 = arith.mulf %6, %5 {fuse.label = "E1"} : f32
    %8 = arith.addf %3, %7 {fuse.label = "E1", fuse.name = "z"} : f32
    fuse.write "z", %8 : f32
  }
}

