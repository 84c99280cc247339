// Every function of the table on elements and, as far as it may stand there, in the scalar program.
fuse.op @functions over <elements>
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "y", role = out, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "a", value = 0.5 : f64>, #fuse.hyper<name = "n", kind = int>]
    attributes {equations = {E1 = "every function of x", E2 = "every relation", E3 = "every function of a"}} {
  %x = fuse.read "x" : f32
  %a = fuse.scalar "a" : f64
  %n = fuse.scalar "n" : i64
  %f0 = math.absf %x {fuse.label = "E1"} : f32
  %f1 = math.floor %x {fuse.label = "E1"} : f32
  %f2 = math.ceil %x {fuse.label = "E1"} : f32
  %f3 = math.roundeven %x {fuse.label = "E1"} : f32
  %f4 = math.trunc %x {fuse.label = "E1"} : f32
  %f5 = math.sqrt %x {fuse.label = "E1"} : f32
  %f6 = math.rsqrt %x {fuse.label = "E1"} : f32
  %f7 = math.exp %x {fuse.label = "E1"} : f32
  %f8 = math.exp2 %x {fuse.label = "E1"} : f32
  %f9 = math.expm1 %x {fuse.label = "E1"} : f32
  %f10 = math.log %x {fuse.label = "E1"} : f32
  %f11 = math.log2 %x {fuse.label = "E1"} : f32
  %f12 = math.log1p %x {fuse.label = "E1"} : f32
  %f13 = math.tanh %x {fuse.label = "E1"} : f32
  %f14 = math.erf %x {fuse.label = "E1"} : f32
  %f15 = math.sin %x {fuse.label = "E1"} : f32
  %f16 = math.cos %x {fuse.label = "E1"} : f32
  %f17 = fuse.sign %x {fuse.label = "E1"} : f32
  %f18 = fuse.sigmoid %x {fuse.label = "E1"} : f32
  %s1 = arith.addf %f0, %f1 {fuse.label = "E1"} : f32
  %s2 = arith.addf %s1, %f2 {fuse.label = "E1"} : f32
  %s3 = arith.addf %s2, %f3 {fuse.label = "E1"} : f32
  %s4 = arith.addf %s3, %f4 {fuse.label = "E1"} : f32
  %s5 = arith.addf %s4, %f5 {fuse.label = "E1"} : f32
  %s6 = arith.addf %s5, %f6 {fuse.label = "E1"} : f32
  %s7 = arith.addf %s6, %f7 {fuse.label = "E1"} : f32
  %s8 = arith.addf %s7, %f8 {fuse.label = "E1"} : f32
  %s9 = arith.addf %s8, %f9 {fuse.label = "E1"} : f32
  %s10 = arith.addf %s9, %f10 {fuse.label = "E1"} : f32
  %s11 = arith.addf %s10, %f11 {fuse.label = "E1"} : f32
  %s12 = arith.addf %s11, %f12 {fuse.label = "E1"} : f32
  %s13 = arith.addf %s12, %f13 {fuse.label = "E1"} : f32
  %s14 = arith.addf %s13, %f14 {fuse.label = "E1"} : f32
  %s15 = arith.addf %s14, %f15 {fuse.label = "E1"} : f32
  %s16 = arith.addf %s15, %f16 {fuse.label = "E1"} : f32
  %s17 = arith.addf %s16, %f17 {fuse.label = "E1"} : f32
  %s18 = arith.addf %s17, %f18 {fuse.label = "E1"} : f32
  %e1 = math.fma %x, %x, %s18 {fuse.label = "E1"} : f32
  %e2 = arith.maximumf %e1, %x {fuse.label = "E1"} : f32
  %e3 = arith.minimumf %e2, %x {fuse.label = "E1", fuse.name = "all"} : f32
  %c0 = arith.cmpf olt, %e3, %x {fuse.label = "E2"} : f32
  %c1 = arith.cmpf ole, %e3, %x {fuse.label = "E2"} : f32
  %c2 = arith.cmpf ogt, %e3, %x {fuse.label = "E2"} : f32
  %c3 = arith.cmpf oge, %e3, %x {fuse.label = "E2"} : f32
  %c4 = arith.cmpf oeq, %e3, %x {fuse.label = "E2"} : f32
  %c5 = arith.cmpf une, %e3, %x {fuse.label = "E2"} : f32
  %finite = math.isfinite %x : f32
  %nan = math.isnan %x : f32
  %b0 = arith.andi %c0, %c1 {fuse.label = "E2"} : i1
  %b1 = arith.ori %b0, %c2 {fuse.label = "E2"} : i1
  %b2 = arith.xori %b1, %c3 {fuse.label = "E2"} : i1
  %b3 = arith.andi %b2, %c4 {fuse.label = "E2"} : i1
  %b4 = arith.ori %c5, %b3 {fuse.label = "E2"} : i1
  %b5 = arith.xori %finite, %nan {fuse.label = "E2"} : i1
  %b6 = arith.cmpi eq, %b4, %b5 {fuse.label = "E2"} : i1
  %b7 = arith.cmpi ne, %b6, %b5 {fuse.label = "E2", fuse.name = "truth"} : i1
  %u0 = math.absf %a {fuse.label = "E3"} : f64
  %u1 = math.floor %u0 {fuse.label = "E3"} : f64
  %u2 = math.ceil %u1 {fuse.label = "E3"} : f64
  %u3 = math.roundeven %u2 {fuse.label = "E3"} : f64
  %u4 = math.trunc %u3 {fuse.label = "E3"} : f64
  %u5 = math.sqrt %u4 {fuse.label = "E3"} : f64
  %u6 = math.rsqrt %u5 {fuse.label = "E3"} : f64
  %u7 = math.exp %u6 {fuse.label = "E3"} : f64
  %u8 = math.exp2 %u7 {fuse.label = "E3"} : f64
  %u9 = math.expm1 %u8 {fuse.label = "E3"} : f64
  %u10 = math.log %u9 {fuse.label = "E3"} : f64
  %u11 = math.log2 %u10 {fuse.label = "E3"} : f64
  %u12 = math.log1p %u11 {fuse.label = "E3"} : f64
  %u13 = math.tanh %u12 {fuse.label = "E3"} : f64
  %u14 = math.erf %u13 {fuse.label = "E3"} : f64
  %u15 = math.sin %u14 {fuse.label = "E3"} : f64
  %u16 = math.cos %u15 {fuse.label = "E3"} : f64
  %u17 = fuse.sign %u16 {fuse.label = "E3"} : f64
  %u18 = fuse.sigmoid %u17 {fuse.label = "E3"} : f64
  %p0 = math.fpowi %u18, %n {fuse.label = "E3"} : f64, i64
  %p1 = arith.sitofp %n : i64 to f64
  %p2 = arith.mulf %p0, %p1 {fuse.label = "E3", fuse.name = "scale"} : f64
  %ten = arith.constant 10 : i64
  %q0 = arith.cmpi slt, %n, %ten : i64
  %q1 = arith.cmpi sle, %n, %ten : i64
  %q2 = arith.cmpi sgt, %n, %ten : i64
  %q3 = arith.cmpi sge, %n, %ten : i64
  %q4 = arith.andi %q0, %q1 : i1
  %q5 = arith.ori %q2, %q3 : i1
  %q6 = arith.xori %q4, %q5 {fuse.name = "when"} : i1
  %scale = fuse.uniform %p2 : f64 to f32
  %when = fuse.uniform %q6 : i1 to i1
  %r0 = arith.mulf %e3, %scale : f32
  %r1 = arith.select %b7, %r0, %x : f32
  %r2 = arith.select %when, %r1, %x : f32
  fuse.write "y", %r2 : f32
}
