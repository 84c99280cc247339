module {
  fuse.op @log_softmax_backward over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "y", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dy", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "dx", role = out, dtype = "f32", scope = <element>>] scalars [] attributes {equations = {E1 = "dx = dy - exp(y)*sum(dy)"}} {
    %0 = fuse.read "dy" : f32
    %1 = fuse.read "y" : f32
    %2 = math.exp %1 fastmath<afn> {fuse.label = "E1"} : f32
    %3 = fuse.reduce  sum keep <axes, axes = ["row"]> %0 {fuse.label = "E1"} : f32 to f32
    %4 = arith.mulf %2, %3 {fuse.label = "E1"} : f32
    %5 = arith.subf %0, %4 {fuse.label = "E1", fuse.name = "dx"} : f32
    fuse.write "dx", %5 : f32
  }
}

