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
    %cst_7 = arith.constant 1.1754943508222875E-38 : f64
    %36 = arith.cmpf olt, %35, %cst_7 : f64
    %37 = arith.select %36, %cst, %35 {fuse.name = "s"} : f64
    %38 = fuse.read "growth_count" : f64
    %39 = arith.addf %38, %cst_0 {fuse.name = "n"} : f64
    %true = arith.constant true
    %40 = arith.xori %34, %true {fuse.label = "E2"} : i1
    %41 = fuse.scalar "growth_interval" : f64
    %42 = arith.cmpf oge, %39, %41 {fuse.label = "E2"} : f64
    %43 = arith.andi %40, %42 {fuse.label = "E2", fuse.name = "grows"} : i1
    %44 = arith.xori %34, %true {fuse.name = "whole"} : i1
    %45 = fuse.read "hysteresis_left" : f64
    %46 = arith.subf %45, %cst_0 {fuse.label = "E3"} : f64
    %47 = arith.maximumf %46, %cst {fuse.label = "E3"} : f64
    %48 = fuse.scalar "hysteresis" : f64
    %49 = arith.select %44, %48, %45 {fuse.label = "E3"} : f64
    %50 = arith.select %34, %47, %49 {fuse.label = "E3", fuse.name = "left"} : f64
    %51 = fuse.scalar "growth_factor" : f64
    %52 = arith.mulf %37, %51 {fuse.label = "E4"} : f64
    %53 = fuse.round_to "f32", %52 {fuse.label = "E4", fuse.name = "up"} : f64
    %54 = fuse.scalar "backoff_factor" : f64
    %55 = arith.mulf %37, %54 {fuse.label = "E5"} : f64
    %56 = fuse.round_to "f32", %55 {fuse.label = "E5", fuse.name = "small"} : f64
    %57 = arith.cmpf olt, %56, %cst_7 : f64
    %58 = arith.select %57, %cst, %56 {fuse.name = "down"} : f64
    fuse.write "previous_scale", %35 : f64
    %59 = arith.cmpf oeq, %50, %cst {fuse.label = "E6"} : f64
    %60 = arith.andi %34, %59 {fuse.label = "E6"} : i1
    %61 = fuse.scalar "min_scale" : f64
    %62 = arith.maximumf %58, %61 {fuse.label = "E6"} : f64
    %63 = math.isfinite %53 {fuse.label = "E6"} : f64
    %64 = arith.andi %43, %63 {fuse.label = "E6"} : i1
    %65 = fuse.scalar "max_scale" : f64
    %66 = arith.minimumf %53, %65 {fuse.label = "E6"} : f64
    %67 = arith.select %64, %66, %35 {fuse.label = "E6"} : f64
    %68 = arith.select %60, %62, %67 {fuse.label = "E6", fuse.name = "scale"} : f64
    fuse.write "scale", %68 : f64
    %69 = arith.ori %34, %43 {fuse.label = "E7"} : i1
    %70 = arith.select %69, %cst, %39 {fuse.label = "E7", fuse.name = "growth_count"} : f64
    fuse.write "growth_count", %70 : f64
    fuse.write "hysteresis_left", %50 : f64
    %71 = fuse.read "updates" : f64
    %72 = arith.addf %71, %cst_0 {fuse.label = "E8", fuse.name = "updates"} : f64
    fuse.write "updates", %72 : f64
    %73 = fuse.read "skips" : f64
    %74 = arith.addf %73, %cst_0 {fuse.label = "E8"} : f64
    %75 = arith.select %34, %74, %73 {fuse.label = "E8", fuse.name = "skips"} : f64
    fuse.write "skips", %75 : f64
    %76 = fuse.read "skips_in_a_row" : f64
    %77 = arith.addf %76, %cst_0 {fuse.label = "E8"} : f64
    %78 = arith.select %34, %77, %cst {fuse.label = "E8", fuse.name = "skips_in_a_row"} : f64
    fuse.write "skips_in_a_row", %78 : f64
    fuse.write "last_skipped", %33 : f64
    %79 = arith.xori %34, %true : i1
    %80 = arith.cmpf une, %29, %cst : f64
    %81 = arith.select %80, %8, %17 : f64
    %82 = arith.select %79, %cst, %81 {fuse.name = "last_report"} : f64
    fuse.write "last_report", %82 : f64
    fuse.write "seal", %72 : f64
  }
}

