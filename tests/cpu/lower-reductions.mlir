// A pass that reduces keeps 128 bytes of accumulators, whatever the vector width: four vectors of 8
// here, two of 16 there; both are folded in the same order.
// RUN: fw-cpu-stage vectors x86-64+avx+avx2+fma+f16c %s | FileCheck %s --check-prefixes=CHECK,NARROW
// RUN: fw-cpu-stage vectors x86-64+avx+avx2+fma+f16c+avx512f+avx512bw+avx512dq+avx512vl %s | FileCheck %s --check-prefixes=CHECK,WIDE

// CHECK-LABEL: func.func @fw_norm(
// CHECK-SAME:    %[[BEGIN:[^ ]*]]: i64, %[[END:[^ ]*]]: i64, %{{.*}}: !llvm.ptr, %[[RESULTS:.*]]: !llvm.ptr)
// NARROW:      %[[MAIN:.*]]:4 = scf.for %{{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// NARROW-COUNT-4: llvm.load {{.*}} -> vector<8xf32>
// WIDE:        %[[MAIN:.*]]:2 = scf.for %{{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>)
// WIDE-COUNT-2: llvm.load {{.*}} -> vector<16xf32>
// CHECK:         scf.yield
// NARROW:      %[[LOW:.*]] = arith.addf %[[MAIN]]#0, %[[MAIN]]#2 : vector<8xf32>
// NARROW:      %[[HIGH:.*]] = arith.addf %[[MAIN]]#1, %[[MAIN]]#3 : vector<8xf32>
// NARROW:      arith.addf %[[LOW]], %[[HIGH]] : vector<8xf32>
// WIDE:        arith.addf %[[MAIN]]#0, %[[MAIN]]#1 : vector<16xf32>
// WIDE:        arith.addf {{.*}} : vector<8xf32>
// CHECK:       arith.addf {{.*}} : vector<4xf32>
// CHECK:       arith.addf {{.*}} : vector<2xf32>
// CHECK:       %[[FOLDED:.*]] = arith.addf {{.*}} : f32
// CHECK:       %[[ALL:.*]] = scf.for %{{.*}} to %[[END]] step %{{.*}} iter_args(%{{.*}} = %[[FOLDED]]) -> (f32)
// CHECK:       %[[PLACE:.*]] = llvm.getelementptr %[[RESULTS]]
// CHECK:       %[[BEFORE:.*]] = llvm.load %[[PLACE]] : !llvm.ptr -> f64
// CHECK:       %[[MINE:.*]] = arith.extf %[[ALL]] : f32 to f64
// CHECK:       %[[BOTH:.*]] = arith.addf %[[BEFORE]], %[[MINE]] : f64
// CHECK:       llvm.store %[[BOTH]], %[[PLACE]]
module {
  fuse.program @demo
      operands [#fuse.operand<name = "g", role = grad, dtype = "f32", scope = <element>>]
      scalars [] {
    fuse.scalars {
    }
    fuse.kernel @fw_norm elements f32 {
      %r = fuse.each [#fuse<reduce_kind sum>] -> f32 {
        %g = fuse.load "g" : f32
        %s = arith.mulf %g, %g : f32
        fuse.yield %s : f32
      }
      fuse.reduction "norm2" keep <all> %r : f32
    }
  }
}
