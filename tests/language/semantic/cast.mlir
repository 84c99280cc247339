module {
  fuse.op @cast over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>] scalars [] attributes {equations = {E1 = "y = x"}} {
    %0 = fuse.read "x" : f32
    fuse.write "y", %0 : f32
  }
}

