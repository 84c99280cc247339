// The schedule of a kernel over rows: what the rule (rules/Rows.h) needs to know, read off the
// kernel.
#pragma once

#include "compiler/dialect/Fuse.h"
#include "compiler/passes/rules/Decisions.h"
#include "compiler/target/Target.h"

namespace fw::passes {

/// Facts by name, all of them (facts.def).
using RowsFactValues = std::map<std::string, int64_t, std::less<>>;

/// Schedules the kernel for tensors of which these facts are known, and names it. USAGE for
/// decisions that cannot work.
Result<void> scheduleRowsKernel(fuse::KernelOp kernel, const target::Arch &arch,
                                const RowsFactValues &facts, const ScheduleOverrides &fixed);

/// Writes decisions down, in any order.
void setSchedule(fuse::KernelOp kernel, llvm::StringRef skeleton,
                 llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> decisions);

} // namespace fw::passes
