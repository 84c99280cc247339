// Expressions of a checked op -> operations of its body.
#pragma once

#include "compiler/dialect/Fuse.h"
#include "compiler/language/OpInfo.h"

#include "mlir/IR/Builders.h"

#include <map>
#include <set>
#include <string>

namespace fw::language {

/// A value of the body. Uniform reals are f64, reals of an element f32, bools i1. Ints of the step,
/// of sizes and of the tensor's number are i64; a literal is a real until an int, or a power, takes
/// it.
struct LoweredValue {
  mlir::Value value;
  bool isElement = false;
};

class ExpressionLowering {
public:
  ExpressionLowering(mlir::OpBuilder &builder, const ResolvedOp &op,
                     const std::set<std::string> &absent)
      : builder(builder), op(op), absent(absent), location(builder.getUnknownLoc()) {}

  /// The place and the label ("" for none) of what is lowered next.
  void startStatement(mlir::Location where, const std::string &newLabel);
  LoweredValue lower(const Expr &expr);
  /// `value` as elements compute with it: f32 or i1.
  mlir::Value toElement(LoweredValue value);
  /// `value` as `operand` takes it: as elements compute, or in the scalar program's f64.
  mlir::Value toPrecisionOf(const OperandInfo &operand, LoweredValue value);
  /// Later reads of `name` see `value`; the operation that made it gets the name.
  void assign(const std::string &name, LoweredValue value);

private:
  LoweredValue lowerName(const std::string &name);
  LoweredValue lowerApply(const Expr &expr, const Apply &apply);
  LoweredValue lowerSelect(const Expr &expr, const Select &select);
  LoweredValue lowerPower(const Apply &apply);
  LoweredValue lowerComparison(const Apply &apply);
  LoweredValue lowerOperandFunction(const Apply &apply);
  LoweredValue lowerRoundTo(const Apply &apply);
  LoweredValue lowerPlace(const Apply &apply);
  LoweredValue lowerReduce(const Reduce &reduce);
  mlir::Value reduced(fuse::ReduceKind kind, fuse::ScopeLevel keep, mlir::Value value);
  mlir::Value average(fuse::ScopeLevel keep, mlir::Value value);
  mlir::Value oneWhere(mlir::Value condition);
  mlir::Value sizeOf(fuse::ScopeLevel level);
  fuse::ScopeAttr scopeAttr(fuse::ScopeLevel level);
  LoweredValue read(const std::string &operand);
  /// Of a hyper or the step.
  mlir::Type scalarType(const std::string &name) const;
  mlir::Value squarings(mlir::Value base, int64_t exponent);
  mlir::Value arithmetic(Function function, llvm::ArrayRef<mlir::Value> arguments);
  mlir::Value logic(Function function, llvm::ArrayRef<mlir::Value> arguments);
  LoweredValue lowerInts(const Apply &apply);
  /// Whether `expr` is an int of the scalar program.
  bool isInt(const Expr &expr) const;
  mlir::Value toInt(const Expr &expr);

  /// The arguments in one precision, and whether that is the elements'.
  llvm::SmallVector<mlir::Value> unify(llvm::ArrayRef<LoweredValue> values, bool &isElement);
  mlir::Value toUniformReal(mlir::Value value);
  mlir::Value real(double value);
  mlir::Value integer(int64_t value);
  mlir::Value truth(bool value);
  mlir::Value constant(mlir::TypedAttr value);
  /// An operation that computes: it carries the label of its equation.
  template <class T, class... Arguments> mlir::Value make(Arguments &&...arguments) {
    auto made = T::create(builder, location, std::forward<Arguments>(arguments)...);
    if (!label.empty())
      made->setAttr(fuse::kLabel, builder.getStringAttr(label));
    return made->getResult(0);
  }

  mlir::OpBuilder &builder;
  const ResolvedOp &op;
  const std::set<std::string> &absent;
  mlir::Location location;
  std::string label;
  std::map<std::string, LoweredValue> names;  ///< assigned names
  std::map<std::string, LoweredValue> loaded; ///< operands and scalars that were read
  std::map<fuse::ScopeLevel, mlir::Value> sizes;
  mlir::Value index;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
  llvm::DenseMap<mlir::Value, mlir::Value> reals;    ///< int -> the same as a real
  llvm::DenseMap<mlir::Value, mlir::Value> elements; ///< uniform value -> its rounding
};

} // namespace fw::language
