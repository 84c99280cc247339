// A semantic-level module written in a test, and short ways to evaluate it.
#pragma once

#include "compiler/dialect/Fuse.h"
#include "compiler/dialect/evaluator/Evaluator.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>

namespace fw::evaluator::test {

using Tensor = std::vector<double>;

/// Parses a module with one fuse.op; a test fails on an error in its text.
class TestModule {
public:
  explicit TestModule(const std::string &text);

  fuse::OpOp op();
  /// One tensor for each named operand.
  Result<Evaluation> evaluate(const std::map<std::string, Tensor> &data,
                              const Tensor &scalars = {});
  Result<Bits> interpret(const std::map<std::string, Tensor> &data, const Tensor &scalars = {});

private:
  Inputs inputs(const std::map<std::string, Tensor> &data, const Tensor &scalars);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// An op `y = body(a, b, c)` over f32 (or `real`) operands, its result stored as `dtype`. `body`
/// ends in a value %y.
std::string elementModule(const std::string &body, const std::string &dtype = "f32",
                          const std::string &real = "f32");

/// The bound of `y` for one element.
Bound boundOf(const std::string &body, const Tensor &abc, const std::string &dtype = "f32",
              const std::string &real = "f32");
/// The stored word of `y` for one element, decoded.
double bitsOf(const std::string &body, const Tensor &abc, const std::string &dtype = "f32",
              const std::string &real = "f32");

} // namespace fw::evaluator::test
