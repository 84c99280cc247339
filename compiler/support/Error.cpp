#include "compiler/support/Error.h"

namespace fw {

std::string shortened(const std::string &text) {
  constexpr size_t most = 2000, start = 1200, end = 400;
  if (text.size() <= most)
    return text;
  return text.substr(0, start) + " ... (" + std::to_string(text.size() - start - end) +
         " characters) ... " + text.substr(text.size() - end);
}

std::string render(const Error &error) {
  std::string out;
  if (!error.file.empty()) {
    out = error.file + ":";
    if (error.line > 0)
      out += std::to_string(error.line) + ":" + std::to_string(error.column) + ":";
    out += " error: ";
  }
  out += shortened(error.text);
  if (!error.remedy.empty())
    out += "; " + shortened(error.remedy);
  return out;
}

} // namespace fw
