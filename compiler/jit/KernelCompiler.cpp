#include "compiler/jit/KernelCompiler.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace fw::jit {
namespace {

/// The number that stands right before `unit`, or -1.
int numberBefore(std::string_view line, std::string_view unit) {
  size_t end = line.find(unit);
  if (end == line.npos)
    return -1;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
    --begin;
  int value = -1;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

std::string_view quoted(std::string_view line) {
  size_t begin = line.find('\''), end = line.find('\'', begin + 1);
  return begin == line.npos || end == line.npos ? "" : line.substr(begin + 1, end - begin - 1);
}

template <class F> void forEachLine(std::string_view text, F &&f) {
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    f(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

} // namespace

std::vector<KernelResources> parseResources(std::string_view log) {
  std::vector<KernelResources> kernels;
  bool ofEntry = false; // called functions have a "Function properties" section of their own
  forEachLine(log, [&](std::string_view line) {
    if (line.find("Compiling entry function") != line.npos) {
      kernels.push_back({.symbol = std::string(quoted(line))});
      return;
    }
    if (kernels.empty())
      return;
    KernelResources &kernel = kernels.back();
    if (size_t place = line.find("Function properties for "); place != line.npos)
      ofEntry = line.substr(place + 24) == kernel.symbol;
    if (int stack = numberBefore(line, " bytes stack frame"); stack >= 0 && ofEntry) {
      kernel.stackBytes = stack;
      kernel.spillBytes =
          numberBefore(line, " bytes spill stores") + numberBefore(line, " bytes spill loads");
    }
    if (int registers = numberBefore(line, " registers"); registers >= 0) {
      kernel.registers = registers;
      kernel.sharedBytes = std::max(0, numberBefore(line, " bytes smem"));
    }
  });
  return kernels;
}

std::string numbered(std::string_view source) {
  std::string text;
  int line = 0;
  forEachLine(source, [&](std::string_view content) {
    char prefix[16];
    std::snprintf(prefix, sizeof prefix, "%5d | ", ++line);
    text += prefix;
    text += content;
    text += '\n';
  });
  return text;
}

} // namespace fw::jit
