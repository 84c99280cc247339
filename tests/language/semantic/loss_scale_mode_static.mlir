module {
  fuse.op @loss_scale over <scalars> operands [#fuse.operand<name = "skipped", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "skipped1", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "skipped2", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "skipped3", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "skipped4", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "skipped5", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "skipped6", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "skipped7", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "updates", role = state, dtype = "f32", scope = <all>, init = 0.000000e+00 : f64>, #fuse.operand<name = "skips", role = state, dtype = "f32", scope = <all>, init = 0.000000e+00 : f64>, #fuse.operand<name = "skips_in_a_row", role = state, dtype = "f32", scope = <all>, init = 0.000000e+00 : f64>, #fuse.operand<name = "last_skipped", role = state, dtype = "f32", scope = <all>, init = 0.000000e+00 : f64>, #fuse.operand<name = "last_report", role = state, dtype = "f32", scope = <all>, init = 0.000000e+00 : f64>, #fuse.operand<name = "seal", role = out, dtype = "f32", scope = <all>>] scalars [] attributes {equations = {E1 = "bad = first != 0", E8 = "updates = updates + 1;  skips = if bad then skips + 1 else skips;  skips_in_a_row = if bad then skips_in_a_row + 1 else 0", E9 = "seal = updates"}} {
    %0 = fuse.read "skipped" : f64
    %cst = arith.constant 0.000000e+00 : f64
    %1 = arith.cmpf une, %0, %cst : f64
    %2 = fuse.read "skipped1" : f64
    %3 = arith.cmpf une, %2, %cst : f64
    %cst_0 = arith.constant 1.000000e+00 : f64
    %4 = fuse.read "skipped2" : f64
    %5 = arith.cmpf une, %4, %cst : f64
    %cst_1 = arith.constant 2.000000e+00 : f64
    %cst_2 = arith.constant 3.000000e+00 : f64
    %6 = arith.select %5, %cst_1, %cst_2 : f64
    %7 = arith.select %3, %cst_0, %6 : f64
    %8 = arith.select %1, %cst, %7 {fuse.name = "r3"} : f64
    %9 = fuse.read "skipped4" : f64
    %10 = arith.cmpf une, %9, %cst : f64
    %cst_3 = arith.constant 4.000000e+00 : f64
    %11 = fuse.read "skipped5" : f64
    %12 = arith.cmpf une, %11, %cst : f64
    %cst_4 = arith.constant 5.000000e+00 : f64
    %13 = fuse.read "skipped6" : f64
    %14 = arith.cmpf une, %13, %cst : f64
    %cst_5 = arith.constant 6.000000e+00 : f64
    %cst_6 = arith.constant 7.000000e+00 : f64
    %15 = arith.select %14, %cst_5, %cst_6 : f64
    %16 = arith.select %12, %cst_4, %15 : f64
    %17 = arith.select %10, %cst_3, %16 {fuse.name = "r7"} : f64
    %18 = arith.cmpf une, %0, %cst : f64
    %19 = arith.select %18, %0, %2 {fuse.name = "s1"} : f64
    %20 = arith.cmpf une, %4, %cst : f64
    %21 = fuse.read "skipped3" : f64
    %22 = arith.select %20, %4, %21 {fuse.name = "s3"} : f64
    %23 = arith.cmpf une, %9, %cst : f64
    %24 = arith.select %23, %9, %11 {fuse.name = "s5"} : f64
    %25 = arith.cmpf une, %13, %cst : f64
    %26 = fuse.read "skipped7" : f64
    %27 = arith.select %25, %13, %26 {fuse.name = "s7"} : f64
    %28 = arith.cmpf une, %19, %cst : f64
    %29 = arith.select %28, %19, %22 {fuse.name = "a"} : f64
    %30 = arith.cmpf une, %24, %cst : f64
    %31 = arith.select %30, %24, %27 {fuse.name = "b"} : f64
    %32 = arith.cmpf une, %29, %cst : f64
    %33 = arith.select %32, %29, %31 {fuse.name = "first"} : f64
    %34 = arith.cmpf une, %33, %cst {fuse.label = "E1", fuse.name = "bad"} : f64
    %35 = fuse.read "updates" : f64
    %36 = arith.addf %35, %cst_0 {fuse.label = "E8", fuse.name = "updates"} : f64
    fuse.write "updates", %36 : f64
    %37 = fuse.read "skips" : f64
    %38 = arith.addf %37, %cst_0 {fuse.label = "E8"} : f64
    %39 = arith.select %34, %38, %37 {fuse.label = "E8", fuse.name = "skips"} : f64
    fuse.write "skips", %39 : f64
    %40 = fuse.read "skips_in_a_row" : f64
    %41 = arith.addf %40, %cst_0 {fuse.label = "E8"} : f64
    %42 = arith.select %34, %41, %cst {fuse.label = "E8", fuse.name = "skips_in_a_row"} : f64
    fuse.write "skips_in_a_row", %42 : f64
    fuse.write "last_skipped", %33 : f64
    %true = arith.constant true
    %43 = arith.xori %34, %true : i1
    %44 = arith.cmpf une, %29, %cst : f64
    %45 = arith.select %44, %8, %17 : f64
    %46 = arith.select %43, %cst, %45 {fuse.name = "last_report"} : f64
    fuse.write "last_report", %46 : f64
    fuse.write "seal", %36 : f64
  }
}

