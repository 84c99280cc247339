// One kernel of the phase level while it becomes loops on vectors: passes over elements or columns
// (LowerKernels.cpp), and what a row has one of, and memory (LowerRows.cpp).
#pragma once

#include "compiler/cpu/Accumulators.h"
#include "compiler/cpu/Lowering.h"
#include "compiler/dialect/Dtypes.h"

namespace fw::cpu {

/// The vectors (or, in the tail, the one element) that an iteration works on.
using Copies = llvm::SmallVector<llvm::DenseMap<mlir::Value, mlir::Value>, 4>;

/// Columns of a piece of a row: as many as a piece of a list has (Reducer.h of the evaluator).
constexpr int64_t rowPiece = 65536;

/// One kernel being rewritten.
class KernelLowering {
public:
  KernelLowering(fuse::KernelOp kernel, const LoweringOptions &options)
      : kernel(kernel), options(options), builder(kernel->getParentOp()),
        location(kernel.getLoc()) {}

  mlir::LogicalResult run() {
    beginFunction();
    for (mlir::Operation &op : kernel.getBody().front())
      if (mlir::failed(lower(op)))
        return mlir::failure();
    mlir::func::ReturnOp::create(builder, location);
    return mlir::success();
  }

private:
  mlir::Value pointers() { return function.getArgument(0); }
  mlir::Value begin() { return function.getArgument(1); }
  mlir::Value end() { return function.getArgument(2); }
  mlir::Value scalars() { return function.getArgument(3); }
  mlir::Value results() { return function.getArgument(4); }

  void beginFunction();
  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(value));
  }
  mlir::Value offset(mlir::Type element, mlir::Value pointer, mlir::Value index) {
    return mlir::LLVM::GEPOp::create(builder, location, pointer.getType(), element, pointer, index);
  }

  mlir::LogicalResult lower(mlir::Operation &op);
  mlir::LogicalResult lowerUniform(mlir::Operation &op);
  mlir::LogicalResult lowerStore(fuse::StoreOp store);
  mlir::FailureOr<mlir::Value> lowerOnRow(mlir::Operation &op);
  mlir::Value readIndex(fuse::IndexOp index);
  mlir::Value gather(fuse::GatherOp gather);
  mlir::LogicalResult lowerReduction(fuse::ReductionOp reduction);
  mlir::Type tableType();
  mlir::FailureOr<mlir::Value> readSlot(fuse::SlotOp slot);
  mlir::LogicalResult lowerEach(fuse::EachOp each);
  mlir::FailureOr<Accumulators> passOver(fuse::EachOp each, mlir::Value from, mlir::Value to);
  mlir::LogicalResult lowerReducing(fuse::EachOp each);
  void loadBase(mlir::StringAttr name);
  void loadBases(fuse::EachOp each);
  const IntDtype *wholeDtype(mlir::StringRef operand);
  mlir::Value load(const Lanes &lanes, mlir::StringRef operand, mlir::Type type, mlir::Value index,
                   int64_t shift);
  void store(const Lanes &lanes, mlir::StringRef operand, mlir::Value value, mlir::Value index,
             int64_t shift, mlir::Type type);
  mlir::Value partner(mlir::Value place, mlir::Value count, bool interleaved, const Lanes &lanes);
  mlir::Value loadPartner(fuse::LoadPairOp load, const Lanes &lanes, mlir::Value index,
                          int64_t shift);
  mlir::Value ofColumn(mlir::Operation &op, const Lanes &lanes, mlir::Value index, int64_t shift);
  mlir::Value places(const Lanes &lanes, mlir::Value index, int64_t shift);
  void splatUniforms(fuse::EachOp each, const Lanes &lanes);
  mlir::LogicalResult buildLoop(fuse::EachOp each, mlir::Value from, mlir::Value to,
                                const Lanes &lanes,
                                llvm::SmallVectorImpl<Accumulators> &accumulators);
  mlir::LogicalResult buildBody(fuse::EachOp each, mlir::Value index, const Lanes &lanes,
                                Copies &copies);
  void accumulate(fuse::EachOp each, const Lanes &lanes, const Copies &copies,
                  mlir::ValueRange carried);
  mlir::LogicalResult buildOp(mlir::Operation &op, const Lanes &lanes,
                              llvm::DenseMap<mlir::Value, mlir::Value> &values);
  mlir::Value address(mlir::StringRef operand, mlir::Type element, mlir::Value index,
                      int64_t shift);
  mlir::Value lookup(mlir::Value value, const Lanes &lanes,
                     const llvm::DenseMap<mlir::Value, mlir::Value> &values);

  fuse::KernelOp kernel;
  const LoweringOptions &options;
  mlir::OpBuilder builder;
  mlir::Location location;
  mlir::func::FuncOp function;
  int64_t reductions = 0;                            ///< that were lowered
  llvm::DenseMap<mlir::Value, mlir::Value> uniforms; ///< kernel-level value -> scalar
  llvm::DenseMap<mlir::Value, mlir::Value>
      splats;                         ///< the same in all lanes, for the loop being built
  llvm::StringMap<mlir::Value> bases; ///< operand -> its pointer
};

} // namespace fw::cpu
