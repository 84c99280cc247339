// One kernel becomes one function: a loop over two vectors at a time and a tail over single elements.
// RUN: fw-cpu-stage vectors x86-64+avx+avx2+fma+f16c %s | FileCheck %s

// Pointers are read once, by the operand's place in the table; slots by the place of their result.
// CHECK-LABEL: func.func @fw_demo(
// CHECK-SAME:    %[[POINTERS:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %[[SCALARS:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK:       %[[ONE:.*]] = arith.constant 1 : i64
// CHECK:       %[[PLACE:.*]] = llvm.getelementptr %[[SCALARS]][%[[ONE]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK:       %[[LR:.*]] = llvm.load %[[PLACE]] : !llvm.ptr -> f32
// CHECK:       %[[REST:.*]] = arith.remui %{{.*}}, %{{.*}} : i64
// CHECK:       %[[MIDDLE:.*]] = arith.subi %[[END]], %[[REST]] : i64
// CHECK:       %[[LRS:.*]] = vector.broadcast %[[LR]] : f32 to vector<8xf32>
// CHECK:       %[[STEP:.*]] = arith.constant 16 : i64
// CHECK:       scf.for %{{.*}} = %[[BEGIN]] to %[[MIDDLE]] step %[[STEP]]
// All loads before all arithmetic before all stores; bf16 travels as i16.
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<8xi16>
// CHECK:         arith.extui %{{.*}} : vector<8xi16> to vector<8xi32>
// CHECK:         arith.mulf %[[LRS]], %{{.*}} : vector<8xf32>
// CHECK:         arith.extui %{{.*}} : vector<8xi16> to vector<8xi32>
// CHECK:         arith.mulf %[[LRS]], %{{.*}} : vector<8xf32>
// CHECK-COUNT-2: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
// CHECK:       scf.for %{{.*}} = %[[MIDDLE]] to %[[END]]
// CHECK:         llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> i16
// CHECK:         arith.mulf %[[LR]], %{{.*}} : f32
// CHECK:         llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK:       return
module {
  fuse.program @demo
      operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
                #fuse.operand<name = "g", role = grad, dtype = "bf16", scope = <element>>]
      scalars [#fuse.hyper<name = "unused">, #fuse.hyper<name = "lr">] {
    fuse.scalars {
      %unused = fuse.scalar "unused" : f64
      fuse.result "unused", %unused : f64 to f32
      %lr = fuse.scalar "lr" : f64
      fuse.result "lr", %lr : f64 to f32
    }
    fuse.kernel @fw_demo elements f32 {
      %lr = fuse.slot "lr" : f32
      fuse.each {
        %p = fuse.load "p" : f32
        %raw = fuse.load "g" : bf16
        %g = fuse.cast %raw : bf16 to f32
        %step = arith.mulf %lr, %g {fuse.label = "E1"} : f32
        %new = arith.subf %p, %step {fuse.label = "E1", fuse.name = "p"} : f32
        fuse.store "p", %new : f32
      }
    }
  }
}
