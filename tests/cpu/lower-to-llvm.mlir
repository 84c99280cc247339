// LLVM IR without fast-math flags, without calls but LLVM's own operations, and with fma where the
// pass `fma` wrote one only.
// RUN: fw-cpu-stage llvm x86-64+avx+avx2+fma+f16c %s | FileCheck %s --check-prefixes=CHECK,NARROW
// RUN: fw-cpu-stage llvm x86-64+avx+avx2+fma+f16c+avx512f+avx512bw+avx512dq+avx512vl %s | FileCheck %s --check-prefixes=CHECK,WIDE

// The caller's rounding and flushing are put aside for the time of the body.
// CHECK-LABEL: define void @fw_demo(ptr %0, i64 %1, i64 %2, ptr %3, ptr %4) #0
// CHECK: %[[SLOT:.*]] = alloca i32, align 4
// CHECK: call void @llvm.x86.sse.stmxcsr(ptr %[[SLOT]])
// CHECK: %[[BEFORE:.*]] = load i32, ptr %[[SLOT]], align 4
// CHECK: store i32 8064, ptr %[[SLOT]], align 4
// CHECK: call void @llvm.x86.sse.ldmxcsr(ptr %[[SLOT]])
// CHECK: call void @fw_demo.body(ptr %0, i64 %1, i64 %2, ptr %3, ptr %4)
// CHECK: store i32 %[[BEFORE]], ptr %[[SLOT]], align 4
// CHECK: call void @llvm.x86.sse.ldmxcsr(ptr %[[SLOT]])
// CHECK: ret void

// CHECK-LABEL: define internal void @fw_demo.body(ptr %0, i64 %1, i64 %2, ptr %3, ptr %4) #0
// NARROW: load <8 x float>, ptr %{{.*}}, align 4
// NARROW: call <8 x float> @llvm.maximum.v8f32(
// NARROW: call <8 x float> @llvm.fma.v8f32(
// NARROW: fmul <8 x float>
// NARROW: fadd <8 x float>
// NARROW: fdiv <8 x float>
// NARROW: fptrunc <8 x float> %{{.*}} to <8 x half>
// WIDE: load <16 x float>, ptr %{{.*}}, align 4
// WIDE: call <16 x float> @llvm.maximum.v16f32(
// WIDE: call <16 x float> @llvm.fma.v16f32(
// WIDE: fmul <16 x float>
// WIDE: fadd <16 x float>
// WIDE: fdiv <16 x float>
// WIDE: fptrunc <16 x float> %{{.*}} to <16 x half>
// The tail is the same text on single elements.
// CHECK: call float @llvm.maximum.f32(
// CHECK: call float @llvm.fma.f32(
// CHECK: fmul float
// CHECK: fadd float
// CHECK: fdiv float
// CHECK: fptrunc float %{{.*}} to half
// CHECK: ret void
// NARROW: "prefer-vector-width"="256"
// WIDE: "prefer-vector-width"="512"
module {
  fuse.program @demo
      operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>,
                #fuse.operand<name = "y", role = out, dtype = "f16", scope = <element>>]
      scalars [] {
    fuse.scalars {
    }
    fuse.kernel @fw_demo elements f32 {
      fuse.each {
        %x = fuse.load "x" : f32
        %c = arith.constant 1.5 : f32
        %m = arith.maximumf %x, %c : f32
        %f = math.fma %m, %x, %c : f32
        %p = arith.mulf %f, %x : f32
        %s = arith.addf %p, %c : f32
        %q = arith.divf %s, %x : f32
        %y = fuse.cast %q : f32 to f16
        fuse.store "y", %y : f16
      }
    }
  }
}
