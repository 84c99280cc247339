// The text of an op file and the places in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fw::language {

/// Byte offset into the text of a Source.
using Offset = uint32_t;

/// Line and column, both from 1; columns count bytes.
struct Place {
  int line = 0;
  int column = 0;
};

class Source {
public:
  Source(std::string name, std::string text);

  const std::string &name() const { return fileName; }
  std::string_view text() const { return content; }
  Place place(Offset offset) const;
  /// The text of a line (from 1) without its end of line.
  std::string_view line(int number) const;

private:
  std::string fileName;
  std::string content;
  std::vector<Offset> lineStarts;
};

/// `text` without what could mislead a reader of a terminal or of generated code: control
/// characters, the Unicode characters that change the direction of text, and bytes that are no
/// UTF-8. A tab becomes a space.
std::string withoutControls(std::string_view text);

/// withoutControls, and without backslashes: what may become a comment in generated code, where a
/// backslash at the end of a line would swallow the next one.
std::string asComment(std::string_view text);

} // namespace fw::language
