module {
  fuse.op @log_softmax over <axes, kept = ["row"], spanned = ["column"]> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>] scalars [] attributes {equations = {E1 = "t = max(x)", E2 = "z = log(sum(exp(x - t)))", E3 = "y = x - t - z"}} {
    %0 = fuse.read "x" : f32
    %1 = fuse.reduce  max keep <axes, axes = ["row"]> %0 {fuse.label = "E1", fuse.name = "t"} : f32 to f32
    %2 = arith.subf %0, %1 {fuse.label = "E2"} : f32
    %3 = math.exp %2 fastmath<afn> {fuse.label = "E2"} : f32
    %4 = fuse.reduce  sum keep <axes, axes = ["row"]> %3 {fuse.label = "E2"} : f32 to f32
    %5 = math.log %4 {fuse.label = "E2", fuse.name = "z"} : f32
    %6 = arith.subf %0, %1 {fuse.label = "E3"} : f32
    %7 = arith.subf %6, %5 {fuse.label = "E3", fuse.name = "y"} : f32
    fuse.write "y", %7 : f32
  }
}

