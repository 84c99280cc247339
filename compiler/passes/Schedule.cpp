#include "compiler/dialect/Dtypes.h"
#include "compiler/dialect/ScheduleTable.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/Refusal.h"
#include "compiler/passes/RowsScheduling.h"
#include "compiler/passes/rules/Elements.h"
#include "compiler/target/Target.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

#define DEBUG_TYPE "schedule"

namespace fw::passes {
#define GEN_PASS_DEF_SCHEDULE
#include "compiler/passes/Passes.h.inc"
} // namespace fw::passes

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

ElementsStreams streamsOf(ProgramOp program, KernelOp kernel) {
  llvm::StringSet<> loads, stores;
  kernel.getBody().walk([&](LoadOp load) { loads.insert(load.getOperand()); });
  kernel.getBody().walk([&](StoreOp store) { stores.insert(store.getOperand()); });
  ElementsStreams streams;
  streams.reductions = llvm::range_size(kernel.getBody().getOps<ReductionOp>());
  for (auto operand : program.getOperands().getAsRange<OperandAttr>()) {
    StringRef dtype = operand.getDtype();
    OperandStream stream{findDtype({dtype.data(), dtype.size()})->bytes,
                         loads.contains(operand.getName()), stores.contains(operand.getName())};
    if (stream.loaded || stream.stored)
      streams.push_back(stream);
  }
  return streams;
}

ElementsLimits limitsOf(const target::Arch &arch) {
  using target::Limit;
  return {.registersPerSm = limit(arch, Limit::registers_per_sm),
          .registersPerThread = limit(arch, Limit::registers_per_thread),
          .threadsPerSm = limit(arch, Limit::threads_per_sm),
          .threadsPerBlock = limit(arch, Limit::threads_per_block)};
}

class SchedulePass : public impl::ScheduleBase<SchedulePass> {
public:
  using ScheduleBase::ScheduleBase;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    Result<const target::Arch *> row = target::findArch(arch.getValue());
    Result<ScheduleOverrides> fixed = parseOverrides(overrides.getValue());
    auto known = parseFacts(facts.getValue());
    if (!row || !fixed || !known) {
      refuse(program, !row ? row.error() : !fixed ? fixed.error() : known.error());
      return signalPassFailure();
    }
    const SmallVector<KernelOp> behind = kernelsBehind(program);
    Result<bool> early =
        allowEarlyLaunch(!behind.empty(), has(**row, target::Feature::early_launch), *fixed);
    if (!early) {
      refuse(program, early.error());
      return signalPassFailure();
    }
    for (KernelOp kernel : program.getBody().getOps<KernelOp>())
      if (failed(scheduleKernel(kernel, **row, *fixed, *known)))
        return signalPassFailure();
    for (KernelOp kernel : behind)
      decide(kernel, kEarlyLaunch, *early);
  }

private:
  static bool reduces(KernelOp kernel) { return !kernel.getBody().getOps<ReductionOp>().empty(); }

  /// Those behind a kernel that reduces. One that reduces itself reads results of earlier ones in
  /// its last block, too: it waits.
  static SmallVector<KernelOp> kernelsBehind(ProgramOp program) {
    SmallVector<KernelOp> found;
    bool isBehind = false;
    for (KernelOp kernel : program.getBody().getOps<KernelOp>()) {
      if (isBehind && !reduces(kernel))
        found.push_back(kernel);
      isBehind = reduces(kernel);
    }
    return found;
  }

  LogicalResult scheduleKernel(KernelOp kernel, const target::Arch &arch,
                               const ScheduleOverrides &fixed, const RowsFactValues &known) {
    const StringRef pattern = stringifyPattern(kernel.getPattern());
    if (kernel.getSchedule())
      return kernel.emitError() << "expected a kernel without a schedule, got "
                                << kernel.getScheduleAttr();
    for (const auto &[name, value] : fixed)
      if (auto message = checkPattern(name, {pattern.data(), pattern.size()}))
        return refuse(kernel, {.code = Code::USAGE,
                               .text = *message,
                               .remedy = "leave it out to take the rule's choice"});
    Result<void> scheduled;
    if (kernel.getPattern() == fuse::Pattern::Rows)
      scheduled = scheduleRowsKernel(kernel, arch, known, fixed);
    else if (kernel.getPattern() == fuse::Pattern::Elements)
      scheduled = scheduleElementsKernel(kernel, limitsOf(arch), fixed);
    else
      return kernel.emitError() << "expected pattern elements or rows, got " << pattern;
    if (!scheduled)
      return refuse(kernel, scheduled.error());
    ++numScheduled;
    return success();
  }

  Result<void> scheduleElementsKernel(KernelOp kernel, const ElementsLimits &limits,
                                      const ScheduleOverrides &fixed) {
    ElementsStreams streams = streamsOf(getOperation(), kernel);
    Result<ElementsSchedule> schedule = reduces(kernel) ? scheduleReduction(streams, limits, fixed)
                                                        : scheduleElements(streams, limits, fixed);
    if (!schedule)
      return schedule.takeError();
    const std::pair<StringRef, int64_t> decisions[] = {{"blocks_per_sm", schedule->blocksPerSm},
                                                       {"chunk", schedule->chunk},
                                                       {"inflight", schedule->inflight},
                                                       {"threads", schedule->threads},
                                                       {"vec", schedule->vec}};
    setSchedule(kernel, reduces(kernel) ? "norm_last_block" : "chunk", decisions);
    kernel.setSymName("fw_" + kernel.getSymName().str() + "_v" + std::to_string(schedule->vec));
    return {};
  }

  void decide(KernelOp kernel, StringRef name, int64_t value) {
    Builder builder(&getContext());
    ScheduleAttr schedule = kernel.getScheduleAttr();
    SmallVector<NamedAttribute> decisions(schedule.getDecisions().getValue());
    decisions.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
    kernel.setScheduleAttr(ScheduleAttr::get(&getContext(), schedule.getSkeleton(),
                                             builder.getDictionaryAttr(decisions)));
  }
};

} // namespace
} // namespace fw::passes
