// What the cache asks of a CUDA compiler. NVRTC is one; tests use a stub with deterministic bytes.
#pragma once

#include "compiler/support/Error.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fw::jit {

/// What the assembler says about one kernel; -1 where it did not say.
struct KernelResources {
  std::string symbol;
  int registers = -1;
  int spillBytes = -1; ///< stores and loads together
  int stackBytes = -1;
  int sharedBytes = -1;
};

struct CompiledKernel {
  std::string cubin; ///< empty when the arch is a virtual one
  std::string ptx;
  std::string log;
  double milliseconds = 0;
  std::vector<KernelResources> resources;
};

/// All functions may be called from any thread.
class KernelCompiler {
public:
  virtual ~KernelCompiler() = default;

  /// Part of the kernel's key: "nvrtc 13.0".
  virtual std::string version() const = 0;

  /// Compute capabilities as 10 * major + minor, ascending.
  virtual std::vector<int> supportedArchs() const = 0;

  /// The flags that fix our arithmetic and our language, without the arch. Part of the kernel's
  /// key.
  virtual std::vector<std::string> flags() const = 0;

  /// `name` is shown in diagnostics; `arch` is the value of --gpu-architecture and never empty.
  /// TOOLCHAIN with version, flags, log and numbered source in Error::log.
  virtual Result<CompiledKernel> compile(const std::string &source, const std::string &name,
                                         const std::string &arch,
                                         std::span<const std::string> flags) const = 0;
};

/// Reads the lines that `--ptxas-options=-v` prints, in their order.
std::vector<KernelResources> parseResources(std::string_view log);

/// "  12 | text" for each line of a source.
std::string numbered(std::string_view source);

} // namespace fw::jit
