// The features of a mixed-precision step, each alone.
// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(feature-unscale))' | FileCheck %s --check-prefix=UNSCALE
// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(feature-clip))' | FileCheck %s --check-prefix=CLIP
// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(feature-unscale,feature-clip))' | FileCheck %s --check-prefix=BOTH
// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(feature-clip-value))' | FileCheck %s --check-prefix=VALUE
// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(feature-master))' | FileCheck %s --check-prefix=MASTER
// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(feature-ema))' | FileCheck %s --check-prefix=EMA
// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(feature-zero-grad))' | FileCheck %s --check-prefix=ZERO
// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(feature-guard))' | FileCheck %s --check-prefix=GUARD
// RUN: fw-opt %s --pass-pipeline='builtin.module(fuse.op(feature-clip,feature-guard))' | FileCheck %s --check-prefix=LAST

// UNSCALE-LABEL: fuse.op @sgd
// UNSCALE-SAME: #fuse.hyper<name = "all.scale", value = 1.000000e+00 : f64>]
// UNSCALE:      %[[G:.+]] = fuse.read "g" : f32
// UNSCALE:      %[[S:.+]] = fuse.scalar "all.scale" : f64
// UNSCALE:      %[[I:.+]] = arith.divf %{{.+}}, %[[S]] : f64
// UNSCALE:      %[[U:.+]] = fuse.uniform %[[I]] : f64 to f32
// UNSCALE-NEXT: %[[N:.+]] = arith.mulf %[[G]], %[[U]] {fuse.name = "g"} : f32
// UNSCALE:      arith.subf %{{.+}}, %[[N]] : f32
// UNSCALE:      arith.addf %[[N]], %{{.+}} : f32

// CLIP-LABEL: fuse.op @sgd
// CLIP-SAME:    #fuse.operand<name = "all.norm", role = out, dtype = "f32", scope = <all>>]
// CLIP:         %[[G:.+]] = fuse.read "g" : f32
// CLIP:         %[[SQ:.+]] = arith.mulf %[[G]], %[[G]] : f32
// CLIP-NEXT:    %[[SUM:.+]] = fuse.reduce sum keep <world> %[[SQ]] {fuse.name = "norm2"} : f32 to f64
// CLIP-NEXT:    %[[NORM:.+]] = math.sqrt %[[SUM]] : f64
// CLIP-NEXT:    fuse.write "all.norm", %[[NORM]] : f64
// CLIP:         arith.addf %[[NORM]], %{{.+}} : f64
// CLIP:         %[[F:.+]] = arith.minimumf
// CLIP:         %[[U:.+]] = fuse.uniform %[[F]] : f64 to f32
// CLIP-NEXT:    %[[N:.+]] = arith.mulf %[[G]], %[[U]] {fuse.name = "g"} : f32
// CLIP:         arith.subf %{{.+}}, %[[N]] : f32

// The norm is summed over what is stored and divided by the scale.
// BOTH:         %[[G:.+]] = fuse.read "g" : f32
// BOTH:         %[[UNSCALED:.+]] = arith.mulf %[[G]], %{{.+}} {fuse.name = "g"} : f32
// BOTH:         %[[SQ:.+]] = arith.mulf %[[G]], %[[G]] : f32
// BOTH:         %[[ROOT:.+]] = math.sqrt
// BOTH:         %[[SCALE:.+]] = fuse.scalar "all.scale" : f64
// BOTH-NEXT:    %[[NORM:.+]] = arith.divf %[[ROOT]], %[[SCALE]] : f64
// BOTH-NEXT:    fuse.write "all.norm", %[[NORM]] : f64
// BOTH:         %[[N:.+]] = arith.mulf %[[UNSCALED]], %{{.+}} {fuse.name = "g"} : f32
// BOTH:         arith.subf %{{.+}}, %[[N]] : f32

// VALUE:        %[[G:.+]] = fuse.read "g" : f32
// VALUE:        %[[LOW:.+]] = arith.maximumf %[[G]], %{{.+}} {fuse.name = "g"} : f32
// VALUE-NEXT:   %[[N:.+]] = arith.minimumf %[[LOW]], %{{.+}} {fuse.name = "g"} : f32
// VALUE:        arith.subf %{{.+}}, %[[N]] : f32

// MASTER-LABEL: fuse.op @sgd
// MASTER-SAME:  #fuse.operand<name = "p.master", role = state, dtype = "f32", scope = <element>>
// MASTER-NOT:   fuse.read "p" : f32
// MASTER:       fuse.read "p.master" : f32
// MASTER:       fuse.write "p", %[[P:.+]] : f32
// MASTER-NEXT:  fuse.write "p.master", %[[P]] : f32

// EMA:          fuse.write "p", %[[P:.+]] : f32
// EMA:          %[[D:.+]] = fuse.scalar "all.ema_decay" : f64
// EMA:          %[[R:.+]] = arith.subf %{{.+}}, %[[D]] : f64
// EMA:          %[[OLD:.+]] = fuse.read "p.ema" : f32
// EMA:          %[[KEPT:.+]] = arith.mulf %{{.+}}, %[[OLD]] : f32
// EMA:          %[[ADDED:.+]] = arith.mulf %{{.+}}, %[[P]] : f32
// EMA-NEXT:     %[[NEW:.+]] = arith.addf %[[KEPT]], %[[ADDED]] : f32
// EMA-NEXT:     fuse.write "p.ema", %[[NEW]] : f32

// ZERO:         %[[Z:.+]] = arith.constant 0.000000e+00 : f32
// ZERO-NEXT:    fuse.write "g", %[[Z]] : f32

// GUARD:        %[[G:.+]] = fuse.read "g" : f32
// GUARD:        %[[K:.+]] = fuse.index
// GUARD:        %[[F:.+]] = math.isfinite %[[G]] : f32
// GUARD-NEXT:   %[[B:.+]] = arith.select %[[F]], %{{.+}}, %{{.+}} : f32
// GUARD-NEXT:   %[[FIRST:.+]] = fuse.reduce min keep <world> %[[B]] {fuse.name = "first_bad"} : f32 to f64
// GUARD:        fuse.scalar "all.skip" : f64
// GUARD:        arith.cmpf une, %[[FIRST]]
// GUARD:        fuse.write "all.skipped"
// GUARD-NEXT:   fuse.skip_if

// LAST:         fuse.write "all.norm", %[[NORM:.+]] : f64
// LAST:         math.isfinite %[[NORM]] : f64
fuse.op @sgd over <elements>
    operands [#fuse.operand<name = "p", role = param, dtype = "f32", scope = <element>>,
              #fuse.operand<name = "g", role = grad, dtype = "bf16", scope = <element>>]
    scalars [#fuse.hyper<name = "lr", value = 0.001 : f64>] {
  %p = fuse.read "p" : f32
  %g = fuse.read "g" : f32
  %0 = arith.subf %p, %g : f32
  %1 = arith.addf %g, %0 : f32
  fuse.write "p", %1 : f32
}
