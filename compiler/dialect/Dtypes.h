// The storage dtypes by name (dtypes.def, int_dtypes.def), without MLIR.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fw {

struct Dtype {
  std::string_view name;
  std::string_view type; ///< spelling of the MLIR type
  std::string_view cuda; ///< spelling in CUDA text
  unsigned bytes;
  int digits;
  int emin;
  double largest;
  bool infinity;
  bool saturate;
  int dlpackCode;
  int dlpackBits;
};

/// All dtypes in the table's order.
std::span<const Dtype> allDtypes();

/// The dtype called `name`, or null.
const Dtype *findDtype(std::string_view name);

/// "f32, f64, ...", for messages.
std::string listDtypes();

/// How a bool or an int is stored.
struct IntDtype {
  std::string_view name;
  std::string_view cuda; ///< spelling in CUDA text
  bool isBool;
  unsigned bytes;
  bool isSigned;
  int dlpackCode;
  int dlpackBits;
};

/// All of them in the table's order.
std::span<const IntDtype> allIntDtypes();

/// The one called `name`, or null.
const IntDtype *findIntDtype(std::string_view name);

/// The number that the storage word `bits` stands for, and the word of a number.
int64_t decodeInt(const IntDtype &dtype, uint64_t bits);
uint64_t encodeInt(const IntDtype &dtype, int64_t value);

/// Bytes of an element stored as `name`, a dtype of either table; 0 for any other name.
unsigned storageBytes(std::string_view name);

} // namespace fw
