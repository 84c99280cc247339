// The yardstick of programs that only read: a bare kernel that loads every byte once, in the shapes
// that a hand would try. The fastest one counts.
#pragma once

#include "compiler/jit/KernelCompiler.h"
#include "runtime/driver/Module.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fw::bench {

class ReadYardstick {
public:
  /// How the bytes are shared out: one block of threads reads `blockBytes`, each thread with
  /// `inflight` loads of 16 bytes under way.
  struct Shape {
    int threads, inflight;
    uint64_t blockBytes;
    bool keepsLast; ///< L2 policy evict_last, as plans load long lists

    std::string text() const;
  };
  static std::span<const Shape> shapes();

  /// Compiles and loads all shapes for the device whose context is current; `arch` is its target.
  static Result<std::unique_ptr<ReadYardstick>> create(const driver::Driver &driver,
                                                       const std::string &arch);

  /// Queues a read of `bytes` (whole vectors of 16) at `address`. `sink` is the address of a word
  /// that nobody else needs.
  Result<void> launch(const Shape &shape, uint64_t address, uint64_t bytes, uint64_t sink,
                      driver::CUstream stream) const;

private:
  struct Kernel {
    jit::CompiledKernel code;
    std::unique_ptr<driver::Module> module;
    driver::CUfunction function = nullptr;
  };
  explicit ReadYardstick(const driver::Driver &driver) : cuda(driver) {}

  const driver::Driver &cuda;
  std::vector<Kernel> kernels; ///< of each shape
};

} // namespace fw::bench
