module {
  fuse.op @clip_by_norm over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "norm", role = out, dtype = "f32", scope = <all>>] scalars [#fuse.hyper<name = "max_norm", value = 1.000000e+00 : f64>, #fuse.hyper<name = "eps", value = 9.9999999999999995E-7 : f64>] attributes {equations = {E1 = "norm = sqrt(sum[all](x^2));  n = norm", E2 = "f = min(1, max_norm/(n + eps))", E3 = "y = f*x"}} {
    %0 = fuse.read "x" : f32
    %1 = arith.mulf %0, %0 {fuse.label = "E1"} : f32
    %2 = fuse.reduce  sum keep <all> %1 {fuse.label = "E1"} : f32 to f64
    %3 = math.sqrt %2 {fuse.label = "E1", fuse.name = "norm"} : f64
    fuse.write "norm", %3 : f64
    %cst = arith.constant 1.000000e+00 : f64
    %4 = fuse.scalar "max_norm" : f64
    %5 = fuse.scalar "eps" : f64
    %6 = arith.addf %3, %5 {fuse.label = "E2"} : f64
    %7 = arith.divf %4, %6 {fuse.label = "E2"} : f64
    %8 = arith.minimumf %cst, %7 {fuse.label = "E2", fuse.name = "f"} : f64
    %9 = fuse.uniform %8 : f64 to f32
    %10 = arith.mulf %9, %0 {fuse.label = "E3", fuse.name = "y"} : f32
    fuse.write "y", %10 : f32
  }
}

