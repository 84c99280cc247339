#include "tests/driver/fake/Image.h"

#include "tests/driver/fake/Extra.h"

#include <charconv>
#include <cstring>
#include <elf.h>
#include <string_view>

namespace fw::driver::fake {
namespace {

constexpr unsigned char isKernel = 0x10; // in st_other, as NVIDIA's assembler marks entries
constexpr unsigned char newFlags = 8;    // from this version of the binary interface on

template <class T> T read(const std::byte *at) {
  T value;
  memcpy(&value, at, sizeof value);
  return value;
}

int archOf(const Elf64_Ehdr &header) {
  return header.e_ident[EI_ABIVERSION] >= newFlags ? header.e_flags >> 8 & 0xFF
                                                   : header.e_flags & 0xFF;
}

void readSymbols(const std::byte *code, const Elf64_Ehdr &header, Image &image) {
  auto section = [&](size_t number) {
    return read<Elf64_Shdr>(code + header.e_shoff + number * header.e_shentsize);
  };
  for (size_t s = 0; s < header.e_shnum; ++s) {
    const Elf64_Shdr table = section(s);
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= header.e_shnum)
      continue;
    const auto *names = reinterpret_cast<const char *>(code + section(table.sh_link).sh_offset);
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read<Elf64_Sym>(code + table.sh_offset + at);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_other & isKernel)
        image.kernels.insert(names + symbol.st_name);
    }
  }
}

/// The text behind the first `word` that stands alone, up to white space or a bracket.
std::string_view wordAfter(std::string_view text, std::string_view word, size_t &from) {
  constexpr std::string_view spaces = " \t\r\n";
  for (size_t at = text.find(word, from); at != text.npos; at = text.find(word, at + 1)) {
    const size_t first = at + word.size();
    if (first >= text.size() || spaces.find(text[first]) == spaces.npos)
      continue;
    const size_t begin = text.find_first_not_of(spaces, first);
    if (begin == text.npos)
      break;
    from = std::min(text.find_first_of(" \t\r\n(,;", begin), text.size());
    return text.substr(begin, from - begin);
  }
  return {};
}

/// The newest PTX of a driver, 10 * major + minor of the instruction set.
int newestPtx(int driverVersion) {
  constexpr int of12[] = {80, 81, 82, 83, 84, 85, 85, 86, 87, 88};
  const int major = driverVersion / 1000, minor = driverVersion % 1000 / 10;
  if (major == 12)
    return of12[std::min<size_t>(size_t(minor), std::size(of12) - 1)];
  return major < 12 ? 78 : 90 + (major - 13) * 10 + minor;
}

CUresult readText(std::string_view text, int driverVersion, Image &image, std::string &log) {
  size_t from = 0;
  const std::string_view version = wordAfter(text, ".version", from);
  const std::string_view target = wordAfter(text, ".target", from);
  if (version.size() < 3 || !target.starts_with("sm_")) {
    log = "expected .version and .target";
    return Answer::INVALID_PTX;
  }
  const int isa = (version[0] - '0') * 10 + (version[2] - '0');
  if (isa > newestPtx(driverVersion)) {
    log = "expected PTX of version " + std::to_string(newestPtx(driverVersion)) + " at most, got " +
          std::to_string(isa);
    return Answer::UNSUPPORTED_PTX_VERSION;
  }
  const char *end =
      std::from_chars(target.data() + 3, target.data() + target.size(), image.arch).ptr;
  image.isExact = end != target.data() + target.size();
  image.isText = true;
  for (;;) {
    const std::string_view name = wordAfter(text, ".entry", from);
    if (name.empty())
      return Answer::SUCCESS;
    image.kernels.emplace(name);
  }
}

} // namespace

bool Image::runsOn(int capability) const {
  if (isText)
    return isExact ? capability == arch : capability >= arch;
  return capability / 10 == arch / 10 && capability >= arch;
}

CUresult readImage(const void *code, int driverVersion, Image &image, std::string &log) {
  const auto *bytes = static_cast<const std::byte *>(code);
  const auto *text = static_cast<const char *>(code);
  if (!strncmp(text, "//", 2) || !strncmp(text, ".version", 8))
    return readText(text, driverVersion, image, log);
  if (memcmp(bytes, ELFMAG, SELFMAG) != 0)
    return Answer::INVALID_IMAGE;
  const auto header = read<Elf64_Ehdr>(bytes);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_CUDA)
    return Answer::INVALID_IMAGE;
  image.arch = archOf(header);
  readSymbols(bytes, header, image);
  return Answer::SUCCESS;
}

} // namespace fw::driver::fake
