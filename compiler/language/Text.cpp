#include "compiler/language/Text.h"

#include <charconv>
#include <cmath>

namespace fw::language {

std::string printNumber(double value) {
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  if (std::isnan(value))
    return "nan";
  char buffer[40];
  auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

std::string quoted(std::string_view text) {
  constexpr size_t shown = 64; // of a name that is legal, all
  bool cut = text.size() > shown;
  return "'" + std::string(text.substr(0, shown)) + (cut ? "...'" : "'");
}

std::string alternatives(const std::vector<std::string> &items) {
  constexpr size_t shown = 40;
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i == shown && items.size() > shown + 1)
      return out + " or one of " + std::to_string(items.size() - shown) + " more";
    if (i > 0)
      out += i + 1 == items.size() ? " or " : ", ";
    out += items[i];
  }
  return out;
}

} // namespace fw::language
