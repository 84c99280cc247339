// Expressions of a checked op -> operations of its body.
#pragma once

#include "compiler/dialect/Fuse.h"
#include "compiler/language/OpInfo.h"

#include "mlir/IR/Builders.h"

#include <map>
#include <set>
#include <string>

namespace fw::language {

/// A value of the body. Uniform reals are f64, reals of elements and of axes f32, bools i1, ints
/// i64; an int literal is a real until an int, or a power, takes it.
struct LoweredValue {
  mlir::Value value;
  bool isElement = false; ///< computed for elements or places on axes
};

/// What the op that is lowered and the ops that it calls share.
struct LoweringState {
  LoweringState(mlir::OpBuilder &builder, const ResolvedOp &root)
      : builder(builder), root(root), location(builder.getUnknownLoc()) {}

  mlir::OpBuilder &builder;
  const ResolvedOp &root;
  mlir::Location location;
  std::string label;
  int64_t draws = 0; ///< calls of random() and bits() so far
  std::map<std::string, mlir::Value> scalars;
  llvm::DenseMap<mlir::Attribute, mlir::Value> sizes; ///< by scope
  std::map<std::string, mlir::Value> indices;         ///< by axis; "" of the tensor
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
  llvm::DenseMap<mlir::Value, mlir::Value> reals;    ///< int -> the same as a real
  llvm::DenseMap<mlir::Value, mlir::Value> elements; ///< uniform value -> its rounding
};

class ExpressionLowering {
public:
  /// Of the op itself. Operands in `absent` read as their neutral value.
  ExpressionLowering(LoweringState &state, const std::set<std::string> &absent);

  /// The place and the label ("" for none) of what is lowered next.
  void startStatement(mlir::Location where, const std::string &newLabel);
  LoweredValue lower(const Expr &expr);
  /// `value` as `operand` takes it: as elements compute, or in the scalar program's f64.
  mlir::Value toTypeOf(const OperandInfo &operand, LoweredValue value);
  /// Later reads of `name` see `value`; the operation that made it gets the name.
  void assign(const std::string &name, LoweredValue value);
  fuse::ScopeAttr scopeAttr(const Scope &scope);

private:
  /// Of an op that is called by `caller`.
  ExpressionLowering(ExpressionLowering &caller, const ResolvedCall &call);

  // Names and the rest (LoweringExpressions.cpp)
  LoweredValue lowerName(const std::string &name);
  LoweredValue lowerApply(const Expr &expr, const Apply &apply);
  LoweredValue lowerSelect(const Select &select);
  LoweredValue lowerOperandFunction(const Apply &apply);
  LoweredValue lowerRoundTo(const Apply &apply);
  LoweredValue read(const std::string &operand);
  mlir::Type typeOf(const OperandInfo &operand);
  LoweredValue literal(Type type, double value);
  mlir::Value scalar(const std::string &name);
  mlir::Value toElement(LoweredValue value);
  mlir::Value toWhole(LoweredValue value);
  mlir::Value toUniformReal(mlir::Value value);
  mlir::Value rounded(mlir::Value uniform, mlir::Type type);
  /// The arguments in one precision, and whether that is the elements'.
  llvm::SmallVector<mlir::Value> unify(llvm::ArrayRef<LoweredValue> values, bool &isElement);
  mlir::Value real(double value);
  mlir::Value integer(int64_t value);
  mlir::Value truth(bool value);
  mlir::Value constant(mlir::TypedAttr value);

  // Arithmetic (LoweringArithmetic.cpp)
  LoweredValue lowerPower(const Apply &apply);
  LoweredValue lowerComparison(const Apply &apply);
  mlir::Value squarings(mlir::Value base, int64_t exponent);
  mlir::arith::FastMathFlags exponentialForm(mlir::Value value) const;
  mlir::Value arithmetic(Function function, llvm::ArrayRef<mlir::Value> arguments);
  mlir::Value logic(Function function, llvm::ArrayRef<mlir::Value> arguments);
  LoweredValue lowerInts(const Apply &apply);
  bool isInt(const Expr &expr) const { return op.values[expr.id].type == Type::Int; }
  LoweredValue toInt(const Expr &expr);
  LoweredValue asInt(LoweredValue value);
  llvm::SmallVector<mlir::Value> unifyInts(llvm::ArrayRef<const Expr *> arguments, bool &isElement);

  // Reductions (LoweringReductions.cpp)
  LoweredValue lowerReduce(const Expr &expr, const Reduce &reduce);
  mlir::Value reduced(fuse::ReduceKind kind, fuse::ScopeAttr keep, mlir::Value value);
  mlir::Value average(fuse::ScopeAttr keep, mlir::Value value, const Scope &inside);
  mlir::Value countOf(fuse::ScopeAttr keep, mlir::Value value, const Scope &inside);
  mlir::Value oneWhere(mlir::Value condition);

  // Places (LoweringPlaces.cpp)
  LoweredValue lowerPlace(const Apply &apply);
  LoweredValue lowerGather(const Gather &gather);
  LoweredValue lowerSwapPairs(const Apply &apply);
  LoweredValue lowerDraw(const Apply &apply);
  mlir::Value sizeOf(fuse::ScopeAttr scope);
  mlir::Value sizeOfAxis(const std::string &axis);
  mlir::Value indexOf(const std::string &axis);
  std::vector<std::string> rootAxes(const std::string &axis) const;

  // Calls (LoweringCalls.cpp)
  LoweredValue lowerCall(const Expr &expr, const std::string &member);
  void bind(ExpressionLowering &callee, const ResolvedCall &call);
  void bindOperand(ExpressionLowering &callee, const OperandInfo &operand, const Expr &argument);

  /// An operation that computes: it carries the label of its equation.
  template <class T, class... Arguments> mlir::Value make(Arguments &&...arguments) {
    auto made = T::create(state.builder, state.location, std::forward<Arguments>(arguments)...);
    if (!state.label.empty())
      made->setAttr(fuse::kLabel, state.builder.getStringAttr(state.label));
    return made->getResult(0);
  }

  LoweringState &state;
  const ResolvedOp &op;
  /// For each axis of `op` the axes of the root op, slowest first; and those of operands' own.
  std::vector<std::vector<std::string>> axes;
  std::map<std::string, std::string> ownAxes;
  std::set<std::string> absent;
  std::map<std::string, LoweredValue> names;   ///< assigned names, and what a call binds
  std::map<std::string, LoweredValue> loaded;  ///< operands that were read
  std::map<std::string, std::string> operands; ///< of a callee: the root's, where it is an operand
};

} // namespace fw::language
