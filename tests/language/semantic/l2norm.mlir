module {
  fuse.op @l2norm over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "norm", role = out, dtype = "f32", scope = <all>>] scalars [] attributes {equations = {E1 = "norm = sqrt(sum[all](x^2))"}} {
    %0 = fuse.read "x" : f32
    %1 = arith.mulf %0, %0 {fuse.label = "E1"} : f32
    %2 = fuse.reduce  sum keep <all> %1 {fuse.label = "E1"} : f32 to f64
    %3 = math.sqrt %2 {fuse.label = "E1", fuse.name = "norm"} : f64
    fuse.write "norm", %3 : f64
  }
}

