module {
  fuse.op @unscale over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "scale", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "bad", role = out, dtype = "f32", scope = <all>>, #fuse.operand<name = "norm", role = out, dtype = "f32", scope = <all>>] scalars [] attributes {equations = {E1 = "y = x*(1/scale)", E2 = "bad = if any[all](not isfinite(x)) then 1 else 0", E3 = "norm = sqrt(sum[all](y^2))"}} {
    %0 = fuse.read "x" : f32
    %cst = arith.constant 1.000000e+00 : f64
    %1 = fuse.read "scale" : f64
    %2 = arith.divf %cst, %1 {fuse.label = "E1"} : f64
    %3 = fuse.uniform %2 : f64 to f32
    %4 = arith.mulf %0, %3 {fuse.label = "E1", fuse.name = "y"} : f32
    fuse.write "y", %4 : f32
    %5 = math.isfinite %0 {fuse.label = "E2"} : f32
    %true = arith.constant true
    %6 = arith.xori %5, %true {fuse.label = "E2"} : i1
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %7 = arith.select %6, %cst_0, %cst_1 {fuse.label = "E2"} : f32
    %8 = fuse.reduce  max keep <all> %7 {fuse.label = "E2"} : f32 to f64
    %cst_2 = arith.constant 0.000000e+00 : f64
    %9 = arith.cmpf ogt, %8, %cst_2 {fuse.label = "E2"} : f64
    %10 = arith.select %9, %cst, %cst_2 {fuse.label = "E2", fuse.name = "bad"} : f64
    fuse.write "bad", %10 : f64
    %11 = arith.mulf %4, %4 {fuse.label = "E3"} : f32
    %12 = fuse.reduce  sum keep <all> %11 {fuse.label = "E3"} : f32 to f64
    %13 = math.sqrt %12 {fuse.label = "E3", fuse.name = "norm"} : f64
    fuse.write "norm", %13 : f64
  }
}

