// Opens libfusewright-cpu on first use (compiler/cpu/CpuLibrary.h has the contract).
#pragma once

#include "compiler/cpu/CpuLibrary.h"
#include "compiler/jit/Knobs.h"
#include "compiler/support/Error.h"

#include <memory>
#include <string>
#include <string_view>

namespace fw {

/// The CPU library of this process. Free-threaded; stays open until the process ends, since code
/// that it linked may still be called.
class CpuLibrary {
public:
  /// Looks in the setting `cpu_library`, beside the library (or program) that this code is part of,
  /// then where the loader looks. TOOLCHAIN lists what was tried, in Error::log.
  static Result<std::shared_ptr<const CpuLibrary>> open(const jit::Settings &settings);

  /// The file that was opened.
  const std::string &path() const { return file; }
  /// Part of every object's key.
  std::string version() const;
  std::string hostFeatures() const;
  /// A list of features as keys hold it (fw_cpu_read_features); empty: this machine's. DEVICE when
  /// code with them is to run here and cannot.
  Result<std::string> readFeatures(const std::string &list, bool runsHere) const;

  /// An object ("object") or a text ("vectors", "llvm", "asm") for a phase-level module; features
  /// as readFeatures gives them.
  Result<std::string> compile(std::string_view phases, const std::string &features,
                              const char *stage) const;

  /// Code that runs until its last holder is gone.
  struct Kernel {
    fw_cpu_function function = nullptr;
    std::shared_ptr<void> code;
  };
  Result<Kernel> link(std::string_view object, const std::string &symbol) const;

private:
  struct Symbols;
  std::shared_ptr<const Symbols> symbols;
  std::string file;
};

} // namespace fw
