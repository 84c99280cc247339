module {
  fuse.op @lion over <elements> operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>, #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>, #fuse.operand<name = "m", role = state, dtype = "f32", scope = <element>, init = 0.000000e+00 : f64>] scalars [#fuse.hyper<name = "lr", value = 1.000000e-04 : f64>, #fuse.hyper<name = "beta1", value = 9.000000e-01 : f64>, #fuse.hyper<name = "beta2", value = 0.98999999999999999 : f64>, #fuse.hyper<name = "weight_decay", value = 0.000000e+00 : f64>] attributes {equations = {E1 = "c = beta1*m + (1 - beta1)*a", E2 = "p = p - lr*(sign(c) + weight_decay*p)", E3 = "m = beta2*m + (1 - beta2)*a"}} {
    %0 = fuse.read "g" : f32
    %1 = fuse.scalar "beta1" : f64
    %2 = fuse.read "m" : f32
    %3 = fuse.uniform %1 : f64 to f32
    %4 = arith.mulf %3, %2 {fuse.label = "E1"} : f32
    %cst = arith.constant 1.000000e+00 : f64
    %5 = arith.subf %cst, %1 {fuse.label = "E1"} : f64
    %6 = fuse.uniform %5 : f64 to f32
    %7 = arith.mulf %6, %0 {fuse.label = "E1"} : f32
    %8 = arith.addf %4, %7 {fuse.label = "E1", fuse.name = "c"} : f32
    %9 = fuse.read "p" : f32
    %10 = fuse.scalar "lr" : f64
    %11 = fuse.sign %8 {fuse.label = "E2"} : f32
    %12 = fuse.scalar "weight_decay" : f64
    %13 = fuse.uniform %12 : f64 to f32
    %14 = arith.mulf %13, %9 {fuse.label = "E2"} : f32
    %15 = arith.addf %11, %14 {fuse.label = "E2"} : f32
    %16 = fuse.uniform %10 : f64 to f32
    %17 = arith.mulf %16, %15 {fuse.label = "E2"} : f32
    %18 = arith.subf %9, %17 {fuse.label = "E2", fuse.name = "p"} : f32
    fuse.write "p", %18 : f32
    %19 = fuse.scalar "beta2" : f64
    %20 = fuse.uniform %19 : f64 to f32
    %21 = arith.mulf %20, %2 {fuse.label = "E3"} : f32
    %22 = arith.subf %cst, %19 {fuse.label = "E3"} : f64
    %23 = fuse.uniform %22 : f64 to f32
    %24 = arith.mulf %23, %0 {fuse.label = "E3"} : f32
    %25 = arith.addf %21, %24 {fuse.label = "E3", fuse.name = "m"} : f32
    fuse.write "m", %25 : f32
  }
}

