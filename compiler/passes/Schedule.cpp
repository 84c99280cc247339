#include "compiler/dialect/Dtypes.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/Refusal.h"
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
    if (!row || !fixed) {
      refuse(program, row ? fixed.error() : row.error());
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
      if (failed(scheduleKernel(kernel, limitsOf(**row), *fixed)))
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

  LogicalResult scheduleKernel(KernelOp kernel, const ElementsLimits &limits,
                               const ScheduleOverrides &fixed) {
    if (kernel.getPattern() == fuse::Pattern::Rows)
      return refuse(kernel, {.code = Code::USAGE,
                             .text = "expected an op over elements for a GPU, got op '" +
                                     getOperation().getSymName().str() + "' over rows",
                             .remedy = "compile it for the CPU: no GPU kernel has rows yet"});
    if (kernel.getPattern() != fuse::Pattern::Elements)
      return kernel.emitError() << "expected pattern elements, got "
                                << stringifyPattern(kernel.getPattern());
    if (kernel.getSchedule())
      return kernel.emitError() << "expected a kernel without a schedule, got "
                                << kernel.getScheduleAttr();
    ElementsStreams streams = streamsOf(getOperation(), kernel);
    Result<ElementsSchedule> schedule = reduces(kernel) ? scheduleReduction(streams, limits, fixed)
                                                        : scheduleElements(streams, limits, fixed);
    if (!schedule)
      return refuse(kernel, schedule.error());
    setSchedule(kernel, reduces(kernel) ? "norm_last_block" : "chunk", *schedule);
    ++numScheduled;
    return success();
  }

  void decide(KernelOp kernel, StringRef name, int64_t value) {
    Builder builder(&getContext());
    ScheduleAttr schedule = kernel.getScheduleAttr();
    SmallVector<NamedAttribute> decisions(schedule.getDecisions().getValue());
    decisions.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
    kernel.setScheduleAttr(ScheduleAttr::get(&getContext(), schedule.getSkeleton(),
                                             builder.getDictionaryAttr(decisions)));
  }

  void setSchedule(KernelOp kernel, StringRef skeleton, const ElementsSchedule &schedule) {
    Builder builder(&getContext());
    std::pair<StringRef, int64_t> decisions[] = {{"blocks_per_sm", schedule.blocksPerSm},
                                                 {"chunk", schedule.chunk},
                                                 {"inflight", schedule.inflight},
                                                 {"threads", schedule.threads},
                                                 {"vec", schedule.vec}};
    SmallVector<NamedAttribute> attributes;
    for (auto [name, value] : decisions)
      attributes.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
    kernel.setScheduleAttr(ScheduleAttr::get(&getContext(), builder.getStringAttr(skeleton),
                                             builder.getDictionaryAttr(attributes)));
    kernel.setSymName("fw_" + kernel.getSymName().str() + "_v" + std::to_string(schedule.vec));
  }
};

} // namespace
} // namespace fw::passes
