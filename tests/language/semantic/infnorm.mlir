module {
  fuse.op @infnorm over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "norm", role = out, dtype = "f32", scope = <all>>] scalars [] attributes {equations = {E1 = "norm = max(absmax[all](x), 0)"}} {
    %0 = fuse.read "x" : f32
    %1 = math.absf %0 {fuse.label = "E1"} : f32
    %2 = fuse.reduce  max keep <all> %1 {fuse.label = "E1"} : f32 to f64
    %cst = arith.constant 0.000000e+00 : f64
    %3 = arith.maximumf %2, %cst {fuse.label = "E1", fuse.name = "norm"} : f64
    fuse.write "norm", %3 : f64
  }
}

