#include "compiler/passes/Passes.h"
#include "compiler/passes/Precision.h"
#include "compiler/passes/Refusal.h"
#include "compiler/passes/Scopes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/xxhash.h"

#define DEBUG_TYPE "form-phases"

namespace fw::passes {
#define GEN_PASS_DEF_FORMPHASES
#include "compiler/passes/Passes.h.inc"
} // namespace fw::passes

using namespace mlir;
using namespace fw::fuse;

namespace fw::passes {
namespace {

// Symbols stand in records, logs and names of files: those of ops with many operands end in a hash.
constexpr size_t kLongestName = 160;

/// "demo_p_f32_g_bf16": what a kernel does, as an identifier.
std::string kernelName(OpOp op) {
  std::string name = op.getSymName().str();
  for (auto operand : op.getOperands().getAsRange<OperandAttr>())
    name += "_" + operand.getName().str() + "_" + operand.getDtype().str();
  std::replace(name.begin(), name.end(), '.', '_');
  if (name.size() <= kLongestName)
    return name;
  std::string rest = llvm::utohexstr(llvm::xxh3_64bits(name), /*LowerCase=*/true, /*Width=*/16);
  return name.substr(0, kLongestName - rest.size() - 1) + "_" + rest;
}

/// What the roots need, in the order of the body. fuse.uniform is where the elements' part ends: it
/// belongs to the slice, what it needs does not.
llvm::SetVector<Operation *> elementSlice(OpOp op) {
  llvm::DenseSet<Operation *> needed;
  for (Operation &inner : llvm::reverse(op.getBody().front())) {
    if (!isa<WriteOp>(inner) && !needed.contains(&inner))
      continue;
    needed.insert(&inner);
    if (!isa<UniformOp>(inner))
      for (Value operand : inner.getOperands())
        needed.insert(operand.getDefiningOp());
  }
  llvm::SetVector<Operation *> slice;
  for (Operation &inner : op.getBody().front())
    if (needed.contains(&inner))
      slice.insert(&inner);
  return slice;
}

/// A copy without its scope: from here on, where an operation stands says it.
Operation *clonePlaced(OpBuilder &builder, Operation *source, IRMapping &mapping) {
  Operation *copy = builder.clone(*source, mapping);
  copy->removeAttr(kScope);
  return copy;
}

/// Builds the scalar program on demand: one operation for each value, one result for each slot.
class ScalarProgram {
public:
  ScalarProgram(ScalarsOp scalars, ArrayAttr scalarTable)
      : builder(OpBuilder::atBlockEnd(&scalars.getBody().front())) {
    // A scalar's name is kept for its own slot, whichever order the slots come in.
    for (auto scalar : scalarTable.getAsRange<HyperAttr>())
      scalarNames.insert(scalar.getName());
  }

  /// The name of the slot that holds `uniform`.
  std::string slot(UniformOp uniform) {
    Value value = clone(uniform.getValue());
    std::string &name = slots[{value, uniform.getType()}];
    if (name.empty()) {
      name = nameFor(uniform.getValue().getDefiningOp());
      ResultOp::create(builder, uniform.getLoc(), name, value, uniform.getType());
    }
    return name;
  }

private:
  Value clone(Value value) {
    if (Value done = mapping.lookupOrNull(value))
      return done;
    Operation *source = value.getDefiningOp();
    for (Value operand : source->getOperands())
      clone(operand);
    Operation *copy = clonePlaced(builder, source, mapping);
    if (Operation *known = findEqual(copy)) {
      copy->erase();
      mapping.map(value, known->getResult(0));
      return known->getResult(0);
    }
    return copy->getResult(0);
  }

  /// An earlier operation that computes the same. Label and name say which equation wrote it, so
  /// they do not make it another value; cse takes them for a part of it.
  static Operation *findEqual(Operation *op) {
    constexpr auto flags = OperationEquivalence::Flags(
        OperationEquivalence::IgnoreLocations | OperationEquivalence::IgnoreDiscardableAttrs);
    for (Operation &known : *op->getBlock())
      if (&known != op && OperationEquivalence::isEquivalentTo(
                              op, &known, OperationEquivalence::exactValueMatch, nullptr, flags))
        return &known;
    return nullptr;
  }

  std::string nameFor(Operation *source) {
    if (auto scalar = dyn_cast<ScalarOp>(source))
      if (taken.insert(scalar.getScalar()).second)
        return scalar.getScalar().str();
    if (auto name = source->getAttrOfType<StringAttr>(kName))
      if (!scalarNames.contains(name.getValue()) && taken.insert(name.getValue()).second)
        return name.str();
    std::string name;
    do
      name = "u" + std::to_string(unnamed++);
    while (scalarNames.contains(name) || !taken.insert(name).second);
    return name;
  }

  OpBuilder builder;
  IRMapping mapping;
  llvm::DenseMap<std::pair<Value, Type>, std::string> slots; ///< name by value and rounding
  llvm::StringSet<> scalarNames, taken;
  unsigned unnamed = 0;
};

class FormPhasesPass : public impl::FormPhasesBase<FormPhasesPass> {
public:
  void runOnOperation() override {
    for (OpOp op : llvm::make_early_inc_range(getOperation().getOps<OpOp>())) {
      if (failed(check(op)))
        return signalPassFailure();
      form(op);
      op.erase();
    }
  }

private:
  /// What a single pass over elements cannot do is refused by name.
  LogicalResult check(OpOp op) {
    if (!op.getDomain().isElements())
      return refuse(op, {.code = Code::USAGE,
                         .text = "expected an op over elements, got domain " +
                                 stringifyDomainForm(op.getDomain().getForm()).str(),
                         .remedy = "rows and axes are not compiled yet"});
    for (auto operand : op.getOperands().getAsRange<OperandAttr>())
      if (!operand.getScope().isElement())
        return refuse(op, {.code = Code::USAGE,
                           .text = "expected operands with one value per element, got '" +
                                   operand.getName().str() + "' of scope " +
                                   stringifyScopeLevel(operand.getScope().getLevel()).str(),
                           .remedy = "such operands are not compiled yet"});
    const auto &scopes = getChildAnalysis<ScopeAnalysis>(op);
    for (Operation &inner : op.getBody().front())
      if (failed(checkBody(&inner, scopes)))
        return failure();
    return success();
  }

  LogicalResult checkBody(Operation *inner, const ScopeAnalysis &scopes) {
    if (auto reduce = dyn_cast<ReduceOp>(inner))
      return refuse(reduce, {.code = Code::USAGE,
                             .text = "expected an op without reductions, got " +
                                     stringifyReduceKind(reduce.getKind()).str() + "[" +
                                     stringifyScopeLevel(reduce.getKeep().getLevel()).str() +
                                     "], which ends a " +
                                     (reduce.getKeep().isUniform() ? "kernel" : "pass"),
                             .remedy = "reductions are not compiled yet"});
    if (isa<StoredOp, RoundToOp, LargestOp>(inner))
      return inner->emitOpError() << "expected a body with bound dtypes; run specialise first";
    auto uniform = dyn_cast<UniformOp>(inner);
    if (!uniform)
      return success();
    if (uniform.getType().isInteger(64))
      return uniform.emitOpError() << "expected a real or a bool for elements, got an int; "
                                      "convert it in the scalar program";
    if (!scopes.of(uniform.getValue()).isUniform())
      return uniform.emitOpError() << "expected a value of the scalar program, got one of scope "
                                   << stringifyScopeLevel(scopes.of(uniform.getValue()).getLevel());
    return success();
  }

  void form(OpOp op) {
    OpBuilder builder(op);
    auto program = ProgramOp::create(builder, op.getLoc(), op.getSymName(), op.getOperands(),
                                     op.getScalars(), op.getEquationsAttr());
    builder.setInsertionPointToStart(&program.getBody().emplaceBlock());
    auto scalars = ScalarsOp::create(builder, op.getLoc());
    scalars.getBody().emplaceBlock();
    FloatType precision = elementPrecision(&getContext(), op.getOperands());
    auto kernel = KernelOp::create(builder, op.getLoc(), kernelName(op), fuse::Pattern::Elements,
                                   precision, ScheduleAttr());
    kernel.getBody().emplaceBlock();
    ScalarProgram scalarProgram(scalars, op.getScalars());
    formPass(op, kernel, scalarProgram);
  }

  /// One pass: slots, then loads, the elements' slice and stores.
  void formPass(OpOp op, KernelOp kernel, ScalarProgram &scalarProgram) {
    OpBuilder slots = OpBuilder::atBlockEnd(&kernel.getBody().front());
    OpBuilder after = slots;
    auto each = EachOp::create(after, kernel.getLoc(), TypeRange(), ArrayAttr());
    slots.setInsertionPoint(each);
    OpBuilder body = OpBuilder::atBlockEnd(&each.getBody().emplaceBlock());

    IRMapping mapping;
    llvm::SetVector<Operation *> slice = elementSlice(op);
    formLoads(op, slice, body, mapping);
    for (Operation *inner : slice) {
      mapSlots(inner, scalarProgram, slots, mapping);
      if (!isa<ReadOp, WriteOp, UniformOp>(inner))
        clonePlaced(body, inner, mapping);
    }
    formStores(op, slice, body, mapping);
    YieldOp::create(body, each.getLoc());
  }

  void formLoads(OpOp op, const llvm::SetVector<Operation *> &slice, OpBuilder &body,
                 IRMapping &mapping) {
    for (auto operand : op.getOperands().getAsRange<OperandAttr>()) {
      Value loaded;
      for (Operation *inner : slice) {
        auto read = dyn_cast<ReadOp>(inner);
        if (!read || read.getOperand() != operand.getName())
          continue;
        if (!loaded) {
          Type storage = storageType(&getContext(), operand.getDtype());
          loaded = LoadOp::create(body, read.getLoc(), storage, operand.getName());
          loaded = castTo(body, read.getLoc(), loaded, read.getType());
          ++numLoads;
        }
        mapping.map(read.getResult(), loaded);
      }
      if (!loaded)
        LLVM_DEBUG(llvm::dbgs() << "no load of " << operand.getName() << ": nothing needs it\n");
    }
  }

  /// A slot stands where elements first use it, so an unused one costs nothing.
  void mapSlots(Operation *inner, ScalarProgram &scalarProgram, OpBuilder &slots,
                IRMapping &mapping) {
    if (isa<UniformOp>(inner))
      return;
    for (Value operand : inner->getOperands()) {
      auto uniform = operand.getDefiningOp<UniformOp>();
      if (!uniform || mapping.contains(operand))
        continue;
      std::string name = scalarProgram.slot(uniform);
      Value slot = findSlot(*slots.getBlock(), name);
      if (!slot) {
        slot = SlotOp::create(slots, uniform.getLoc(), uniform.getType(), name);
        ++numSlots;
      }
      mapping.map(operand, slot);
    }
  }

  static Value findSlot(Block &kernel, StringRef name) {
    for (auto slot : kernel.getOps<SlotOp>())
      if (slot.getSlot() == name)
        return slot;
    return {};
  }

  void formStores(OpOp op, const llvm::SetVector<Operation *> &slice, OpBuilder &body,
                  const IRMapping &mapping) {
    for (auto operand : op.getOperands().getAsRange<OperandAttr>())
      for (Operation *inner : slice)
        if (auto write = dyn_cast<WriteOp>(inner);
            write && write.getOperand() == operand.getName()) {
          Value value = mapping.lookup(write.getValue());
          Value stored = castToStorage(body, write.getLoc(), value, operand);
          StoreOp::create(body, write.getLoc(), operand.getName(), stored);
          ++numStores;
        }
  }
};

} // namespace
} // namespace fw::passes
