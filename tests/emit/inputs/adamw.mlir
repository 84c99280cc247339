// AdamW as the language lowers it, decoupled weight decay.
fuse.op @adamw over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "m", role = state, dtype = "f32", scope = <element>, init = 0.0 : f64>,
              #fuse.operand<name = "v", role = state, dtype = "f32", scope = <element>, init = 0.0 : f64>]
    scalars [#fuse.hyper<name = "t", kind = int>, #fuse.hyper<name = "lr", value = 0.001 : f64>,
             #fuse.hyper<name = "beta1", value = 0.9 : f64>, #fuse.hyper<name = "beta2", value = 0.999 : f64>,
             #fuse.hyper<name = "eps", value = 1.0e-8 : f64>, #fuse.hyper<name = "weight_decay", value = 0.01 : f64>]
    attributes {equations = {E1 = "m = beta1*m + (1 - beta1)*d", E2 = "v = beta2*v + (1 - beta2)*d^2",
                             E3 = "c1 = 1 - beta1^t;  c2 = 1 - beta2^t", E4 = "u = (m/c1) / (sqrt(s/c2) + eps)",
                             E5 = "p = p - lr*(u + weight_decay*p)"}} {
  %g = fuse.read "g" : f32
  %beta1 = fuse.scalar "beta1" : f64
  %beta1_e = fuse.uniform %beta1 : f64 to f32
  %m0 = fuse.read "m" : f32
  %0 = arith.mulf %beta1_e, %m0 {fuse.label = "E1"} : f32
  %one = arith.constant 1.0 : f64
  %1 = arith.subf %one, %beta1 {fuse.label = "E1"} : f64
  %2 = fuse.uniform %1 : f64 to f32
  %3 = arith.mulf %2, %g {fuse.label = "E1"} : f32
  %m = arith.addf %0, %3 {fuse.label = "E1", fuse.name = "m"} : f32
  fuse.write "m", %m : f32
  %beta2 = fuse.scalar "beta2" : f64
  %beta2_e = fuse.uniform %beta2 : f64 to f32
  %v0 = fuse.read "v" : f32
  %4 = arith.mulf %beta2_e, %v0 {fuse.label = "E2"} : f32
  %5 = arith.subf %one, %beta2 {fuse.label = "E2"} : f64
  %6 = fuse.uniform %5 : f64 to f32
  %7 = arith.mulf %g, %g {fuse.label = "E2"} : f32
  %8 = arith.mulf %6, %7 {fuse.label = "E2"} : f32
  %v = arith.addf %4, %8 {fuse.label = "E2", fuse.name = "v"} : f32
  fuse.write "v", %v : f32
  %t = fuse.scalar "t" : i64
  %9 = math.fpowi %beta1, %t {fuse.label = "E3"} : f64, i64
  %c1 = arith.subf %one, %9 {fuse.label = "E3", fuse.name = "c1"} : f64
  %10 = math.fpowi %beta2, %t {fuse.label = "E3"} : f64, i64
  %c2 = arith.subf %one, %10 {fuse.label = "E3", fuse.name = "c2"} : f64
  %c1_e = fuse.uniform %c1 : f64 to f32
  %11 = arith.divf %m, %c1_e {fuse.label = "E4"} : f32
  %c2_e = fuse.uniform %c2 : f64 to f32
  %12 = arith.divf %v, %c2_e {fuse.label = "E4"} : f32
  %13 = math.sqrt %12 {fuse.label = "E4"} : f32
  %eps = fuse.scalar "eps" : f64
  %eps_e = fuse.uniform %eps : f64 to f32
  %14 = arith.addf %13, %eps_e {fuse.label = "E4"} : f32
  %u = arith.divf %11, %14 {fuse.label = "E4", fuse.name = "u"} : f32
  %p0 = fuse.read "p" : f32
  %lr = fuse.scalar "lr" : f64
  %lr_e = fuse.uniform %lr : f64 to f32
  %wd = fuse.scalar "weight_decay" : f64
  %wd_e = fuse.uniform %wd : f64 to f32
  %15 = arith.mulf %wd_e, %p0 {fuse.label = "E5"} : f32
  %16 = arith.addf %u, %15 {fuse.label = "E5"} : f32
  %17 = arith.mulf %lr_e, %16 {fuse.label = "E5"} : f32
  %p = arith.subf %p0, %17 {fuse.label = "E5", fuse.name = "p"} : f32
  fuse.write "p", %p : f32
}
