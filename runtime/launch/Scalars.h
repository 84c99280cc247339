// The hyper-parameters and the step of a launch, from named values to rows of numbers.
#pragma once

#include "compiler/support/Error.h"
#include "fusewright/fusewright.h"

#include <llvm/ADT/SmallVector.h>

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fw::launch {

struct Hyper {
  enum class Kind { Real, Int, Bool };

  std::string name;
  Kind kind = Kind::Real;
  bool isStep = false;   ///< counts from 1 and must be given
  bool required = false; ///< the op gives no default
  bool ofAll = false;    ///< one for all tensors: it, or what depends on it, is shared by them
  double fallback = 0;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool lowOpen = false; ///< the bound itself is refused
  bool highOpen = false;
};

/// The scalars of a caller whose fw_scalar may be larger than ours.
class ScalarArray {
public:
  ScalarArray(const fw_scalar *first, size_t count)
      : base(reinterpret_cast<const char *>(first)), count(count),
        stride(count ? first->struct_size : sizeof(fw_scalar)) {}
  size_t size() const { return count; }
  const fw_scalar &operator[](size_t index) const {
    return *reinterpret_cast<const fw_scalar *>(base + index * stride);
  }

private:
  const char *base;
  size_t count;
  size_t stride;
};

/// Types of numbers in memory.
enum class Number : uint8_t { f32, f64, i32, i64 };
size_t bytesOf(Number type);

/// Where the values of a hyper come from.
struct ScalarSource {
  enum class Kind : uint8_t { Missing, Value, Values, Data } kind = Kind::Missing;
  double value = 0;               ///< Value
  std::span<const double> values; ///< Values: the caller's, one per entry
  void *data = nullptr;           ///< Data: one number, or one per entry
  size_t count = 0;               ///< of `data`
  Number type = Number::f64;      ///< of `data`
  bool advance = false; ///< `data` is read as one more, and counted once the step is applied
};

/// A scalar that a caller named.
struct GivenScalar {
  size_t hyper = 0;
  ScalarSource source;
};

/// A run has few, and must not allocate for them.
using GivenScalars = llvm::SmallVector<GivenScalar, 8>;

/// Finds each given scalar by name and checks kinds, ranges and counts. Host values alone have
/// ranges that can be checked.
Result<GivenScalars> matchScalars(std::span<const Hyper> hypers, const ScalarArray &given,
                                  size_t listLength);

/// The number that all tensors have by a source on the host; none where they differ, or where there
/// is no tensor to say one.
std::optional<double> commonValue(const ScalarSource &source);
/// USAGE for a hyper of all tensors whose source gives each its own.
Error severalValues(const Hyper &hyper);

/// What a hyper has that nobody names: its default, or nothing.
ScalarSource defaultSource(const Hyper &hyper);
/// USAGE for a hyper that is still without a value.
Error missingScalar(const Hyper &hyper);

/// Values of all hypers: one row for the whole list, or one per list entry.
struct ScalarRows {
  size_t columns = 0;
  size_t rows = 1;
  llvm::SmallVector<double, 8> values; ///< [row][hyper]

  size_t rowOf(size_t position) const { return rows == 1 ? 0 : position; }
  std::span<const double> row(size_t index) const {
    return {values.data() + index * columns, columns};
  }
};

/// The rows of a one-shot launch: given scalars, then defaults. Numbers in device memory, and
/// several for what is one for all tensors, are refused.
Result<ScalarRows> readScalars(std::span<const Hyper> hypers, const ScalarArray &given,
                               size_t listLength);

/// ">= 0", "in [0, 1)"; empty: any number.
std::string printRange(const Hyper &hyper);

} // namespace fw::launch
