// What can go wrong with a folder of the cache: the rows of cache_faults.def, in words.
#pragma once

#include <cstdint>
#include <string>

namespace fw::jit {

enum class CacheFault : uint8_t {
#define FW_CACHE_FAULT(name, ...) name,
#include "compiler/jit/cache_faults.def"
#undef FW_CACHE_FAULT
};

const char *causeName(CacheFault fault);

/// A fault and its circumstances (path, system's words).
struct CacheFailure {
  CacheFault fault;
  std::string detail;
};

/// "the kernel cache cannot be written; kernels stay in memory (/x: Read-only file system); make
/// the ..."
std::string render(const CacheFailure &failure);

/// Which fault an errno of the lock means.
CacheFailure lockFailure(const std::string &path, int error);

/// Which fault the errno of a failed write means.
CacheFailure writeFailure(const std::string &path, int error);

} // namespace fw::jit
