#include "compiler/passes/RowsScheduling.h"

#include "compiler/dialect/Dtypes.h"
#include "compiler/dialect/RowBounds.h"
#include "compiler/passes/rules/Rows.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

DictionaryAttr dictionary(MLIRContext *context, ArrayRef<std::pair<StringRef, int64_t>> numbers) {
  Builder builder(context);
  SmallVector<NamedAttribute> attributes;
  for (auto [name, value] : numbers)
    attributes.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
  return builder.getDictionaryAttr(attributes);
}

RowsWork workOf(KernelOp kernel) {
  const RowPhases phases(kernel);
  EachOp storing = phases.storing();
  llvm::StringSet<> loads, stores, reduced;
  kernel.getBody().walk([&](LoadOp load) {
    loads.insert(load.getOperand());
    if (load->getParentOfType<EachOp>() != storing)
      reduced.insert(load.getOperand());
  });
  kernel.getBody().walk([&](StoreOp store) { stores.insert(store.getOperand()); });
  RowsWork work;
  for (OperandAttr operand : columnsOf(kernel)) {
    StringRef dtype = operand.getDtype();
    const unsigned bytes = storageBytes({dtype.data(), dtype.size()});
    const RowAccess access = rowAccess(kernel, operand);
    if (access == RowAccess::stream)
      work.streams.push_back(
          {bytes, loads.contains(operand.getName()), stores.contains(operand.getName())});
    else if (access == RowAccess::column && loads.contains(operand.getName()))
      work.shared.push_back({bytes, reduced.contains(operand.getName())});
  }
  work.values = phases.exchangedValues();
  return work;
}

RowsLimits limitsOf(const target::Arch &arch) {
  using target::Limit;
  return {.registersPerSm = limit(arch, Limit::registers_per_sm),
          .registersPerThread = limit(arch, Limit::registers_per_thread),
          .threadsPerSm = limit(arch, Limit::threads_per_sm),
          .threadsPerBlock = limit(arch, Limit::threads_per_block),
          .blocksPerSm = limit(arch, Limit::blocks_per_sm),
          .sharedPerSm = limit(arch, Limit::shared_bytes_per_sm)};
}

RowsFacts factsOf(const RowsFactValues &values, bool isBounded) {
  const bool isAligned = values.at("aligned") > 1;
  return {.columns = values.at("columns"),
          .aligned = isAligned,
          .together = isAligned || values.at("together") != 0,
          .bounded = isBounded};
}

/// "fw_softmax_x_bf16_y_bf16_n4096_v8_3fa801c2": options and alignment are in the last word, so
/// that a process tells variants of an op apart. Two candidates for one request have the same name.
std::string symbolOf(KernelOp kernel, const RowsFactValues &facts, int64_t vec) {
  const int64_t columns = facts.at("columns");
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << *kernel.getFacts();
  for (Operation &op : kernel.getBody().front())
    stream << op;
  return "fw_" + kernel.getSymName().str() + (columns ? "_n" + std::to_string(columns) : "") +
         "_v" + std::to_string(vec) + "_" +
         llvm::utohexstr(uint32_t(llvm::xxh3_64bits(text)), /*LowerCase=*/true, /*Width=*/8);
}

} // namespace

void setSchedule(KernelOp kernel, StringRef skeleton,
                 ArrayRef<std::pair<StringRef, int64_t>> decisions) {
  MLIRContext *context = kernel.getContext();
  kernel.setScheduleAttr(ScheduleAttr::get(context, StringAttr::get(context, skeleton),
                                           dictionary(context, decisions)));
}

Result<void> scheduleRowsKernel(KernelOp kernel, const target::Arch &arch,
                                const RowsFactValues &facts, const ScheduleOverrides &fixed) {
  const bool canBound = boundsOf(kernel, RowPhases(kernel)).has_value();
  const bool isBounded = overrideOr(fixed, "bounded", canBound);
  if (isBounded && !canBound)
    return usage(expected("bounded", "0 for an op that reads every column", 1), "leave it out");
  Result<RowsSchedule> schedule =
      scheduleRows(workOf(kernel), factsOf(facts, isBounded), limitsOf(arch), fixed);
  if (!schedule)
    return schedule.takeError();
  setSchedule(kernel, "row",
              {{"blocks_per_sm", schedule->blocksPerSm},
               {"bounded", isBounded},
               {"fresh", schedule->fresh},
               {"keep", schedule->keep == Keep::reread},
               {"lined", schedule->lined},
               {"rows_per_thread", schedule->rowsPerThread},
               {"steps", schedule->steps},
               {"threads", schedule->threads},
               {"threads_per_row", schedule->threadsPerRow},
               {"vec", schedule->vec},
               {"vectors", schedule->vectors},
               {"weight", !schedule->weightEarly}});
  SmallVector<std::pair<StringRef, int64_t>> known;
  for (const auto &[name, value] : facts)
    known.push_back({name, value});
  kernel.setFactsAttr(dictionary(kernel.getContext(), known));
  kernel.setSymName(symbolOf(kernel, facts, schedule->vec));
  return {};
}

} // namespace fw::passes
