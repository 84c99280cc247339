module {
  fuse.op @quantize over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>, #fuse.operand<name = "scale", role = in, dtype = "f32", scope = <tensor>>] scalars [] attributes {equations = {E2 = "y = x/scale"}} {
    %0 = fuse.read "x" : f32
    %1 = fuse.read "scale" : f64
    %2 = fuse.uniform %1 : f64 to f32
    %3 = arith.divf %0, %2 {fuse.label = "E2", fuse.name = "y"} : f32
    fuse.write "y", %3 : f32
  }
}

