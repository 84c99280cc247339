// SGD with momentum as the language lowers it.
fuse.op @sgd over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "m", role = state, dtype = "f32", scope = <element>, init = 0.0 : f64>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>, #fuse.hyper<name = "momentum", value = 0.9 : f64>]
    attributes {equations = {E1 = "m = momentum*m + g", E2 = "p = p - lr*m"}} {
  %momentum = fuse.scalar "momentum" : f64
  %0 = fuse.uniform %momentum : f64 to f32
  %m0 = fuse.read "m" : f32
  %1 = arith.mulf %0, %m0 {fuse.label = "E1"} : f32
  %g = fuse.read "g" : f32
  %m = arith.addf %1, %g {fuse.label = "E1", fuse.name = "m"} : f32
  fuse.write "m", %m : f32
  %p0 = fuse.read "p" : f32
  %lr = fuse.scalar "lr" : f64
  %2 = fuse.uniform %lr : f64 to f32
  %3 = arith.mulf %2, %m {fuse.label = "E2"} : f32
  %p = arith.subf %p0, %3 {fuse.label = "E2", fuse.name = "p"} : f32
  fuse.write "p", %p : f32
}
