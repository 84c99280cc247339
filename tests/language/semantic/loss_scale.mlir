module {
  fuse.op @loss_scale over <scalars> operands [#fuse.operand<name = "skipped", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "skipped1", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "skipped2", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "skipped3", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "skipped4", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "skipped5", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "skipped6", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "skipped7", role = in, dtype = "f32", scope = <all>>, #fuse.operand<name = "updates", role = state, dtype = "f32", scope = <all>, init = 0.000000e+00 : f64>, #fuse.operand<name = "skips", role = state, dtype = "f32", scope = <all>, init = 0.000000e+00 : f64>, #fuse.operand<name = "skips_in_a_row", role = state, dtype = "f32", scope = <all>, init = 0.000000e+00 : f64>, #fuse.operand<name = "last_skipped", role = state, dtype = "f32", scope = <all>, init = 0.000000e+00 : f64>, #fuse.operand<name = "last_report", role = state, dtype = "f32", scope = <all>, init = 0.000000e+00 : f64>, #fuse.operand<name = "seal", role = out, dtype = "f32", scope = <all>>, #fuse.operand<name = "scale", role = state, dtype = "f32", scope = <all>, init = 6.553600e+04 : f64>, #fuse.operand<name = "previous_scale", role = state, dtype = "f32", scope = <all>, init = 6.553600e+04 : f64>, #fuse.operand<name = "growth_count", role = state, dtype = "f32", scope = <all>, init = 0.000000e+00 : f64>, #fuse.operand<name = "hysteresis_left", role = state, dtype = "f32", scope = <all>, init = 1.000000e+00 : f64>] scalars [#fuse.hyper<name = "growth_factor", value = 2.000000e+00 : f64>, #fuse.hyper<name = "backoff_factor", value = 5.000000e-01 : f64>, #fuse.hyper<name = "growth_interval", value = 2.000000e+03 : f64>, #fuse.hyper<name = "hysteresis", value = 1.000000e+00 : f64>, #fuse.hyper<name = "min_scale", value = 1.52587890625E-5 : f64>, #fuse.hyper<name = "max_scale", value = 3.4028234663852886E+38 : f64>] attributes {equations = {E1 = "bad = first != 0", E2 = "grows = not bad and n >= growth_interval", E3 = "left = if bad then max(hysteresis_left - 1, 0) else if whole then hysteresis else hysteresis_left", E4 = "up = round_to(f32, s*growth_factor)", E5 = "small = round_to(f32, s*backoff_factor)", E6 = "scale = if bad and left == 0 then max(down, min_scale) else if grows and isfinite(up) then min(up, max_scale) else scale", E7 = "growth_count = if bad or grows then 0 else n", E8 = "updates = updates + 1;  skips = if bad then skips + 1 else skips;  skips_in_a_row = if bad then skips_in_a_row + 1 else 0", E9 = "seal = updates"}} {
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
    %35 = fuse.read "scale" : f64
    %36 = fuse.read "growth_count" : f64
    %37 = arith.addf %36, %cst_0 {fuse.name = "n"} : f64
    %true = arith.constant true
    %38 = arith.xori %34, %true {fuse.label = "E2"} : i1
    %39 = fuse.scalar "growth_interval" : f64
    %40 = arith.cmpf oge, %37, %39 {fuse.label = "E2"} : f64
    %41 = arith.andi %38, %40 {fuse.label = "E2", fuse.name = "grows"} : i1
    %42 = arith.xori %34, %true {fuse.name = "whole"} : i1
    %43 = fuse.read "hysteresis_left" : f64
    %44 = arith.subf %43, %cst_0 {fuse.label = "E3"} : f64
    %45 = arith.maximumf %44, %cst {fuse.label = "E3"} : f64
    %46 = fuse.scalar "hysteresis" : f64
    %47 = arith.select %42, %46, %43 {fuse.label = "E3"} : f64
    %48 = arith.select %34, %45, %47 {fuse.label = "E3", fuse.name = "left"} : f64
    %49 = fuse.scalar "growth_factor" : f64
    %50 = arith.mulf %35, %49 {fuse.label = "E4"} : f64
    %51 = fuse.round_to "f32", %50 {fuse.label = "E4", fuse.name = "up"} : f64
    %52 = fuse.scalar "backoff_factor" : f64
    %53 = arith.mulf %35, %52 {fuse.label = "E5"} : f64
    %54 = fuse.round_to "f32", %53 {fuse.label = "E5", fuse.name = "small"} : f64
    fuse.write "previous_scale", %35 : f64
    %55 = arith.cmpf oeq, %48, %cst {fuse.label = "E6"} : f64
    %56 = arith.andi %34, %55 {fuse.label = "E6"} : i1
    %57 = fuse.scalar "min_scale" : f64
    %58 = arith.maximumf %54, %57 {fuse.label = "E6"} : f64
    %59 = math.isfinite %51 {fuse.label = "E6"} : f64
    %60 = arith.andi %41, %59 {fuse.label = "E6"} : i1
    %61 = fuse.scalar "max_scale" : f64
    %62 = arith.minimumf %51, %61 {fuse.label = "E6"} : f64
    %63 = arith.select %60, %62, %35 {fuse.label = "E6"} : f64
    %64 = arith.select %56, %58, %63 {fuse.label = "E6", fuse.name = "scale"} : f64
    fuse.write "scale", %64 : f64
    %65 = arith.ori %34, %41 {fuse.label = "E7"} : i1
    %66 = arith.select %65, %cst, %37 {fuse.label = "E7", fuse.name = "growth_count"} : f64
    fuse.write "growth_count", %66 : f64
    fuse.write "hysteresis_left", %48 : f64
    %67 = fuse.read "updates" : f64
    %68 = arith.addf %67, %cst_0 {fuse.label = "E8", fuse.name = "updates"} : f64
    fuse.write "updates", %68 : f64
    %69 = fuse.read "skips" : f64
    %70 = arith.addf %69, %cst_0 {fuse.label = "E8"} : f64
    %71 = arith.select %34, %70, %69 {fuse.label = "E8", fuse.name = "skips"} : f64
    fuse.write "skips", %71 : f64
    %72 = fuse.read "skips_in_a_row" : f64
    %73 = arith.addf %72, %cst_0 {fuse.label = "E8"} : f64
    %74 = arith.select %34, %73, %cst {fuse.label = "E8", fuse.name = "skips_in_a_row"} : f64
    fuse.write "skips_in_a_row", %74 : f64
    fuse.write "last_skipped", %33 : f64
    %75 = arith.xori %34, %true : i1
    %76 = arith.cmpf une, %29, %cst : f64
    %77 = arith.select %76, %8, %17 : f64
    %78 = arith.select %75, %cst, %77 {fuse.name = "last_report"} : f64
    fuse.write "last_report", %78 : f64
    fuse.write "seal", %68 : f64
  }
}

