#include "compiler/support/Error.h"

namespace fw {

std::string render(const Error &error) {
  std::string out;
  if (!error.file.empty()) {
    out = error.file + ":";
    if (error.line > 0)
      out += std::to_string(error.line) + ":" + std::to_string(error.column) + ":";
    out += " error: ";
  }
  out += error.text;
  if (!error.remedy.empty())
    out += "; " + error.remedy;
  return out;
}

} // namespace fw
