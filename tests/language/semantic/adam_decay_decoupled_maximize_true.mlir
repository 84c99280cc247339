module {
  fuse.op @adam over <elements> operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>, #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>, #fuse.operand<name = "m", role = state, dtype = "f32", scope = <element>, init = 0.000000e+00 : f64>, #fuse.operand<name = "v", role = state, dtype = "f32", scope = <element>, init = 0.000000e+00 : f64>] scalars [#fuse.hyper<name = "lr", value = 1.000000e-03 : f64>, #fuse.hyper<name = "beta1", value = 9.000000e-01 : f64>, #fuse.hyper<name = "beta2", value = 0.99899999999999999 : f64>, #fuse.hyper<name = "eps", value = 1.000000e-08 : f64>, #fuse.hyper<name = "weight_decay", value = 0.000000e+00 : f64>, #fuse.hyper<name = "t", kind = int>] attributes {equations = {E1 = "m = beta1*m + (1 - beta1)*d", E2 = "v = beta2*v + (1 - beta2)*d^2", E3 = "c1 = 1 - beta1^t;  c2 = 1 - beta2^t", E4 = "u = (m/c1) / (sqrt(s/c2) + eps)", E5 = "p = p - lr*(u + weight_decay*p)"}} {
    %0 = fuse.read "g" : f32
    %1 = arith.negf %0 {fuse.name = "a"} : f32
    %2 = fuse.scalar "beta1" : f64
    %3 = fuse.read "m" : f32
    %4 = fuse.uniform %2 : f64 to f32
    %5 = arith.mulf %4, %3 {fuse.label = "E1"} : f32
    %cst = arith.constant 1.000000e+00 : f64
    %6 = arith.subf %cst, %2 {fuse.label = "E1"} : f64
    %7 = fuse.uniform %6 : f64 to f32
    %8 = arith.mulf %7, %1 {fuse.label = "E1"} : f32
    %9 = arith.addf %5, %8 {fuse.label = "E1", fuse.name = "m"} : f32
    fuse.write "m", %9 : f32
    %10 = fuse.scalar "beta2" : f64
    %11 = fuse.read "v" : f32
    %12 = fuse.uniform %10 : f64 to f32
    %13 = arith.mulf %12, %11 {fuse.label = "E2"} : f32
    %14 = arith.subf %cst, %10 {fuse.label = "E2"} : f64
    %15 = arith.mulf %1, %1 {fuse.label = "E2"} : f32
    %16 = fuse.uniform %14 : f64 to f32
    %17 = arith.mulf %16, %15 {fuse.label = "E2"} : f32
    %18 = arith.addf %13, %17 {fuse.label = "E2", fuse.name = "v"} : f32
    fuse.write "v", %18 : f32
    %19 = fuse.scalar "t" : i64
    %20 = math.fpowi %2, %19 {fuse.label = "E3"} : f64, i64
    %21 = arith.subf %cst, %20 {fuse.label = "E3", fuse.name = "c1"} : f64
    %22 = math.fpowi %10, %19 {fuse.label = "E3"} : f64, i64
    %23 = arith.subf %cst, %22 {fuse.label = "E3", fuse.name = "c2"} : f64
    %24 = fuse.uniform %21 : f64 to f32
    %25 = arith.divf %9, %24 {fuse.label = "E4"} : f32
    %26 = fuse.uniform %23 : f64 to f32
    %27 = arith.divf %18, %26 {fuse.label = "E4"} : f32
    %28 = math.sqrt %27 {fuse.label = "E4"} : f32
    %29 = fuse.scalar "eps" : f64
    %30 = fuse.uniform %29 : f64 to f32
    %31 = arith.addf %28, %30 {fuse.label = "E4"} : f32
    %32 = arith.divf %25, %31 {fuse.label = "E4", fuse.name = "u"} : f32
    %33 = fuse.read "p" : f32
    %34 = fuse.scalar "lr" : f64
    %35 = fuse.scalar "weight_decay" : f64
    %36 = fuse.uniform %35 : f64 to f32
    %37 = arith.mulf %36, %33 {fuse.label = "E5"} : f32
    %38 = arith.addf %32, %37 {fuse.label = "E5"} : f32
    %39 = fuse.uniform %34 : f64 to f32
    %40 = arith.mulf %39, %38 {fuse.label = "E5"} : f32
    %41 = arith.subf %33, %40 {fuse.label = "E5", fuse.name = "p"} : f32
    fuse.write "p", %41 : f32
  }
}

