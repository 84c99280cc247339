module {
  fuse.op @adamw over <elements> operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>, #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>, #fuse.operand<name = "m", role = state, dtype = "f32", scope = <element>, init = 0.000000e+00 : f64>, #fuse.operand<name = "v", role = state, dtype = "f32", scope = <element>, init = 0.000000e+00 : f64>] scalars [#fuse.hyper<name = "lr", value = 1.000000e-03 : f64>, #fuse.hyper<name = "beta1", value = 9.000000e-01 : f64>, #fuse.hyper<name = "beta2", value = 0.99899999999999999 : f64>, #fuse.hyper<name = "eps", value = 1.000000e-08 : f64>, #fuse.hyper<name = "weight_decay", value = 1.000000e-02 : f64>, #fuse.hyper<name = "t", kind = int>] attributes {equations = {E1 = "m = beta1*m + (1 - beta1)*d", E2 = "v = beta2*v + (1 - beta2)*d^2", E3 = "c1 = 1 - beta1^t;  c2 = 1 - beta2^t", E4 = "u = (m/c1) / (sqrt(s/c2) + eps)", E5 = "p = p - lr*u"}} {
    %0 = fuse.read "g" : f32
    %1 = fuse.scalar "weight_decay" : f64
    %2 = fuse.read "p" : f32
    %3 = fuse.uniform %1 : f64 to f32
    %4 = arith.mulf %3, %2 : f32
    %5 = arith.addf %0, %4 {fuse.name = "d"} : f32
    %6 = fuse.scalar "beta1" : f64
    %7 = fuse.read "m" : f32
    %8 = fuse.uniform %6 : f64 to f32
    %9 = arith.mulf %8, %7 {fuse.label = "E1"} : f32
    %cst = arith.constant 1.000000e+00 : f64
    %10 = arith.subf %cst, %6 {fuse.label = "E1"} : f64
    %11 = fuse.uniform %10 : f64 to f32
    %12 = arith.mulf %11, %5 {fuse.label = "E1"} : f32
    %13 = arith.addf %9, %12 {fuse.label = "E1", fuse.name = "m"} : f32
    fuse.write "m", %13 : f32
    %14 = fuse.scalar "beta2" : f64
    %15 = fuse.read "v" : f32
    %16 = fuse.uniform %14 : f64 to f32
    %17 = arith.mulf %16, %15 {fuse.label = "E2"} : f32
    %18 = arith.subf %cst, %14 {fuse.label = "E2"} : f64
    %19 = arith.mulf %5, %5 {fuse.label = "E2"} : f32
    %20 = fuse.uniform %18 : f64 to f32
    %21 = arith.mulf %20, %19 {fuse.label = "E2"} : f32
    %22 = arith.addf %17, %21 {fuse.label = "E2", fuse.name = "v"} : f32
    fuse.write "v", %22 : f32
    %23 = fuse.scalar "t" : i64
    %24 = math.fpowi %6, %23 {fuse.label = "E3"} : f64, i64
    %25 = arith.subf %cst, %24 {fuse.label = "E3", fuse.name = "c1"} : f64
    %26 = math.fpowi %14, %23 {fuse.label = "E3"} : f64, i64
    %27 = arith.subf %cst, %26 {fuse.label = "E3", fuse.name = "c2"} : f64
    %28 = fuse.uniform %25 : f64 to f32
    %29 = arith.divf %13, %28 {fuse.label = "E4"} : f32
    %30 = fuse.uniform %27 : f64 to f32
    %31 = arith.divf %22, %30 {fuse.label = "E4"} : f32
    %32 = math.sqrt %31 {fuse.label = "E4"} : f32
    %33 = fuse.scalar "eps" : f64
    %34 = fuse.uniform %33 : f64 to f32
    %35 = arith.addf %32, %34 {fuse.label = "E4"} : f32
    %36 = arith.divf %29, %35 {fuse.label = "E4", fuse.name = "u"} : f32
    %37 = fuse.scalar "lr" : f64
    %38 = fuse.uniform %37 : f64 to f32
    %39 = arith.mulf %38, %36 {fuse.label = "E5"} : f32
    %40 = arith.subf %2, %39 {fuse.label = "E5", fuse.name = "p"} : f32
    fuse.write "p", %40 : f32
  }
}

