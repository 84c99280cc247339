#include "compiler/language/Source.h"

#include "llvm/Support/ConvertUTF.h"

#include <algorithm>

namespace fw::language {

Source::Source(std::string name, std::string text)
    : fileName(std::move(name)), content(std::move(text)), lineStarts{0} {
  for (Offset i = 0; i < content.size(); ++i)
    if (content[i] == '\n')
      lineStarts.push_back(i + 1);
}

Place Source::place(Offset offset) const {
  auto next = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
  Offset start = *std::prev(next);
  return {static_cast<int>(next - lineStarts.begin()), static_cast<int>(offset - start) + 1};
}

std::string_view Source::line(int number) const {
  Offset start = lineStarts[number - 1];
  std::string_view rest = std::string_view(content).substr(start);
  rest = rest.substr(0, rest.find('\n'));
  return rest.ends_with('\r') ? rest.substr(0, rest.size() - 1) : rest;
}

/// True for a character that changes the direction of text: U+061C, U+200E-F, U+202A-E, U+2066-9.
static bool isBidirectional(std::string_view text) {
  if (text == "\xd8\x9c")
    return true;
  if (text.size() != 3 || text[0] != '\xe2')
    return false;
  auto second = static_cast<unsigned char>(text[1]), third = static_cast<unsigned char>(text[2]);
  bool mark =
      second == 0x80 && (third == 0x8e || third == 0x8f || (third >= 0xaa && third <= 0xae));
  bool isolate = second == 0x81 && third >= 0xa6 && third <= 0xa9;
  return mark || isolate;
}

/// True for a character that a terminal or an editor acts on instead of showing it.
static bool isControl(std::string_view character) {
  auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1)
    return first < 0x20 || first == 0x7f;
  // U+0080 to U+009F are control characters too: c2 80 to c2 9f.
  bool high = first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
  return high || isBidirectional(character);
}

std::string withoutControls(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
    unsigned size = llvm::getUTF8SequenceSize(begin, begin + text.size());
    std::string_view character = text.substr(0, std::max(size, 1u));
    text.remove_prefix(character.size());
    if (character == "\t")
      out += ' ';
    else if (size > 0 && !isControl(character))
      out += character;
  }
  return out;
}

std::string asComment(std::string_view text) {
  std::string out = withoutControls(text);
  std::erase(out, '\\');
  return out;
}

} // namespace fw::language
