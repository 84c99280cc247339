// RUN: fw-opt %s --fuse-to-semantic='dtypes=g=bf16,p.copy=f16 features=copy' | FileCheck %s --check-prefix=SEMANTIC
// RUN: fw-opt %s --fuse-to-contracted='dtypes=g=bf16' | FileCheck %s --check-prefix=CONTRACTED
// RUN: fw-opt %s --fuse-to-phases='dtypes=g=bf16,p.copy=f16 features=copy' | fw-opt --split-input-file | FileCheck %s --check-prefix=PHASES
// RUN: fw-opt %s --fuse-to-cuda='dtypes=g=bf16 arch=sm_90 schedule=threads=128' | fw-opt | FileCheck %s --check-prefix=CUDA

// Each stage on its own text: what the passes do is tested beside this file.
// SEMANTIC: name = "p.copy", role = out, dtype = "f16"
// SEMANTIC: arith.mulf {{.*}} {fuse.label = "E1", fuse.scope = #fuse.scope<element>} : f32
// SEMANTIC: fuse.write "p.copy"
// Equal values are merged, then contracted: the two reads of p are one.
// CONTRACTED: %[[P:.+]] = fuse.read "p"
// CONTRACTED-NOT: fuse.read "p"
// CONTRACTED: math.fma %{{.+}}, %{{.+}}, %[[P]] {fuse.label = "E1", fuse.name = "p"
// PHASES: fuse.program @sgd
// PHASES: fuse.store "p.copy", %{{.+}} : f16
// CUDA: fuse.kernel @fw_sgd_p_f32_g_bf16_v4 elements f32 schedule <"chunk", {blocks_per_sm = 14 : i64, chunk = 2048 : i64, inflight = 2 : i64, threads = 128 : i64, vec = 4 : i64}>
fuse.op @sgd over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %p = fuse.read "p" : f32
  %again = fuse.read "p" : f32
  %g = fuse.read "g" : f32
  %lr = fuse.scalar "lr" : f64
  %0 = fuse.uniform %lr : f64 to f32
  %1 = arith.mulf %0, %g {fuse.label = "E1"} : f32
  %dead = arith.addf %p, %again : f32
  %2 = arith.subf %again, %1 {fuse.label = "E1", fuse.name = "p"} : f32
  fuse.write "p", %2 : f32
}
