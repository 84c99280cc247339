// The lattice of scopes: how often a value is computed. MLIR-free, so that every room can use it.
//
//   const < launch < all < parameters (a group of parameters) < tensor < what keeps some axes
//         < element
//
// `all` is what a reduction over all tensors, or over the world, leaves, and what an operand with
// one value per plan holds: as uniform as the launch, but known only while it runs.
//
// A value that keeps axes has one value per place on each of them, or per so many places: `row`,
// `[n, c]`, `[row, column/128]`. In `elements` the only axis is the element, and group(k) keeps it
// divided by k. All axes kept undivided is the element scope.
#pragma once

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fw::language {

class Scope {
public:
  enum class Level : uint8_t { Const, Launch, All, Parameters, Tensor, Axes };

  using Divisors = llvm::SmallVector<uint32_t, 4>;

  static Scope constant() { return Scope(Level::Const); }
  static Scope launch() { return Scope(Level::Launch); }
  static Scope all() { return Scope(Level::All); }
  static Scope parameters() { return Scope(Level::Parameters); }
  static Scope tensor() { return Scope(Level::Tensor); }
  /// One divisor per axis of the op: 0 = not kept, 1 = kept, k = one value per k places. With no
  /// axis kept this is the tensor scope.
  static Scope axes(Divisors divisors);
  static Scope element(size_t axisCount) { return axes(Divisors(axisCount, 1)); }

  Level level() const { return rank; }
  const Divisors &divisors() const { return kept; }
  /// One value per tensor or fewer: computed in the scalar program.
  bool isUniform() const { return rank != Level::Axes; }
  bool isElement() const;

  /// The scope of a value computed from values of both.
  static Scope join(const Scope &a, const Scope &b);
  /// True if a value of this scope can be used where one of `other` is wanted.
  bool isWithin(const Scope &other) const { return join(*this, other) == other; }

  bool operator==(const Scope &other) const = default;

  /// "const", "launch", "all", "parameters", "tensor", "element", "row", "[n, c]", "[row,
  /// column/128]"
  std::string print(const std::vector<std::string> &axisNames) const;

private:
  explicit Scope(Level level) : rank(level) {}

  Level rank;
  Divisors kept; ///< empty unless rank is Axes
};

} // namespace fw::language
