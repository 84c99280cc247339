// CPU features as plain values: found by CPUID and the operating system's word (XGETBV), never by
// the CPU's name.
#pragma once

#include "compiler/support/Error.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fw::cpu {

/// The features that code may use (features.def), closed under what each one needs.
class Features {
public:
  /// Keeps of `available` (LLVM's spelling; false = absent) the table's features whose needs are
  /// all available. Other names are ignored.
  static Features from(llvm::StringRef arch, const llvm::StringMap<bool> &available);
  /// The features of this machine.
  static Features host();
  /// Reads canonical(), "x86-64+avx+avx2+fma", or LLVM's list, "+avx2,+fma" (of this machine's
  /// architecture), in any order. What a feature needs is added. Empty: this machine's.
  static Result<Features> parse(llvm::StringRef text);

  bool has(llvm::StringRef name) const;
  llvm::StringRef architecture() const { return arch; }
  /// "arch+feature+feature", in the table's order: part of an object's key.
  std::string canonical() const;
  /// The same as LLVM takes it: "+avx,+avx2"; what the table knows and is absent is switched off.
  std::string forLlvm() const;
  /// A refusal that names what is missing of the baseline, or success.
  Result<void> checkBaseline() const;
  /// A refusal that names what `machine` lacks of these, or success: code with them runs there.
  Result<void> checkRunsOn(const Features &machine) const;
  /// Whether f32 becomes f16 in hardware.
  bool hasHalfConversion() const { return has("f16c") || has("neon"); }
  /// Lanes of a vector of numbers that have `bytes` bytes.
  int64_t lanes(unsigned bytes) const;

private:
  std::string arch;
  std::vector<llvm::StringRef> names;
};

} // namespace fw::cpu
