module {
  fuse.op @l2norm over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "norms", role = out, dtype = "f32", scope = <tensor>>] scalars [] attributes {equations = {E1 = "norms = sqrt(sum[tensor](x^2))"}} {
    %0 = fuse.read "x" : f32
    %1 = arith.mulf %0, %0 {fuse.label = "E1"} : f32
    %2 = fuse.reduce  sum keep <tensor> %1 {fuse.label = "E1"} : f32 to f64
    %3 = math.sqrt %2 {fuse.label = "E1", fuse.name = "norms"} : f64
    fuse.write "norms", %3 : f64
  }
}

