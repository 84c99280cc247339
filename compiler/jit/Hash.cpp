#include "compiler/jit/Hash.h"

#include "compiler/jit/BuildId.inc"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SHA256.h"

#include <algorithm>
#include <vector>

namespace fw::jit {
namespace {

/// Lengths stand in front of the parts, so ("ab", "c") and ("a", "bc") differ.
std::string keyOf(std::string_view kind, std::span<const std::string_view> parts) {
  llvm::SHA256 hash;
  auto add = [&](std::string_view part) {
    uint64_t length = part.size();
    uint8_t prefix[8];
    for (int i = 0; i < 8; ++i)
      prefix[i] = uint8_t(length >> (8 * i));
    hash.update(llvm::ArrayRef<uint8_t>(prefix, 8));
    hash.update(llvm::StringRef(part.data(), part.size()));
  };
  add(kind);
  for (std::string_view part : parts)
    add(part);
  return hex(hash.final());
}

} // namespace

Digest sha256(std::span<const std::string_view> parts) {
  llvm::SHA256 hash;
  for (std::string_view part : parts)
    hash.update(llvm::StringRef(part.data(), part.size()));
  return hash.final();
}

Digest sha256(std::string_view bytes) { return sha256(std::span(&bytes, 1)); }

std::string hex(const Digest &digest) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string sha256Hex(std::string_view bytes) { return hex(sha256(bytes)); }

std::string_view compilerBuildId() { return FW_BUILD_ID; }

std::string programKey(std::string_view canonicalRequest, std::string_view opHash,
                       std::string_view buildId) {
  const std::string_view parts[] = {canonicalRequest, opHash, buildId};
  return keyOf("program", parts);
}

std::string kernelKey(std::string_view source, std::span<const std::string> flags,
                      std::string_view arch, std::string_view compilerVersion) {
  std::vector<std::string_view> parts = {source, arch, compilerVersion};
  parts.insert(parts.end(), flags.begin(), flags.end());
  return keyOf("kernel", parts);
}

std::string objectKey(std::string_view phaseText, std::string_view cpuFeatures,
                      std::string_view backendVersion) {
  const std::string_view parts[] = {phaseText, cpuFeatures, backendVersion};
  return keyOf("object", parts);
}

bool isKey(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

} // namespace fw::jit
