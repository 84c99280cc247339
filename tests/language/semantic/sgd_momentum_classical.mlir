module {
  fuse.op @sgd over <elements> operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>, #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>, #fuse.operand<name = "b", role = state, dtype = "f32", scope = <element>, init = 0.000000e+00 : f64>] scalars [#fuse.hyper<name = "lr", value = 1.000000e-03 : f64>, #fuse.hyper<name = "weight_decay", value = 0.000000e+00 : f64>, #fuse.hyper<name = "mu", value = 9.000000e-01 : f64>, #fuse.hyper<name = "dampening", value = 0.000000e+00 : f64>, #fuse.hyper<name = "t", kind = int>] attributes {equations = {E1 = "d = a + weight_decay*p", E2 = "b = if t == 1 then d else mu*b + (1 - dampening)*d", E3 = "u = b", E4 = "p = p - lr*u"}} {
    %0 = fuse.read "g" : f32
    %1 = fuse.scalar "weight_decay" : f64
    %2 = fuse.read "p" : f32
    %3 = fuse.uniform %1 : f64 to f32
    %4 = arith.mulf %3, %2 {fuse.label = "E1"} : f32
    %5 = arith.addf %0, %4 {fuse.label = "E1", fuse.name = "d"} : f32
    %6 = fuse.scalar "t" : i64
    %c1_i64 = arith.constant 1 : i64
    %7 = arith.cmpi eq, %6, %c1_i64 {fuse.label = "E2"} : i64
    %8 = fuse.scalar "mu" : f64
    %9 = fuse.read "b" : f32
    %10 = fuse.uniform %8 : f64 to f32
    %11 = arith.mulf %10, %9 {fuse.label = "E2"} : f32
    %cst = arith.constant 1.000000e+00 : f64
    %12 = fuse.scalar "dampening" : f64
    %13 = arith.subf %cst, %12 {fuse.label = "E2"} : f64
    %14 = fuse.uniform %13 : f64 to f32
    %15 = arith.mulf %14, %5 {fuse.label = "E2"} : f32
    %16 = arith.addf %11, %15 {fuse.label = "E2"} : f32
    %17 = fuse.uniform %7 : i1 to i1
    %18 = arith.select %17, %5, %16 {fuse.label = "E2", fuse.name = "b"} : f32
    fuse.write "b", %18 : f32
    %19 = fuse.scalar "lr" : f64
    %20 = fuse.uniform %19 : f64 to f32
    %21 = arith.mulf %20, %18 {fuse.label = "E4"} : f32
    %22 = arith.subf %2, %21 {fuse.label = "E4", fuse.name = "p"} : f32
    fuse.write "p", %22 : f32
  }
}

