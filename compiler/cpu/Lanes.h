// Builds arithmetic on W lanes; one lane is a plain scalar, so the vector body and the scalar tail
// of a loop are the same text.
#pragma once

#include "compiler/cpu/pch/cpu.h"

namespace fw::cpu {

class Lanes {
public:
  Lanes(mlir::OpBuilder &builder, mlir::Location location, int64_t width)
      : builder(&builder), location(location), width(width) {}

  /// `element`, or a vector of it.
  mlir::Type type(mlir::Type element) const;
  mlir::Type integer(unsigned bits) const { return type(builder->getIntegerType(bits)); }

  /// A constant in all lanes.
  mlir::Value number(mlir::Type element, double value) const;
  mlir::Value integer(unsigned bits, uint64_t value) const;
  /// `attribute` (of a scalar type) in all lanes.
  mlir::Value constant(mlir::TypedAttr attribute) const;
  /// A scalar in all lanes; a value that has its lanes already stays.
  mlir::Value splat(mlir::Value value) const;

  template <class Op, class... Args> mlir::Value make(Args &&...args) const {
    return Op::create(*builder, location, std::forward<Args>(args)...)->getResult(0);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b) const {
    return make<mlir::arith::CmpFOp>(predicate, a, b);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b) const {
    return make<mlir::arith::CmpIOp>(predicate, a, b);
  }
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no) const {
    return make<mlir::arith::SelectOp>(condition, yes, no);
  }
  /// The bits of `value` as integers of its width, and back.
  mlir::Value bits(mlir::Value value) const;
  mlir::Value fromBits(mlir::Value value, mlir::Type element) const;
  /// Zero-extends or truncates to `bits`.
  mlir::Value resize(mlir::Value value, unsigned bits) const;

  mlir::OpBuilder &getBuilder() const { return *builder; }
  mlir::Location getLocation() const { return location; }
  int64_t getWidth() const { return width; }

private:
  mlir::OpBuilder *builder;
  mlir::Location location;
  int64_t width;
};

} // namespace fw::cpu
