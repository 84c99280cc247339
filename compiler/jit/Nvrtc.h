// NVRTC, opened at run time. No header of the toolkit is read, here or by the kernels.
#pragma once

#include "compiler/jit/KernelCompiler.h"
#include "compiler/jit/NvrtcSearch.h"

#include <memory>

namespace fw::jit {

class Nvrtc final : public KernelCompiler {
public:
  /// The first candidate that opens and has every symbol. TOOLCHAIN lists what was tried, in
  /// Error::log.
  static Result<std::shared_ptr<const Nvrtc>> open(const Settings &settings,
                                                   const SearchWorld &world = {});

  /// Every one that opens, in the order of the search: open() takes the first.
  static std::vector<std::shared_ptr<const Nvrtc>> openAll(const Settings &settings,
                                                           const SearchWorld &world = {});

  std::string version() const override;
  std::vector<int> supportedArchs() const override;
  std::vector<std::string> flags() const override;
  Result<CompiledKernel> compile(const std::string &source, const std::string &name,
                                 const std::string &arch,
                                 std::span<const std::string> flags) const override;

  int majorVersion() const { return major; }

  /// The file that was opened, links resolved.
  const std::string &path() const { return libraryPath; }

  /// Where in the search order it was found.
  const std::string &place() const { return foundIn; }

  /// The second library, which NVRTC opens by this exact name at its first compile.
  std::string builtinsName() const;

  /// True when it lies beside the library; false does not mean that the loader cannot find it
  /// elsewhere.
  bool builtinsBeside() const;

  struct Symbols; ///< one pointer per row of nvrtc_symbols.def
  ~Nvrtc() override;

private:
  Nvrtc();
  static Result<std::shared_ptr<const Nvrtc>> openOne(const NvrtcCandidate &candidate);

  std::unique_ptr<Symbols> symbols;
  std::string libraryPath, foundIn;
  int major = 0, minor = 0;
  std::vector<int> archs;
};

/// The flags for one version of NVRTC: arithmetic as written (INTERFACES 8), C++17, no include
/// paths.
std::vector<std::string> nvrtcFlags(int major, int minor);

} // namespace fw::jit
