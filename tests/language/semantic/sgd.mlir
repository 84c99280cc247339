module {
  fuse.op @sgd over <elements> operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>, #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>] scalars [#fuse.hyper<name = "lr", value = 1.000000e-03 : f64>, #fuse.hyper<name = "weight_decay", value = 0.000000e+00 : f64>] attributes {equations = {E1 = "d = a + weight_decay*p", E4 = "p = p - lr*u"}} {
    %0 = fuse.read "g" : f32
    %1 = fuse.scalar "weight_decay" : f64
    %2 = fuse.read "p" : f32
    %3 = fuse.uniform %1 : f64 to f32
    %4 = arith.mulf %3, %2 {fuse.label = "E1"} : f32
    %5 = arith.addf %0, %4 {fuse.label = "E1", fuse.name = "d"} : f32
    %6 = fuse.scalar "lr" : f64
    %7 = fuse.uniform %6 : f64 to f32
    %8 = arith.mulf %7, %5 {fuse.label = "E4"} : f32
    %9 = arith.subf %2, %8 {fuse.label = "E4", fuse.name = "p"} : f32
    fuse.write "p", %9 : f32
  }
}

