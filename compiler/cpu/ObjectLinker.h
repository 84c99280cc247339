// Relocatable object -> function in this process.
#pragma once

#include "compiler/support/Error.h"

#include "llvm/ADT/StringRef.h"

#include <memory>

namespace fw::cpu {

/// void SYMBOL(pointers[COLUMNS], begin, end, scalars[SLOTS], results[REDUCTIONS])
using KernelFunction = void (*)(const void *const *pointers, int64_t begin, int64_t end,
                                const void *scalars, double *results);

/// An object linked into this process; its code lives as long as it does.
class LinkedObject {
public:
  /// Links `object` and looks `symbol` up. An object that needs symbols from outside is refused.
  static Result<std::unique_ptr<LinkedObject>> link(llvm::StringRef object, llvm::StringRef symbol);
  ~LinkedObject();

  KernelFunction function() const { return entry; }

private:
  struct Session;
  LinkedObject();

  std::unique_ptr<Session> session;
  KernelFunction entry = nullptr;
};

} // namespace fw::cpu
