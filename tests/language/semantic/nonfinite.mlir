module {
  fuse.op @nonfinite over <elements> operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>, #fuse.operand<name = "bad", role = out, dtype = "f32", scope = <all>>, #fuse.operand<name = "first", role = out, dtype = "f32", scope = <all>>] scalars [] attributes {equations = {E1 = "bad = count[all](not isfinite(x))", E2 = "first = min[all](if isfinite(x) then inf else index(tensor))"}} {
    %0 = fuse.read "x" : f32
    %1 = math.isfinite %0 {fuse.label = "E1"} : f32
    %true = arith.constant true
    %2 = arith.xori %1, %true {fuse.label = "E1"} : i1
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %3 = arith.select %2, %cst, %cst_0 {fuse.label = "E1"} : f32
    %4 = fuse.reduce  sum keep <all> %3 {fuse.label = "E1", fuse.name = "bad"} : f32 to f64
    fuse.write "bad", %4 : f64
    %5 = math.isfinite %0 {fuse.label = "E2"} : f32
    %cst_1 = arith.constant 0x7FF0000000000000 : f64
    %6 = fuse.index
    %7 = fuse.uniform %cst_1 : f64 to f32
    %8 = arith.sitofp %6 : i64 to f64
    %9 = fuse.uniform %8 : f64 to f32
    %10 = arith.select %5, %7, %9 {fuse.label = "E2"} : f32
    %11 = fuse.reduce  min keep <all> %10 {fuse.label = "E2", fuse.name = "first"} : f32 to f64
    fuse.write "first", %11 : f64
  }
}

