#include "compiler/cpu/Features.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using llvm::StringRef;

namespace fw::cpu {

namespace {
struct Row {
  StringRef arch;
  StringRef name;
  StringRef needs; ///< separated by spaces
  bool baseline;
};

constexpr Row kRows[] = {
#define FW_CPU_FEATURE(...) Row{__VA_ARGS__},
#include "compiler/cpu/features.def"
#undef FW_CPU_FEATURE
};

StringRef hostArchitecture() {
  llvm::Triple triple(llvm::sys::getProcessTriple());
  return triple.getArch() == llvm::Triple::x86_64 ? "x86-64" : triple.getArchName();
}

/// The features of `arch` that the table knows.
std::string listNames(StringRef arch) {
  std::string out;
  for (const Row &row : kRows)
    if (row.arch == arch)
      out += (out.empty() ? "" : ", ") + row.name.str();
  return out;
}

bool needs(const Row &row, StringRef other) {
  llvm::SmallVector<StringRef> needs;
  row.needs.split(needs, ' ', -1, false);
  return llvm::is_contained(needs, other);
}

/// Adds what the asked features need.
void close(StringRef arch, llvm::StringMap<bool> &asked) {
  for (const Row &user : llvm::reverse(kRows)) // needs stand before their users in the table
    if (user.arch == arch && asked.lookup(user.name))
      for (const Row &row : kRows)
        if (row.arch == arch && needs(user, row.name))
          asked[row.name] = true;
}
} // namespace

Features Features::from(StringRef arch, const llvm::StringMap<bool> &available) {
  Features out;
  out.arch = arch.str();
  for (const Row &row : kRows) { // needs stand before their users in the table
    if (row.arch != arch || !available.lookup(row.name))
      continue;
    llvm::SmallVector<StringRef> needs;
    row.needs.split(needs, ' ', -1, false);
    if (llvm::all_of(needs, [&](StringRef need) { return out.has(need); }))
      out.names.push_back(row.name);
  }
  return out;
}

Features Features::host() { return from(hostArchitecture(), llvm::sys::getHostCPUFeatures()); }

Result<Features> Features::parse(StringRef text) {
  if (text.empty())
    return host();
  auto [arch, rest] = text.split('+');
  if (arch.empty())
    arch = hostArchitecture();
  std::string known = listNames(arch);
  if (known.empty())
    return Error{Code::USAGE,
                 "expected CPU features like 'x86-64+avx2+fma' or '+avx2,+fma', got '" +
                     text.str() + "'",
                 "put + before each feature, or leave the setting out for those of this machine"};
  llvm::StringMap<bool> asked;
  llvm::SmallVector<StringRef> words;
  rest.split(words, '+', -1, false);
  for (StringRef word : words) {
    word = word.rtrim(", ");
    if (llvm::none_of(kRows, [&](const Row &row) { return row.arch == arch && row.name == word; }))
      return Error{Code::USAGE,
                   "expected a CPU feature of " + arch.str() + " (" + known + "), got '" +
                       word.str() + "'",
                   "leave it out; code is the same with features that are not in this list"};
    asked[word] = true;
  }
  close(arch, asked);
  return from(arch, asked);
}

bool Features::has(StringRef name) const { return llvm::is_contained(names, name); }

std::string Features::canonical() const {
  std::string out = arch;
  for (StringRef name : names)
    out += "+" + name.str();
  return out;
}

std::string Features::forLlvm() const {
  std::string out;
  for (const Row &row : kRows)
    if (row.arch == arch)
      out += (out.empty() ? "" : ",") + std::string(has(row.name) ? "+" : "-") + row.name.str();
  return out;
}

Result<void> Features::checkBaseline() const {
  std::string missing;
  for (const Row &row : kRows)
    if (row.arch == arch && row.baseline && !has(row.name))
      missing += (missing.empty() ? "" : ", ") + row.name.str();
  if (missing.empty())
    return {};
  const bool isChosen = arch != host().arch || host().checkBaseline(); // not by this machine
  return Error{
      Code::DEVICE, "expected a CPU with " + missing + ", got '" + canonical() + "'",
      isChosen
          ? "fused multiply-add must round once, in hardware: name these features in "
            "FUSEWRIGHT_CPU_FEATURES too, or leave it out"
          : "fused multiply-add must round once, and these CPUs cannot do it in hardware: use a "
            "CPU of 2013 or later"};
}

Result<void> Features::checkRunsOn(const Features &machine) const {
  std::string missing = arch == machine.arch ? "" : arch;
  for (StringRef name : names)
    if (!machine.has(name))
      missing += (missing.empty() ? "" : ", ") + name.str();
  if (missing.empty())
    return {};
  return Error{Code::DEVICE,
               "expected CPU features that this machine has (" + machine.canonical() + "), got " +
                   missing + " too",
               "leave FUSEWRIGHT_CPU_FEATURES unset, or make code for other machines with "
               "`fusewright precompile`"};
}

int64_t Features::lanes(unsigned bytes) const {
  bool wide = has("avx512bw") && has("avx512dq") && has("avx512vl");
  return (wide ? 64 : 32) / bytes;
}

} // namespace fw::cpu
