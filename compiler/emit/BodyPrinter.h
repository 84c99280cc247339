// Statements: the body of a pass, or what a kernel computes once a row.
#pragma once

#include "compiler/emit/Expressions.h"
#include "compiler/emit/Words.h"

#include "llvm/ADT/SmallPtrSet.h"

#include <functional>
#include <string>

namespace fw::emit {

/// CUDA's name of a number's type: float, double, bool, fw::i64.
std::string typeText(mlir::Type type);

/// Names of members: in.v_p, out.v_p, u.v_lr.
std::string memberName(llvm::StringRef name);

/// Where statements stand, and what is particular to that place.
struct BodyPlace {
  std::string indent;
  std::function<std::string(fuse::LoadOp)> load; ///< the stored value, as a number
  std::function<std::string(fuse::StoreOp, const std::string &value)> store; ///< a statement
  std::function<std::string(llvm::StringRef operand, const std::string &place)> gather = {};
  std::function<std::string(fuse::IndexOp)> index = {}; ///< an i64
  std::string column = {};                              ///< an i64: the number of the element's
  std::string accumulators = "acc";                     ///< what a pass yields into
  mlir::Value known = {}; ///< computed here, but the caller has a text for it
};

/// Prints operations one after the other.
class BodyPrinter {
public:
  /// `outer`: the texts of values that are computed elsewhere. `equations` gives the text behind a
  /// label.
  BodyPrinter(mlir::Type real, mlir::DictionaryAttr equations, Expressions outer, BodyPlace place);

  Result<void> print(mlir::Operation *op);
  /// The same with a text of the caller's for its value.
  void define(mlir::Operation *op, const Text &text);
  void line(const std::string &text) { out += place.indent + text + "\n"; }

  const Text &textOf(mlir::Value value) const { return expressions.of(value); }
  std::string take() { return std::move(out); }

private:
  void visitLoaded(mlir::Operation *load, llvm::StringRef operand, std::string text);
  std::string partnerText(mlir::Value count, bool isInterleaved) const;
  void visitCast(fuse::CastOp cast);
  void visitStore(fuse::StoreOp store);
  void visitYield(fuse::YieldOp yield);
  std::string nameOf(mlir::Operation *op);
  Text addLine(mlir::Operation *op, const std::string &name, const Text &text);
  void addLabel(mlir::Operation *op);

  mlir::Type real;
  mlir::DictionaryAttr equations;
  BodyPlace place;
  llvm::SmallPtrSet<mlir::Operation *, 8> skipped; ///< what nothing but place.known is made of
  Expressions expressions;
  Names names;
  mlir::StringAttr lastLabel;
  std::string out;
};

/// The array that holds the random bits of a vector.
std::string drawName(fuse::BitsOp bits);

/// The texts of what a kernel's body has of a launch: its slots, u.v_lr, and constants.
Expressions slotTexts(fuse::KernelOp kernel);

/// The statements of `each` for element k, one a line.
Result<std::string> printBody(fuse::EachOp each, mlir::DictionaryAttr equations, Expressions outer,
                              BodyPlace place);

} // namespace fw::emit
