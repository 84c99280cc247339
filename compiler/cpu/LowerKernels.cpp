#include "compiler/cpu/Codec.h"
#include "compiler/cpu/ElementFunctions.h"
#include "compiler/cpu/KernelLowering.h"

using namespace mlir;

namespace fw::cpu {

void KernelLowering::beginFunction() {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  auto type = builder.getFunctionType({pointer, i64, i64, pointer, pointer}, {});
  function = func::FuncOp::create(builder, location, kernel.getSymName(), type);
  builder.setInsertionPointToStart(function.addEntryBlock());
}

/// The position of a slot in the scalar table is that of its result in the scalar program right
/// before the kernel.
static std::optional<int64_t> slotIndex(fuse::KernelOp kernel, StringRef slot) {
  int64_t index = 0;
  for (auto result : fuse::scalarsBefore(kernel).getOps<fuse::ResultOp>()) {
    if (result.getSlot() == slot)
      return index;
    ++index;
  }
  return std::nullopt;
}

/// Numbers of f32 arithmetic travel as f32, unless one is an int or is computed with in f64.
Type KernelLowering::tableType() {
  for (auto slot : kernel.getBody().getOps<fuse::SlotOp>())
    if (slot.getType().isInteger(64) || slot.getType().isF64())
      return builder.getF64Type();
  return kernel.getReal();
}

/// A slot travels as a number of the table's type; a bool as 0 or 1.
FailureOr<Value> KernelLowering::readSlot(fuse::SlotOp slot) {
  std::optional<int64_t> index = slotIndex(kernel, slot.getSlot());
  if (!index)
    return slot.emitError("expected a result of the scalar program, got '")
           << slot.getSlot() << "'";
  Type real = tableType(), wanted = slot.getType();
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
  if (auto store = dyn_cast<fuse::StoreOp>(op))
    return lowerStore(store);
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
  if (auto slot = dyn_cast<fuse::SlotOp>(op))
    value = readSlot(slot);
  else
    value = lowerOnRow(op);
  if (failed(value))
    return failure();
  uniforms[op.getResult(0)] = *value;
  return success();
}

void KernelLowering::loadBases(fuse::EachOp each) {
  for (Operation &op : each.getBody().front())
    if (isa<fuse::LoadOp, fuse::LoadPairOp, fuse::StoreOp>(op))
      loadBase(op.getAttrOfType<StringAttr>("operand"));
}

/// Broadcasts stand before the loop: without LLVM's IR passes nothing would move them there.
void KernelLowering::splatUniforms(fuse::EachOp each, const Lanes &lanes) {
  splats.clear();
  for (Operation &op : each.getBody().front())
    for (Value operand : op.getOperands())
      if (Value scalar = uniforms.lookup(operand); scalar && !splats.contains(operand))
        splats[operand] = lanes.splat(scalar);
}

LogicalResult KernelLowering::lowerEach(fuse::EachOp each) {
  loadBases(each);
  if (kernel.getPattern() == fuse::Pattern::Rows && each->getNumResults() != 0)
    return lowerReducing(each);
  FailureOr<Accumulators> totals = passOver(each, begin(), end());
  if (failed(totals))
    return failure();
  for (auto [result, total] : llvm::zip(each.getResults(), *totals))
    uniforms[result] = total;
  return success();
}

/// Of a row: pieces as long as those that a list is cut into, whose sums are added in f64.
LogicalResult KernelLowering::lowerReducing(fuse::EachOp each) {
  Lanes scalar(builder, location, 1);
  Type f64 = builder.getF64Type();
  auto widened = [&](Value value) {
    return value.getType() == f64 ? value : scalar.make<arith::ExtFOp>(f64, value);
  };
  SmallVector<Value> start;
  for (Value value : neutral(scalar, each))
    start.push_back(widened(value));
  auto loop = scf::ForOp::create(builder, location, begin(), end(), constant(rowPiece), start);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value from = loop.getInductionVar();
    Value to =
        scalar.make<arith::MinSIOp>(scalar.make<arith::AddIOp>(from, constant(rowPiece)), end());
    FailureOr<Accumulators> totals = passOver(each, from, to);
    if (failed(totals))
      return failure();
    SmallVector<Value> next;
    for (auto [r, total] : llvm::enumerate(*totals))
      next.push_back(
          combine(scalar, kindOf(each, unsigned(r)), loop.getRegionIterArgs()[r], widened(total)));
    scf::YieldOp::create(builder, location, next);
  }
  for (auto [result, total] : llvm::zip(each.getResults(), loop.getResults()))
    uniforms[result] = result.getType() == f64
                           ? Value(total)
                           : scalar.make<arith::TruncFOp>(result.getType(), total);
  return success();
}

/// The main loop takes whole vectors, the tail what is left, one by one.
FailureOr<Accumulators> KernelLowering::passOver(fuse::EachOp each, Value from, Value to) {
  const int64_t bytes = kernel.getReal().getIntOrFloatBitWidth() / 8;
  const int64_t width = options.features.lanes(bytes);
  const bool reduces = each->getNumResults() != 0;
  const int64_t copies = reduces ? accumulatorBytes / bytes / width : options.unroll;
  Lanes scalar(builder, location, 1), lanes(builder, location, width);
  Value count = scalar.make<arith::SubIOp>(to, from);
  Value rest = scalar.make<arith::RemUIOp>(count, constant(width * copies));
  Value middle = scalar.make<arith::SubIOp>(to, rest);
  SmallVector<Accumulators, 4> accumulators(copies, neutral(lanes, each));
  if (failed(buildLoop(each, from, middle, lanes, accumulators)))
    return failure();
  accumulators = {fold(lanes, each, accumulators)};
  if (failed(buildLoop(each, middle, to, scalar, accumulators)))
    return failure();
  return accumulators.front();
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
    for (auto [i, values] : llvm::enumerate(copies))
      values[load.getResult()] =
          this->load(lanes, load.getOperand(), load.getType(), index, i * lanes.getWidth());
  for (Operation &op : body)
    for (auto [i, values] : llvm::enumerate(copies))
      if (Value known = ofColumn(op, lanes, index, i * lanes.getWidth()))
        values[op.getResult(0)] = known;
  for (auto &values : copies)
    for (Operation &op : body)
      if (op.getNumResults() == 1 && !values.contains(op.getResult(0)) &&
          failed(buildOp(op, lanes, values)))
        return failure();
  for (auto [i, values] : llvm::enumerate(copies))
    for (auto op : body.getOps<fuse::StoreOp>())
      store(lanes, op.getOperand(), lookup(op.getValue(), lanes, values), index,
            i * lanes.getWidth(), op.getValue().getType());
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

Value KernelLowering::lookup(Value value, const Lanes &lanes,
                             const DenseMap<Value, Value> &values) {
  if (Value own = values.lookup(value))
    return own;
  return splats.lookup(value);
}

namespace {
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
