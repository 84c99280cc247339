// SHA-256 and the three keys of the cache. docs/rationale/cache-keys.md says why each part is in
// its key.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fw::jit {

using Digest = std::array<uint8_t, 32>;

/// Digest of the concatenation of `parts`.
Digest sha256(std::span<const std::string_view> parts);
Digest sha256(std::string_view bytes);

/// 64 lower-case hex digits.
std::string hex(const Digest &digest);
std::string sha256Hex(std::string_view bytes);

/// Names the sources this compiler was built from: a change of any pass, template or table is a new
/// id.
std::string_view compilerBuildId();

/// index/<key>: a program, from the request's canonical text and the op's token stream.
std::string programKey(std::string_view canonicalRequest, std::string_view opHash,
                       std::string_view buildId = compilerBuildId());

/// kernels/<key>.fwk: what NVRTC was given, and which NVRTC it was.
std::string kernelKey(std::string_view source, std::span<const std::string> flags,
                      std::string_view arch, std::string_view compilerVersion);

/// objects/<key>.fwo: what the CPU library was given, and its version, which names what made it.
std::string objectKey(std::string_view phaseText, std::string_view cpuFeatures,
                      std::string_view backendVersion);

/// True for a string that one of the functions above can have made; file names are made of nothing
/// else.
bool isKey(std::string_view text);

} // namespace fw::jit
