// The border between C and C++: what may fail inside becomes a status and the thread's error.
#pragma once

#include "compiler/support/Error.h"
#include "fusewright/fusewright.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace fw::api {

/// How errors travel inside this room; caught by border() and by nothing else.
struct Failure {
  Error error;
};

/// Keep the error for fw_last_error() and return its status. Neither needs memory to succeed.
fw_status keepError(const Error &error) noexcept;
fw_status keepOutOfMemory() noexcept;
/// The exception that is being handled, one that no room should have let through.
fw_status keepUnknown() noexcept;

/// Runs the body of a C function. Nothing is thrown to the caller.
template <class Body> fw_status border(Body &&body) noexcept {
  try {
    body();
    return FW_OK;
  } catch (const Failure &failure) {
    return keepError(failure.error);
  } catch (const std::bad_alloc &) {
    return keepOutOfMemory();
  } catch (...) {
    return keepUnknown();
  }
}

template <class T> T take(Result<T> result) {
  if (!result)
    throw Failure{result.takeError()};
  if constexpr (!std::is_void_v<T>)
    return std::move(*result);
}

/// The object behind a pointer that must not be NULL.
template <class T> T &need(T *pointer, const char *name) {
  if (!pointer)
    throw Failure{{Code::USAGE, std::string(name) + ": expected an address, got NULL",
                   "pass the address of an object; fusewright.h says which may be NULL"}};
  return *pointer;
}

/// The item at an index that the caller chose.
template <class T> const T &at(const std::vector<T> &items, size_t index, const char *what) {
  if (index >= items.size())
    throw Failure{{Code::USAGE,
                   "index: expected one of " + std::to_string(items.size()) + " " + what +
                       ", got " + std::to_string(index),
                   "ask for their count first; indices start at 0"}};
  return items[index];
}

template <class T> constexpr uint32_t firstSize = 0;
#define FW_STRUCT(name, size) template <> inline constexpr uint32_t firstSize<name> = size;
#include "runtime/api/structs.def"
#undef FW_STRUCT

/// No struct of any version is as large: a struct_size beyond was never set.
constexpr uint32_t mostSize = 4096;

/// A smaller struct than the first version's is a caller's mistake; a larger one is a newer caller.
template <class T> void checkSize(const T &given, const char *name) {
  if (given.struct_size < firstSize<T>)
    throw Failure{{Code::USAGE,
                   std::string(name) + ": expected struct_size >= " + std::to_string(firstSize<T>) +
                       ", got " + std::to_string(given.struct_size),
                   "set struct_size to the sizeof of the struct"}};
  if (given.struct_size > mostSize)
    throw Failure{{Code::USAGE,
                   std::string(name) + ": expected struct_size <= " + std::to_string(mostSize) +
                       ", got " + std::to_string(given.struct_size),
                   "set struct_size to the sizeof of the struct"}};
}

/// The fields that both the caller and this library know; the others are as in `defaults`.
template <class T> T readStruct(const T *given, const char *name, T defaults = {}) {
  checkSize(need(given, name), name);
  std::memcpy(&defaults, given, std::min<size_t>(given->struct_size, sizeof(T)));
  return defaults;
}

/// Fills the fields that the caller knows.
template <class T> void writeStruct(T *out, T value) {
  checkSize(need(out, "out"), "out");
  value.struct_size = out->struct_size;
  std::memcpy(out, &value, std::min<size_t>(value.struct_size, sizeof(T)));
}

} // namespace fw::api
