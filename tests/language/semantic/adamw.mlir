module {
  fuse.op @adamw over <elements> operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>, #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>, #fuse.operand<name = "m", role = state, dtype = "f32", scope = <element>, init = 0.000000e+00 : f64>, #fuse.operand<name = "v", role = state, dtype = "f32", scope = <element>, init = 0.000000e+00 : f64>] scalars [#fuse.hyper<name = "lr", value = 1.000000e-03 : f64>, #fuse.hyper<name = "beta1", value = 9.000000e-01 : f64>, #fuse.hyper<name = "beta2", value = 0.99899999999999999 : f64>, #fuse.hyper<name = "eps", value = 1.000000e-08 : f64>, #fuse.hyper<name = "weight_decay", value = 1.000000e-02 : f64>, #fuse.hyper<name = "t", kind = int>] attributes {equations = {E1 = "m = beta1*m + (1 - beta1)*d", E2 = "v = beta2*v + (1 - beta2)*d^2", E3 = "c1 = 1 - beta1^t;  c2 = 1 - beta2^t", E4 = "u = (m/c1) / (sqrt(s/c2) + eps)", E5 = "p = p - lr*(u + weight_decay*p)"}} {
    %0 = fuse.read "g" : f32
    %1 = fuse.scalar "beta1" : f64
    %2 = fuse.read "m" : f32
    %3 = fuse.uniform %1 : f64 to f32
    %4 = arith.mulf %3, %2 {fuse.label = "E1"} : f32
    %cst = arith.constant 1.000000e+00 : f64
    %5 = arith.subf %cst, %1 {fuse.label = "E1"} : f64
    %6 = fuse.uniform %5 : f64 to f32
    %7 = arith.mulf %6, %0 {fuse.label = "E1"} : f32
    %8 = arith.addf %4, %7 {fuse.label = "E1", fuse.name = "m"} : f32
    fuse.write "m", %8 : f32
    %9 = fuse.scalar "beta2" : f64
    %10 = fuse.read "v" : f32
    %11 = fuse.uniform %9 : f64 to f32
    %12 = arith.mulf %11, %10 {fuse.label = "E2"} : f32
    %13 = arith.subf %cst, %9 {fuse.label = "E2"} : f64
    %14 = arith.mulf %0, %0 {fuse.label = "E2"} : f32
    %15 = fuse.uniform %13 : f64 to f32
    %16 = arith.mulf %15, %14 {fuse.label = "E2"} : f32
    %17 = arith.addf %12, %16 {fuse.label = "E2", fuse.name = "v"} : f32
    fuse.write "v", %17 : f32
    %18 = fuse.scalar "t" : i64
    %19 = math.fpowi %1, %18 {fuse.label = "E3"} : f64, i64
    %20 = arith.subf %cst, %19 {fuse.label = "E3", fuse.name = "c1"} : f64
    %21 = math.fpowi %9, %18 {fuse.label = "E3"} : f64, i64
    %22 = arith.subf %cst, %21 {fuse.label = "E3", fuse.name = "c2"} : f64
    %23 = fuse.uniform %20 : f64 to f32
    %24 = arith.divf %8, %23 {fuse.label = "E4"} : f32
    %25 = fuse.uniform %22 : f64 to f32
    %26 = arith.divf %17, %25 {fuse.label = "E4"} : f32
    %27 = math.sqrt %26 {fuse.label = "E4"} : f32
    %28 = fuse.scalar "eps" : f64
    %29 = fuse.uniform %28 : f64 to f32
    %30 = arith.addf %27, %29 {fuse.label = "E4"} : f32
    %31 = arith.divf %24, %30 {fuse.label = "E4", fuse.name = "u"} : f32
    %32 = fuse.read "p" : f32
    %33 = fuse.scalar "lr" : f64
    %34 = fuse.scalar "weight_decay" : f64
    %35 = fuse.uniform %34 : f64 to f32
    %36 = arith.mulf %35, %32 {fuse.label = "E5"} : f32
    %37 = arith.addf %31, %36 {fuse.label = "E5"} : f32
    %38 = fuse.uniform %33 : f64 to f32
    %39 = arith.mulf %38, %37 {fuse.label = "E5"} : f32
    %40 = arith.subf %32, %39 {fuse.label = "E5", fuse.name = "p"} : f32
    fuse.write "p", %40 : f32
  }
}

