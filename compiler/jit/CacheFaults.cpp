#include "compiler/jit/CacheFaults.h"

#include "compiler/jit/Files.h"

#include <cerrno>
#include <cstddef>

namespace fw::jit {
namespace {

struct FaultRow {
  const char *name;
  const char *what;
  const char *remedy;
};
constexpr FaultRow faults[] = {
#define FW_CACHE_FAULT(id, ...) {.name = #id, __VA_ARGS__},
#include "compiler/jit/cache_faults.def"
#undef FW_CACHE_FAULT
};

bool meansUnwritable(int error) {
  return error == EROFS || error == EACCES || error == EPERM || error == ENOENT || error == ENOTDIR;
}

} // namespace

const char *causeName(CacheFault fault) { return faults[size_t(fault)].name; }

std::string render(const CacheFailure &failure) {
  const FaultRow &row = faults[size_t(failure.fault)];
  return std::string(row.what) + " (" + failure.detail + "); " + row.remedy;
}

CacheFailure lockFailure(const std::string &path, int error) {
  bool full = error == ENOSPC || error == EDQUOT;
  if (full || meansUnwritable(error))
    return writeFailure(path, error);
  return {CacheFault::NoLock, path + ": " + systemText(error)};
}

CacheFailure writeFailure(const std::string &path, int error) {
  bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return {full ? CacheFault::Full : CacheFault::Unwritable, path + ": " + systemText(error)};
}

} // namespace fw::jit
