// Records as CBOR: one list of fields per struct serves both directions.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace fw::jit::archive {

using nlohmann::json;

/// What `fields` takes of a record: a writer only reads it.
template <class A, class T> using Of = std::conditional_t<A::fills, T, const T>;

/// Far more than a record needs; bounds what a damaged file can make the parser do.
constexpr size_t maxDepth = 8, maxBytes = 1 << 20;

/// A value whose end needs no memory. json's destructor gathers all that is inside in a list, and a
/// destructor that finds no memory for one ends the process.
struct Tree {
  Tree() = default;
  explicit Tree(json value) : value(std::move(value)) {}
  Tree(const Tree &) = delete;
  ~Tree() { clear(value); }

  json value;

private:
  /// From the leaves up. As deep as we write or the parser allows: maxDepth.
  static void clear(json &value) {
    if (!value.is_structured())
      return;
    for (json &child : value)
      clear(child);
    value.clear();
  }
};

/// nlohmann's parser recurses per nesting level, so the level is bounded here and not by the stack.
class BoundedReader : public nlohmann::detail::json_sax_dom_parser<json> {
  using Base = nlohmann::detail::json_sax_dom_parser<json>;

public:
  explicit BoundedReader(json &root) : Base(root, /*allow_exceptions=*/false) {}
  bool start_object(size_t size) { return ++depth <= maxDepth && Base::start_object(size); }
  bool start_array(size_t size) { return ++depth <= maxDepth && Base::start_array(size); }
  bool end_object() { return --depth, Base::end_object(); }
  bool end_array() { return --depth, Base::end_array(); }

private:
  size_t depth = 0;
};

class Writer {
public:
  static constexpr bool fills = false;
  template <class T> void field(const char *name, const T &value) { object()[name] = value; }
  /// A field that most records leave at `usual`: it is not written then.
  template <class T> void rare(const char *name, const T &value, const T &usual) {
    if (!(value == usual))
      field(name, value);
  }
  template <class T> void list(const char *name, const std::vector<T> &values) {
    Tree array(json::array());
    for (const T &value : values) {
      Writer inner;
      fields(inner, value);
      array.value.push_back(std::move(inner.object()));
    }
    object()[name] = std::move(array.value);
  }
  template <class T> void part(const char *name, const T &value) {
    Writer inner;
    fields(inner, value);
    object()[name] = std::move(inner.object());
  }
  json &object() { return tree.value; }

private:
  Tree tree{json::object()};
};

/// Throws json::exception or std::runtime_error on anything unexpected.
class Reader {
public:
  static constexpr bool fills = true;
  explicit Reader(const json &object) : object(object) {}
  template <class T> void field(const char *name, T &value) { value = take<T>(object.at(name)); }
  template <class T> void rare(const char *name, T &value, const T &usual) {
    value = object.contains(name) ? take<T>(object.at(name)) : usual;
  }
  template <class T> void list(const char *name, std::vector<T> &values) {
    for (const json &element : array(name)) {
      Reader inner(element);
      fields(inner, values.emplace_back());
    }
  }
  template <class T> void part(const char *name, T &value) {
    Reader inner(object.at(name));
    fields(inner, value);
  }

private:
  const json &array(const char *name) const {
    const json &found = object.at(name);
    if (!found.is_array())
      throw std::runtime_error(std::string(name) + " that is no list");
    return found;
  }

  // json's own conversions truncate integers and accept booleans as numbers.
  template <class T> static T take(const json &value) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>)
      return value.get<T>();
    else if constexpr (std::is_integral_v<T>)
      return integer<T>(value);
    else if constexpr (std::is_floating_point_v<T>)
      return value.is_number() ? value.get<T>() : throw std::runtime_error("no number");
    else
      return elements<T>(value);
  }
  template <class T> static T integer(const json &value) {
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX)))
      throw std::runtime_error("no whole number");
    int64_t number = value.get<int64_t>();
    if (number < int64_t(std::numeric_limits<T>::min()) ||
        number > int64_t(std::numeric_limits<T>::max()))
      throw std::runtime_error("a number out of range");
    return T(number);
  }
  template <class T> static T elements(const json &value) {
    if (!value.is_array())
      throw std::runtime_error("no list");
    T values;
    for (const json &element : value)
      values.push_back(take<typename T::value_type>(element));
    return values;
  }

  const json &object;
};

} // namespace fw::jit::archive
