#ifndef FW_FUSE_DIALECT
#define FW_FUSE_DIALECT

include "mlir/IR/DialectBase.td"

def Fuse_Dialect : Dialect {
  let name = "fuse";
  let cppNamespace = "::fw::fuse";
  let summary = "fused training kernels: equations, phases and schedules";
  let description = [{
    Two levels share this dialect.

    The *semantic level* is one `fuse.op`: its operands and hyper-parameters as attributes, and one
    scalar body over `arith` and `math`. Values of the scopes const to tensor are f64 (they form the
    scalar program), values of an element are f32, or f64 when a parameter is stored in f64;
    `fuse.uniform` is the one rounding between the two.

    The *phase level* is one `fuse.program`: the scalar program (`fuse.scalars`) and kernels
    (`fuse.kernel`), whose `fuse.each` regions are one pass over the elements a thread owns, with
    explicit `fuse.load`, `fuse.cast` and `fuse.store`.

    Discardable attributes that travel with operations of both levels: `fuse.label` (the equation
    label of the op file, "E1"), `fuse.name` (the name that the op file gives to the value),
    `fuse.scope` (set by the pass `infer-scopes`) and `fuse.pair` (set by `pair-reductions`).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{ void registerAttributes(); }];
}

#endif
