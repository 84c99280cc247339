// LLVM's description of the machine that code is made for.
#pragma once

#include "compiler/cpu/Features.h"

#include <memory>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace fw::cpu {

/// Registers the host architecture's backend, once per process.
void initializeBackend();

/// A machine of the host's architecture with `features` and nothing that a CPU's name would imply.
Result<std::unique_ptr<llvm::TargetMachine>> createMachine(const Features &features);

} // namespace fw::cpu
