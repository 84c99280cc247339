module {
  fuse.op @l2_normalize over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "norm", role = save, dtype = "f32", scope = <axes, axes = ["row"]>>] scalars [#fuse.hyper<name = "eps", value = 9.9999999999999998E-13 : f64>] attributes {equations = {E1 = "norm = sqrt(sum(x^2))", E2 = "y = x/max(norm, eps)"}} {
    %0 = fuse.read "x" : f32
    %1 = arith.mulf %0, %0 {fuse.label = "E1"} : f32
    %2 = fuse.reduce  sum keep <axes, axes = ["row"]> %1 {fuse.label = "E1"} : f32 to f32
    %3 = math.sqrt %2 {fuse.label = "E1", fuse.name = "norm"} : f32
    fuse.write "norm", %3 : f32
    %4 = fuse.scalar "eps" : f64
    %5 = fuse.uniform %4 : f64 to f32
    %6 = arith.maximumf %3, %5 {fuse.label = "E2"} : f32
    %7 = arith.divf %0, %6 {fuse.label = "E2", fuse.name = "y"} : f32
    fuse.write "y", %7 : f32
  }
}

