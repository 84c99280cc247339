#include "tests/driver/Images.h"

#include <cstring>
#include <elf.h>

namespace fw::driver {
namespace {

constexpr unsigned char isEntry = 0x10;

template <class T> void append(std::string &to, const T &value) {
  to.append(reinterpret_cast<const char *>(&value), sizeof value);
}

Elf64_Sym function(size_t name, unsigned char other) {
  Elf64_Sym symbol{};
  symbol.st_name = static_cast<Elf64_Word>(name);
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_other = other;
  symbol.st_shndx = 1;
  return symbol;
}

Elf64_Shdr section(Elf64_Word type, size_t offset, size_t bytes, Elf64_Word link) {
  Elf64_Shdr header{};
  header.sh_type = type;
  header.sh_offset = offset;
  header.sh_size = bytes;
  header.sh_link = link;
  return header;
}

Elf64_Ehdr headerOf(int arch, bool isOfCuda12, size_t sections) {
  Elf64_Ehdr header{};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_ABIVERSION] = isOfCuda12 ? 7 : 8;
  header.e_machine = EM_CUDA;
  const auto number = static_cast<Elf64_Word>(arch);
  header.e_flags = isOfCuda12 ? number << 16 | 5 << 8 | number : 6 << 24 | number << 8 | 4;
  header.e_shoff = sections;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  return header;
}

} // namespace

std::string cubin(int arch, const std::vector<std::string> &kernels, bool isOfCuda12) {
  std::string names(1, '\0'), symbols;
  append(symbols, Elf64_Sym{});
  append(symbols, function(names.size(), 0));
  names += std::string("helper") + '\0';
  for (const std::string &kernel : kernels) {
    append(symbols, function(names.size(), isEntry));
    names += kernel + '\0';
  }
  const size_t symbolsAt = sizeof(Elf64_Ehdr), namesAt = symbolsAt + symbols.size();
  names.resize((names.size() + 7) / 8 * 8);
  std::string image;
  append(image, headerOf(arch, isOfCuda12, namesAt + names.size()));
  image += symbols + names;
  append(image, section(SHT_NULL, 0, 0, 0));
  append(image, section(SHT_STRTAB, namesAt, names.size(), 0));
  append(image, section(SHT_SYMTAB, symbolsAt, symbols.size(), 1));
  return image;
}

std::string ptx(const std::string &target, const std::string &version,
                const std::vector<std::string> &kernels) {
  std::string text =
      "//\n// a test's\n//\n\n.version " + version + "\n.target " + target + "\n.address_size 64\n";
  for (const std::string &kernel : kernels)
    text += "\n\t// .globl\t" + kernel + "\n.visible .entry " + kernel +
            "(\n\t.param .u64 p\n)\n{\n}\n";
  return text;
}

} // namespace fw::driver
