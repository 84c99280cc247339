// A conversion between storage dtypes as the language lowers it.
fuse.op @cast over <elements>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [] attributes {equations = {E1 = "y = x"}} {
  %x = fuse.read "x" : f32
  fuse.write "y", %x : f32
}
