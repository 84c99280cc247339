module {
  fuse.op @quantize over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "scale", role = out, dtype = "f32", scope = <axes, axes = ["row"]>>] scalars [] attributes {equations = {E1 = "a = absmax(x);  scale = if a > 0 then a/largest(y) else 1", E2 = "y = x/scale"}} {
    %0 = fuse.read "x" : f32
    %1 = math.absf %0 {fuse.label = "E1"} : f32
    %2 = fuse.reduce  max keep <axes, axes = ["row"]> %1 {fuse.label = "E1", fuse.name = "a"} : f32 to f32
    %cst = arith.constant 0.000000e+00 : f64
    %3 = fuse.uniform %cst : f64 to f32
    %4 = arith.cmpf ogt, %2, %3 {fuse.label = "E1"} : f32
    %5 = fuse.largest "y" {fuse.label = "E1"} : f64
    %6 = fuse.uniform %5 : f64 to f32
    %7 = arith.divf %2, %6 {fuse.label = "E1"} : f32
    %cst_0 = arith.constant 1.000000e+00 : f64
    %8 = fuse.uniform %cst_0 : f64 to f32
    %9 = arith.select %4, %7, %8 {fuse.label = "E1", fuse.name = "scale"} : f32
    fuse.write "scale", %9 : f32
    %10 = arith.divf %0, %9 {fuse.label = "E2", fuse.name = "y"} : f32
    fuse.write "y", %10 : f32
  }
}

