#include "compiler/cpu/Accumulators.h"
#include "compiler/cpu/Codec.h"
#include "compiler/cpu/ElementFunctions.h"
#include "compiler/cpu/Lowering.h"

using namespace mlir;

namespace fw::cpu {

namespace {

/// The vectors (or, in the tail, the one element) that an iteration works on.
using Copies = SmallVector<DenseMap<Value, Value>, 4>;

/// One kernel being rewritten.
class KernelLowering {
public:
  KernelLowering(fuse::KernelOp kernel, const LoweringOptions &options)
      : kernel(kernel), options(options), builder(kernel->getParentOp()),
        location(kernel.getLoc()) {}

  LogicalResult run() {
    beginFunction();
    for (Operation &op : kernel.getBody().front())
      if (failed(lower(op)))
        return failure();
    func::ReturnOp::create(builder, location);
    return success();
  }

private:
  Value pointers() { return function.getArgument(0); }
  Value begin() { return function.getArgument(1); }
  Value end() { return function.getArgument(2); }
  Value scalars() { return function.getArgument(3); }
  Value results() { return function.getArgument(4); }

  void beginFunction();
  Value constant(int64_t value) {
    return arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(value));
  }
  Value offset(Type element, Value pointer, Value index) {
    return LLVM::GEPOp::create(builder, location, pointer.getType(), element, pointer, index);
  }

  LogicalResult lower(Operation &op);
  LogicalResult lowerUniform(Operation &op);
  LogicalResult lowerReduction(fuse::ReductionOp reduction);
  FailureOr<Value> readSlot(fuse::SlotOp slot);
  LogicalResult lowerEach(fuse::EachOp each);
  void loadBases(fuse::EachOp each);
  void splatUniforms(fuse::EachOp each, const Lanes &lanes);
  LogicalResult buildLoop(fuse::EachOp each, Value from, Value to, const Lanes &lanes,
                          SmallVectorImpl<Accumulators> &accumulators);
  LogicalResult buildBody(fuse::EachOp each, Value index, const Lanes &lanes, Copies &copies);
  void accumulate(fuse::EachOp each, const Lanes &lanes, const Copies &copies, ValueRange carried);
  LogicalResult buildOp(Operation &op, const Lanes &lanes, DenseMap<Value, Value> &values);
  Value address(StringRef operand, Type element, Value index, int64_t shift);
  Value lookup(Value value, const Lanes &lanes, const DenseMap<Value, Value> &values);

  fuse::KernelOp kernel;
  const LoweringOptions &options;
  OpBuilder builder;
  Location location;
  func::FuncOp function;
  int64_t reductions = 0;          ///< that were lowered
  DenseMap<Value, Value> uniforms; ///< kernel-level value -> scalar
  DenseMap<Value, Value> splats;   ///< the same in all lanes, for the loop being built
  llvm::StringMap<Value> bases;    ///< operand -> its pointer
};

void KernelLowering::beginFunction() {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  auto type = builder.getFunctionType({pointer, i64, i64, pointer, pointer}, {});
  function = func::FuncOp::create(builder, location, kernel.getSymName(), type);
  builder.setInsertionPointToStart(function.addEntryBlock());
}

/// The position of a slot in the scalar table is that of its result in the scalar program right
/// before the kernel.
std::optional<int64_t> slotIndex(fuse::KernelOp kernel, StringRef slot) {
  int64_t index = 0;
  for (auto result : fuse::scalarsBefore(kernel).getOps<fuse::ResultOp>()) {
    if (result.getSlot() == slot)
      return index;
    ++index;
  }
  return std::nullopt;
}

/// A slot travels as a number of the arithmetic type; a bool as 0 or 1.
FailureOr<Value> KernelLowering::readSlot(fuse::SlotOp slot) {
  std::optional<int64_t> index = slotIndex(kernel, slot.getSlot());
  if (!index)
    return slot.emitError("expected a result of the scalar program, got '")
           << slot.getSlot() << "'";
  Type real = kernel.getReal(), wanted = slot.getType();
  Lanes scalar(builder, location, 1);
  Value number = scalar.make<LLVM::LoadOp>(real, offset(real, scalars(), constant(*index)));
  if (wanted == real)
    return number;
  if (wanted.isInteger(1))
    return scalar.compare(arith::CmpFPredicate::UNE, number, scalar.number(real, 0));
  if (isa<IntegerType>(wanted))
    return scalar.make<arith::FPToSIOp>(wanted, number);
  return convert(scalar, options.features, number, real, wanted, false);
}

LogicalResult KernelLowering::lower(Operation &op) {
  if (auto each = dyn_cast<fuse::EachOp>(op))
    return lowerEach(each);
  if (auto reduction = dyn_cast<fuse::ReductionOp>(op))
    return lowerReduction(reduction);
  if (isa<fuse::SkipIfOp>(op)) // who runs the kernel decides that
    return success();
  return lowerUniform(op);
}

/// Adds what this call has reduced to what those before it have.
LogicalResult KernelLowering::lowerReduction(fuse::ReductionOp reduction) {
  auto each = reduction.getValue().getDefiningOp<fuse::EachOp>();
  if (!each)
    return reduction.emitError("expected the result of a pass, got another value");
  const unsigned index = cast<OpResult>(reduction.getValue()).getResultNumber();
  Type f64 = builder.getF64Type();
  Lanes scalar(builder, location, 1);
  Value place = offset(f64, results(), constant(reductions++));
  Value before = scalar.make<LLVM::LoadOp>(f64, place);
  Value mine = uniforms.lookup(reduction.getValue());
  if (mine.getType() != f64)
    mine = scalar.make<arith::ExtFOp>(f64, mine);
  Value both = combine(scalar, kindOf(each, index), before, mine);
  LLVM::StoreOp::create(builder, location, both, place);
  return success();
}

LogicalResult KernelLowering::lowerUniform(Operation &op) {
  FailureOr<Value> value = failure();
  if (auto slot = dyn_cast<fuse::SlotOp>(op)) {
    value = readSlot(slot);
  } else {
    Lanes scalar(builder, location, 1);
    auto operands =
        llvm::map_to_vector(op.getOperands(), [&](Value v) { return uniforms.lookup(v); });
    value = buildElementOp(scalar, op, operands);
  }
  if (failed(value))
    return failure();
  uniforms[op.getResult(0)] = *value;
  return success();
}

void KernelLowering::loadBases(fuse::EachOp each) {
  Type pointer = pointers().getType();
  for (Operation &op : each.getBody().front()) {
    auto name = op.getAttrOfType<StringAttr>("operand");
    if (!isa<fuse::LoadOp, fuse::StoreOp>(op) || bases.contains(name))
      continue;
    Value place = constant(fuse::columnIndex(kernel, name));
    bases[name] =
        LLVM::LoadOp::create(builder, location, pointer, offset(pointer, pointers(), place));
  }
}

/// Broadcasts stand before the loop: without LLVM's IR passes nothing would move them there.
void KernelLowering::splatUniforms(fuse::EachOp each, const Lanes &lanes) {
  splats.clear();
  for (Operation &op : each.getBody().front())
    for (Value operand : op.getOperands())
      if (Value scalar = uniforms.lookup(operand); scalar && !splats.contains(operand))
        splats[operand] = lanes.splat(scalar);
}

/// The main loop takes whole vectors, the tail what is left, one by one.
LogicalResult KernelLowering::lowerEach(fuse::EachOp each) {
  loadBases(each);
  const int64_t bytes = kernel.getReal().getIntOrFloatBitWidth() / 8;
  const int64_t width = options.features.lanes(bytes);
  const bool reduces = each->getNumResults() != 0;
  const int64_t copies = reduces ? accumulatorBytes / bytes / width : options.unroll;
  Lanes scalar(builder, location, 1), lanes(builder, location, width);
  Value count = scalar.make<arith::SubIOp>(end(), begin());
  Value rest = scalar.make<arith::RemUIOp>(count, constant(width * copies));
  Value middle = scalar.make<arith::SubIOp>(end(), rest);
  SmallVector<Accumulators, 4> accumulators(copies, neutral(lanes, each));
  if (failed(buildLoop(each, begin(), middle, lanes, accumulators)))
    return failure();
  accumulators = {fold(lanes, each, accumulators)};
  if (failed(buildLoop(each, middle, end(), scalar, accumulators)))
    return failure();
  for (auto [result, total] : llvm::zip(each.getResults(), accumulators.front()))
    uniforms[result] = total;
  return success();
}

/// A loop over as many vectors at a time as there are accumulators of each reduction.
LogicalResult KernelLowering::buildLoop(fuse::EachOp each, Value from, Value to, const Lanes &lanes,
                                        SmallVectorImpl<Accumulators> &accumulators) {
  splatUniforms(each, lanes);
  Copies copies(accumulators.size());
  SmallVector<Value> carried;
  for (const Accumulators &of : accumulators)
    llvm::append_range(carried, of);
  Value step = constant(lanes.getWidth() * int64_t(copies.size()));
  auto loop = scf::ForOp::create(builder, location, from, to, step, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  if (failed(buildBody(each, loop.getInductionVar(), lanes, copies)))
    return failure();
  if (!carried.empty())
    accumulate(each, lanes, copies, loop.getRegionIterArgs());
  ResultRange results = loop.getResults();
  for (Accumulators &of : accumulators) {
    llvm::copy(results.take_front(of.size()), of.begin());
    results = results.drop_front(of.size());
  }
  return success();
}

/// Ends an iteration: each copy has accumulators of its own.
void KernelLowering::accumulate(fuse::EachOp each, const Lanes &lanes, const Copies &copies,
                                ValueRange carried) {
  Operation *yield = each.getBody().front().getTerminator();
  SmallVector<Value> next;
  for (const auto &values : copies)
    for (auto [r, value] : llvm::enumerate(yield->getOperands()))
      next.push_back(
          combine(lanes, kindOf(each, r), carried[next.size()], lookup(value, lanes, values)));
  scf::YieldOp::create(builder, location, next);
}

/// All loads of all copies come first, so that memory works while the arithmetic goes on copy by
/// copy; stores may not be moved before loads by anything after us, since operands may share
/// memory.
LogicalResult KernelLowering::buildBody(fuse::EachOp each, Value index, const Lanes &lanes,
                                        Copies &copies) {
  Block &body = each.getBody().front();
  for (auto load : body.getOps<fuse::LoadOp>())
    for (auto [i, values] : llvm::enumerate(copies)) {
      Type element = carrier(load.getType());
      Value from = address(load.getOperand(), element, index, i * lanes.getWidth());
      values[load.getResult()] =
          lanes.make<LLVM::LoadOp>(lanes.type(element), from, element.getIntOrFloatBitWidth() / 8);
    }
  for (auto &values : copies)
    for (Operation &op : body)
      if (!isa<fuse::LoadOp, fuse::StoreOp, fuse::YieldOp>(op) &&
          failed(buildOp(op, lanes, values)))
        return failure();
  for (auto [i, values] : llvm::enumerate(copies))
    for (auto store : body.getOps<fuse::StoreOp>()) {
      Type element = carrier(store.getValue().getType());
      Value to = address(store.getOperand(), element, index, i * lanes.getWidth());
      LLVM::StoreOp::create(builder, location, lookup(store.getValue(), lanes, values), to,
                            element.getIntOrFloatBitWidth() / 8);
    }
  return success();
}

LogicalResult KernelLowering::buildOp(Operation &op, const Lanes &lanes,
                                      DenseMap<Value, Value> &values) {
  auto operands =
      llvm::map_to_vector(op.getOperands(), [&](Value v) { return lookup(v, lanes, values); });
  FailureOr<Value> value = failure();
  if (auto cast = dyn_cast<fuse::CastOp>(op))
    value = convert(lanes, options.features, operands[0], cast.getValue().getType(), cast.getType(),
                    cast.getSaturate());
  else
    value = buildElementOp(lanes, op, operands);
  if (failed(value))
    return failure();
  values[op.getResult(0)] = *value;
  return success();
}

Value KernelLowering::address(StringRef operand, Type element, Value index, int64_t shift) {
  Value base = offset(element, bases.lookup(operand), index);
  return shift == 0 ? base : offset(element, base, constant(shift));
}

Value KernelLowering::lookup(Value value, const Lanes &lanes,
                             const DenseMap<Value, Value> &values) {
  if (Value own = values.lookup(value))
    return own;
  return splats.lookup(value);
}

struct LowerKernels : PassWrapper<LowerKernels, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerKernels)
  explicit LowerKernels(LoweringOptions options) : options(std::move(options)) {}

  StringRef getArgument() const override { return "cpu-lower-kernels"; }
  StringRef getDescription() const override { return "phase level to loops on vectors"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                    scf::SCFDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    for (Operation &op : llvm::make_early_inc_range(*getOperation().getBody()))
      if (failed(lowerProgram(op)))
        return signalPassFailure();
  }

  LogicalResult lowerProgram(Operation &op) {
    auto program = dyn_cast<fuse::ProgramOp>(op);
    if (!program)
      return op.emitError("expected a phase-level module (fuse.program), got '")
             << op.getName() << "'; run the passes up to form-phases first";
    for (auto kernel : program.getOps<fuse::KernelOp>())
      if (failed(KernelLowering(kernel, options).run()))
        return failure();
    program.erase();
    return success();
  }

  LoweringOptions options;
};

} // namespace

std::unique_ptr<Pass> createLowerKernels(LoweringOptions options) {
  return std::make_unique<LowerKernels>(std::move(options));
}

} // namespace fw::cpu
