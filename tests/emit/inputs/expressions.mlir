// Not an optimizer: what the printer must get right. Parentheses, choices, truth values, literals,
// names that C++ reserves, roundings, long expressions and values with many readers.
fuse.op @expressions over <elements>
    operands [#fuse.operand<name = "float", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "m", role = state, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "s", role = state, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "t", kind = int>, #fuse.hyper<name = "a", value = 0.1 : f64>,
             #fuse.hyper<name = "warm", kind = bool>]
    attributes {equations = {E1 = "m = stored(a - (b - c))", E2 = "comment \\ with a backslash\nand a second line"}} {
  %p = fuse.read "float" : f32
  %g = fuse.read "g" : f32
  %s0 = fuse.read "s" : f32
  %a = fuse.scalar "a" : f64
  %t = fuse.scalar "t" : i64
  %warm = fuse.scalar "warm" : i1
  %ten = arith.constant 10 : i64
  %late = arith.cmpi sgt, %t, %ten : i64
  %both = arith.andi %late, %warm {fuse.name = "both"} : i1
  %both_e = fuse.uniform %both : i1 to i1
  %t_real = arith.sitofp %t : i64 to f64
  %root = math.sqrt %t_real {fuse.name = "root", fuse.label = "E2"} : f64
  %r1 = arith.mulf %root, %a : f64
  %r2 = arith.addf %root, %a : f64
  %r1_e = fuse.uniform %r1 : f64 to f32
  %r2_e = fuse.uniform %r2 : f64 to f32
  %third = arith.constant 0.333333343 : f32
  %half = arith.constant 0.5 : f32
  %inf = arith.constant 0x7F800000 : f32
  %minus = arith.constant -2.0 : f32
  %0 = arith.subf %p, %g : f32
  %1 = arith.subf %s0, %0 {fuse.label = "E1"} : f32
  %2 = arith.divf %r1_e, %third : f32
  %3 = arith.divf %1, %2 {fuse.label = "E1"} : f32
  %m = fuse.stored "m", %3 {fuse.label = "E1", fuse.name = "new"} : f32
  fuse.write "m", %3 : f32
  %neg = arith.negf %minus : f32
  %4 = arith.cmpf olt, %m, %half : f32
  %5 = arith.cmpf une, %g, %inf : f32
  %6 = arith.andi %4, %5 : i1
  %7 = arith.ori %6, %both_e : i1
  %8 = arith.select %7, %m, %neg {fuse.label = "E2"} : f32
  %9 = math.tanh %8 : f32
  %10 = arith.maximumf %9, %r2_e : f32
  %11 = fuse.sigmoid %10 : f32
  %12 = math.absf %11 : f32
  %13 = arith.negf %12 : f32
  %14 = arith.negf %13 : f32
  %15 = arith.divf %14, %m : f32
  %16 = arith.mulf %15, %p {fuse.label = "E2"} : f32
  fuse.write "float", %16 : f32
  fuse.write "s", %half : f32
}
