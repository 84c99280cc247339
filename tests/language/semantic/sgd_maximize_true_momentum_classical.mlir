module {
  fuse.op @sgd over <elements> operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>, #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>, #fuse.operand<name = "b", role = state, dtype = "f32", scope = <element>, init = 0.000000e+00 : f64>] scalars [#fuse.hyper<name = "lr", value = 1.000000e-03 : f64>, #fuse.hyper<name = "weight_decay", value = 0.000000e+00 : f64>, #fuse.hyper<name = "mu", value = 9.000000e-01 : f64>, #fuse.hyper<name = "dampening", value = 0.000000e+00 : f64>, #fuse.hyper<name = "t", kind = int>] attributes {equations = {E1 = "d = a + weight_decay*p", E2 = "b = if t == 1 then d else mu*b + (1 - dampening)*d", E3 = "u = b", E4 = "p = p - lr*u"}} {
    %0 = fuse.read "g" : f32
    %1 = arith.negf %0 {fuse.name = "a"} : f32
    %2 = fuse.scalar "weight_decay" : f64
    %3 = fuse.read "p" : f32
    %4 = fuse.uniform %2 : f64 to f32
    %5 = arith.mulf %4, %3 {fuse.label = "E1"} : f32
    %6 = arith.addf %1, %5 {fuse.label = "E1", fuse.name = "d"} : f32
    %7 = fuse.scalar "t" : i64
    %c1_i64 = arith.constant 1 : i64
    %8 = arith.cmpi eq, %7, %c1_i64 {fuse.label = "E2"} : i64
    %9 = fuse.scalar "mu" : f64
    %10 = fuse.read "b" : f32
    %11 = fuse.uniform %9 : f64 to f32
    %12 = arith.mulf %11, %10 {fuse.label = "E2"} : f32
    %cst = arith.constant 1.000000e+00 : f64
    %13 = fuse.scalar "dampening" : f64
    %14 = arith.subf %cst, %13 {fuse.label = "E2"} : f64
    %15 = fuse.uniform %14 : f64 to f32
    %16 = arith.mulf %15, %6 {fuse.label = "E2"} : f32
    %17 = arith.addf %12, %16 {fuse.label = "E2"} : f32
    %18 = fuse.uniform %8 : i1 to i1
    %19 = arith.select %18, %6, %17 {fuse.label = "E2", fuse.name = "b"} : f32
    fuse.write "b", %19 : f32
    %20 = fuse.scalar "lr" : f64
    %21 = fuse.uniform %20 : f64 to f32
    %22 = arith.mulf %21, %19 {fuse.label = "E4"} : f32
    %23 = arith.subf %3, %22 {fuse.label = "E4", fuse.name = "p"} : f32
    fuse.write "p", %23 : f32
  }
}

