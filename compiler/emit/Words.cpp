#include "compiler/emit/Words.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <cmath>

namespace fw::emit {

std::string identifier(llvm::StringRef prefix, llvm::StringRef name) {
  std::string out = prefix.str();
  bool capital = false;
  for (char c : name) {
    if (c == '.')
      capital = true;
    else
      out += !llvm::isAlnum(c) ? '_' : capital ? llvm::toUpper(c) : c;
    capital &= c == '.';
  }
  return out;
}

std::string commentText(llvm::StringRef text) {
  std::string out;
  for (char c : text)
    out += c == '\n' || c == '\t' ? ' ' : !llvm::isPrint(c) || c == '\\' ? '?' : c;
  return out;
}

/// Sixteenths with few digits are exact in decimal.
static bool isShortDecimal(double value) {
  double sixteenths = value * 16;
  return sixteenths == std::floor(sixteenths) && std::fabs(value) < 65536;
}

Text literal(const llvm::APFloat &value) {
  bool isDouble = &value.getSemantics() == &llvm::APFloat::IEEEdouble();
  std::string suffix = isDouble ? "" : "f";
  llvm::SmallString<40> digits;
  if (!value.isFinite()) {
    value.bitcastToAPInt().toStringUnsigned(digits, 16);
    return {"fw::bitCast<" + std::string(isDouble ? "double" : "float") + ">(0x" +
                digits.str().str() + (isDouble ? "ull" : "u") + ")",
            Level::Call};
  }
  Level level = value.isNegative() ? Level::Prefix : Level::Name;
  double exact = value.convertToDouble();
  if (isShortDecimal(exact)) {
    std::string text = plainNumber(exact).text;
    bool isInteger = text.find('.') == text.npos;
    return {text + (isInteger ? ".0" : "") + suffix, level};
  }
  char buffer[64];
  value.convertToHexString(buffer, 0, false, llvm::APFloat::rmNearestTiesToEven);
  return {buffer + suffix, level};
}

Text wholeNumber(int64_t value) {
  if (value == int32_t(value))
    return {"fw::i64{" + std::to_string(value) + "}", Level::Call};
  return {"static_cast<fw::i64>(" + std::to_string(uint64_t(value)) + "ull)", Level::Call};
}

Text plainNumber(double value) {
  char buffer[64];
  auto [end, status] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return {std::string(buffer, end), std::signbit(value) ? Level::Prefix : Level::Name};
}

std::string Names::unique(std::string wanted) {
  std::string name = wanted;
  for (unsigned k = 2; !taken.insert(name).second; ++k)
    name = wanted + "_" + std::to_string(k);
  return name;
}

} // namespace fw::emit
