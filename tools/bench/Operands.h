// Operands of what is timed: where they stand, what they hold, how they are named.
#pragma once

#include "compiler/Request.h"
#include "tools/bench/Bench.h"

#include <cstddef>
#include <string>
#include <vector>

namespace fw::bench {

constexpr uint64_t alignment = 256;
constexpr uint64_t alignUp(uint64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

uint64_t widthOf(const RequestOperand &operand);
bool isOfElements(const RequestOperand &operand);

/// What an operand's memory is filled with, again and again.
std::vector<std::byte> patternOf(const RequestOperand &operand);

std::vector<fw_scalar> scalarsOf(const ResolvedRequest &request);

/// "adamw amsgrad=true +copy"
std::string opOf(const ResolvedRequest &request);
/// "f32", or "p=f32 g=bf16 m=f32 v=f32".
std::string dtypesOf(const ResolvedRequest &request);

/// Schedules and registers.
Result<void> describeKernels(const fw_program *program, Row &row);

} // namespace fw::bench
