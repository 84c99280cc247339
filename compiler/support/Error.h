// The one error type inside the compiler. It becomes an fw_error at the C border.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace fw {

enum class Code : int {
#define FW_STATUS(name, value, meaning) name = value,
#include "fusewright/status.def"
#undef FW_STATUS
};

/// What was expected, what was got and what to do: lower case, no full stop.
struct Error {
  Code code = Code::INTERNAL;
  std::string text;
  std::string remedy = {};
  std::string file = {}; ///< op file or cache file the error is about, if any
  int line = 0;          ///< 1-based; 0 when there is no place
  int column = 0;
  std::string log = {}; ///< whole diagnostic text or compiler log, may have many lines
};

/// The text without its middle where a caller's name or a list made it longer than anybody reads.
std::string shortened(const std::string &text);

/// "text; remedy", or "file:line:column: error: text; remedy" where there is a place.
std::string render(const Error &error);

/// A value or an Error. `*result` asserts that there is a value.
template <class T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() & { return assert(*this), std::get<0>(state); }
  const T &operator*() const & { return assert(*this), std::get<0>(state); }
  T &&operator*() && { return assert(*this), std::get<0>(std::move(state)); }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }
  const Error &error() const { return assert(!*this), std::get<1>(state); }
  Error takeError() { return assert(!*this), std::get<1>(std::move(state)); }

private:
  std::variant<T, Error> state;
};

template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : state(std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  const Error &error() const { return assert(!*this), std::get<1>(state); }
  Error takeError() { return assert(!*this), std::get<1>(std::move(state)); }

private:
  std::variant<std::monostate, Error> state;
};

} // namespace fw
