#include "compiler/passes/Passes.h"
#include "compiler/passes/Precision.h"
#include "compiler/passes/Refusal.h"
#include "compiler/passes/RowForming.h"
#include "compiler/passes/ScalarForming.h"
#include "compiler/passes/Scopes.h"
#include "compiler/passes/Slice.h"
#include "compiler/passes/Stages.h"

#include "llvm/ADT/StringExtras.h"
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
std::string kernelName(OpOp op, const std::string &suffix) {
  std::string name = op.getSymName().str() + suffix;
  for (auto operand : op.getOperands().getAsRange<OperandAttr>())
    name += "_" + operand.getName().str() + "_" + operand.getDtype().str();
  std::replace(name.begin(), name.end(), '.', '_');
  if (name.size() <= kLongestName)
    return name;
  std::string rest = llvm::utohexstr(llvm::xxh3_64bits(name), /*LowerCase=*/true, /*Width=*/16);
  return name.substr(0, kLongestName - rest.size() - 1) + "_" + rest;
}

/// What the roots need. What the scalar program computes is where the elements' part ends:
/// fuse.uniform belongs to the slice, what it needs does not.
llvm::SetVector<Operation *> elementSlice(OpOp op, const llvm::DenseSet<Operation *> &roots) {
  return sliceOf(op, roots, [](Operation &user, Value) { return !isa<UniformOp>(user); });
}

/// The writes of an op, by where they are done.
struct Writes {
  llvm::DenseSet<Operation *> elements;
  SmallVector<WriteOp> uniform;

  explicit Writes(OpOp op) {
    for (auto write : op.getBody().getOps<WriteOp>())
      if (findOperand(op.getOperands(), write.getOperand()).getScope().isUniform())
        uniform.push_back(write);
      else
        elements.insert(write);
  }
};

class FormPhasesPass : public impl::FormPhasesBase<FormPhasesPass> {
public:
  void runOnOperation() override {
    for (OpOp op : llvm::make_early_inc_range(getOperation().getOps<OpOp>())) {
      if (failed(check(op)))
        return signalPassFailure();
      if (op.getDomain().hasAxes())
        formRows(op);
      else
        form(op);
      op.erase();
    }
  }

private:
  /// What a single pass over elements cannot do is refused by name.
  LogicalResult check(OpOp op) {
    if (op.getDomain().hasAxes())
      return checkRows(op);
    for (auto operand : op.getOperands().getAsRange<OperandAttr>())
      if (!operand.getScope().isElement() && !operand.getScope().isUniform())
        return refuse(op, {.code = Code::USAGE,
                           .text = "expected operands with one value per element, tensor or plan, "
                                   "got '" +
                                   operand.getName().str() + "' of scope " +
                                   stringifyScopeLevel(operand.getScope().getLevel()).str(),
                           .remedy = "such operands are not compiled yet"});
    for (Operation &inner : op.getBody().front())
      if (StringRef what = unknownOf(&inner); !what.empty())
        return refuse(&inner,
                      {.code = Code::USAGE,
                       .text = "expected arithmetic of reals on elements, got " + what.str(),
                       .remedy = kEvaluated});
    const auto &scopes = getChildAnalysis<ScopeAnalysis>(op);
    for (Operation &inner : op.getBody().front())
      if (failed(checkBody(&inner, scopes)))
        return failure();
    return success();
  }

  static constexpr const char *kEvaluated =
      "no backend compiles it yet; fw_evaluate computes it, with bounds";

  static std::string axesText(DomainAttr domain) {
    SmallVector<StringRef> kept, spanned;
    if (domain.getKept())
      llvm::append_range(kept, domain.getKept().getAsValueRange<StringAttr>());
    if (domain.getSpanned())
      llvm::append_range(spanned, domain.getSpanned().getAsValueRange<StringAttr>());
    return "[" + llvm::join(kept, ", ") + (spanned.empty() ? "" : "; ") +
           llvm::join(spanned, ", ") + "]";
  }

  LogicalResult checkRows(OpOp op) {
    std::optional<std::string> why = whyNoRows(op, getChildAnalysis<ScopeAnalysis>(op));
    if (!why)
      return success();
    return refuse(op, {.code = Code::USAGE,
                       .text = "expected an op whose rows are one kernel, got op '" +
                               op.getSymName().str() + "' over " + axesText(op.getDomain()) +
                               " with " + *why,
                       .remedy = kEvaluated});
  }

  /// Nothing for what backends know.
  static StringRef unknownOf(Operation *inner) {
    if (isa<BitsOp>(inner))
      return "random numbers";
    if (isa<GatherOp, SwapPairsOp>(inner))
      return "reads at other places";
    auto read = dyn_cast<ReadOp>(inner);
    auto write = dyn_cast<WriteOp>(inner);
    if ((read && !isa<FloatType>(read.getType())) ||
        (write && !isa<FloatType>(write.getValue().getType())))
      return "operands of bools and ints";
    return {};
  }

  LogicalResult checkBody(Operation *inner, const ScopeAnalysis &scopes) {
    if (auto reduce = dyn_cast<ReduceOp>(inner))
      return checkReduce(reduce, scopes);
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

  LogicalResult checkReduce(ReduceOp reduce, const ScopeAnalysis &scopes) {
    const std::string name = stringifyReduceKind(reduce.getKind()).str() + "[" +
                             stringifyScopeLevel(reduce.getKeep().getLevel()).str() + "]";
    if (!endsKernel(reduce))
      return refuse(reduce, {.code = Code::USAGE,
                             .text = "expected a reduction that keeps a tensor, all or the world, "
                                     "got " +
                                     name + ", which ends a pass",
                             .remedy = "such reductions are not compiled yet"});
    if (scopes.isElementSide(reduce.getValue().getDefiningOp()))
      return success();
    return refuse(reduce,
                  {.code = Code::USAGE,
                   .text = "expected a reduction of elements, got " + name + " of scope " +
                           stringifyScopeLevel(scopes.of(reduce.getValue()).getLevel()).str(),
                   .remedy = "reductions of scalars are not compiled yet"});
  }

  static void makeProgram(OpOp op, OpBuilder &builder, DomainAttr domain) {
    auto program = ProgramOp::create(builder, op.getLoc(), op.getSymName(), op.getOperands(),
                                     op.getScalars(), op.getEquationsAttr(), domain);
    builder.setInsertionPointToStart(&program.getBody().emplaceBlock());
  }

  void formRows(OpOp op) {
    OpBuilder builder(op);
    makeProgram(op, builder, rowDomain(op.getDomain()));
    ReductionNames none;
    ScalarForming scalars(scalarsOf(op, builder), op.getScalars(), none);
    KernelOp kernel = makeKernel(op, builder, "", fuse::Pattern::Rows);
    RowForming(op, getChildAnalysis<ScopeAnalysis>(op), scalars, kernel).form();
  }

  void form(OpOp op) {
    OpBuilder builder(op);
    makeProgram(op, builder, DomainAttr());
    StageAnalysis stages(op);
    ReductionNames names = nameReductions(stages);
    for (unsigned stage = 0; stage < stages.last(); ++stage) {
      ScalarForming scalars(scalarsOf(op, builder), op.getScalars(), names);
      formReducing(op, stages.reductions(stage), names, scalars,
                   makeKernel(op, builder, "_reduce" + std::to_string(stage)));
    }
    ScalarForming scalars(scalarsOf(op, builder), op.getScalars(), names);
    Writes writes(op);
    if (!writes.elements.empty())
      formStoring(op, writes.elements, scalars, makeKernel(op, builder, ""));
    for (WriteOp write : writes.uniform)
      scalars.write(write);
    for (auto skip : op.getBody().getOps<SkipIfOp>())
      scalars.skipIf(skip);
  }

  static ReductionNames nameReductions(const StageAnalysis &stages) {
    ReductionNames names;
    llvm::StringSet<> taken;
    for (unsigned stage = 0; stage < stages.last(); ++stage)
      for (ReduceOp reduce : stages.reductions(stage)) {
        auto given = reduce->getAttrOfType<StringAttr>(kName);
        std::string name = given ? given.str() : "";
        for (size_t number = names.size(); name.empty() || !taken.insert(name).second; ++number)
          name = "r" + std::to_string(number);
        names[reduce] = name;
      }
    return names;
  }

  static ScalarsOp scalarsOf(OpOp op, OpBuilder &builder) {
    auto scalars = ScalarsOp::create(builder, op.getLoc());
    scalars.getBody().emplaceBlock();
    return scalars;
  }

  static KernelOp makeKernel(OpOp op, OpBuilder &builder, const std::string &suffix,
                             fuse::Pattern pattern = fuse::Pattern::Elements) {
    FloatType precision = elementPrecision(op.getContext(), op.getOperands());
    auto kernel = KernelOp::create(builder, op.getLoc(), kernelName(op, suffix), pattern, precision,
                                   DictionaryAttr(), ScheduleAttr());
    kernel.getBody().emplaceBlock();
    return kernel;
  }

  /// A pass over elements while it is formed.
  struct Pass {
    EachOp each;
    OpBuilder slots; ///< in front of it
    OpBuilder body;
    IRMapping mapping;

    Pass(KernelOp kernel, TypeRange results, ArrayAttr kinds)
        : each(makeEach(kernel, results, kinds)), slots(each),
          body(OpBuilder::atBlockEnd(&each.getBody().emplaceBlock())) {}

    static EachOp makeEach(KernelOp kernel, TypeRange results, ArrayAttr kinds) {
      OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
      return EachOp::create(builder, kernel.getLoc(), results, kinds);
    }
  };

  /// Slots, then loads, then the slice of the roots.
  void formBody(OpOp op, const llvm::SetVector<Operation *> &slice, ScalarForming &scalars,
                Pass &pass) {
    formLoads(op, slice, pass.body, pass.mapping);
    for (Operation *inner : slice) {
      mapSlots(inner, scalars, pass.slots, pass.mapping);
      if (!isa<ReadOp, WriteOp, UniformOp, ReduceOp>(inner))
        clonePlaced(pass.body, inner, pass.mapping);
    }
  }

  void formStoring(OpOp op, const llvm::DenseSet<Operation *> &writes, ScalarForming &scalars,
                   KernelOp kernel) {
    Pass pass(kernel, TypeRange(), ArrayAttr());
    llvm::SetVector<Operation *> slice = elementSlice(op, writes);
    formBody(op, slice, scalars, pass);
    formStores(op, slice, pass.body, pass.mapping);
    YieldOp::create(pass.body, kernel.getLoc());
    for (auto skip : op.getBody().getOps<SkipIfOp>()) {
      std::string name =
          scalars.slot(skip.getLoc(), skip.getCondition(), skip.getCondition().getType());
      SkipIfOp::create(pass.slots, skip.getLoc(),
                       slotNamed(name, skip.getCondition().getType(), skip.getLoc(), pass.slots));
    }
  }

  void formReducing(OpOp op, ArrayRef<ReduceOp> reductions, const ReductionNames &names,
                    ScalarForming &scalars, KernelOp kernel) {
    llvm::DenseSet<Operation *> roots;
    SmallVector<Attribute> kinds;
    SmallVector<Type> types;
    for (ReduceOp reduce : reductions) {
      roots.insert(reduce);
      kinds.push_back(reduce.getKindAttr());
      types.push_back(reduce.getValue().getType());
    }
    Pass pass(kernel, types, ArrayAttr::get(&getContext(), kinds));
    formBody(op, elementSlice(op, roots), scalars, pass);
    SmallVector<Value> yielded;
    for (ReduceOp reduce : reductions)
      yielded.push_back(pass.mapping.lookup(reduce.getValue()));
    YieldOp::create(pass.body, kernel.getLoc(), yielded);
    OpBuilder after = OpBuilder::atBlockEnd(&kernel.getBody().front());
    for (auto [k, reduction] : llvm::enumerate(reductions)) {
      ReduceOp reduce = reduction;
      ReductionOp::create(after, reduce.getLoc(), names.lookup(reduce), reduce.getKeep(),
                          pass.each.getResult(k));
      ++numReductions;
    }
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
  void mapSlots(Operation *inner, ScalarForming &scalars, OpBuilder &slots, IRMapping &mapping) {
    if (isa<UniformOp>(inner))
      return;
    for (Value operand : inner->getOperands()) {
      auto uniform = operand.getDefiningOp<UniformOp>();
      if (!uniform || mapping.contains(operand))
        continue;
      std::string name = scalars.slot(uniform.getLoc(), uniform.getValue(), uniform.getType());
      mapping.map(operand, slotNamed(name, uniform.getType(), uniform.getLoc(), slots));
    }
  }

  Value slotNamed(StringRef name, Type type, Location location, OpBuilder &slots) {
    for (auto slot : slots.getBlock()->getOps<SlotOp>())
      if (slot.getSlot() == name)
        return slot;
    ++numSlots;
    return SlotOp::create(slots, location, type, name);
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
