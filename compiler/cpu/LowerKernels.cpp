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
  KernelLowering(fuse::ProgramOp program, fuse::KernelOp kernel, const LoweringOptions &options)
      : program(program), kernel(kernel), options(options), builder(program),
        location(kernel.getLoc()) {}

  LogicalResult run() {
    beginFunction();
    for (Operation &op : kernel.getBody().front()) {
      auto each = dyn_cast<fuse::EachOp>(op);
      if (failed(each ? lowerEach(each) : lowerUniform(op)))
        return failure();
    }
    func::ReturnOp::create(builder, location);
    return success();
  }

private:
  Value pointers() { return function.getArgument(0); }
  Value begin() { return function.getArgument(1); }
  Value end() { return function.getArgument(2); }
  Value scalars() { return function.getArgument(3); }

  void beginFunction();
  Value constant(int64_t value) {
    return arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(value));
  }
  Value offset(Type element, Value pointer, Value index) {
    return LLVM::GEPOp::create(builder, location, pointer.getType(), element, pointer, index);
  }

  LogicalResult lowerUniform(Operation &op);
  FailureOr<Value> readSlot(fuse::SlotOp slot);
  LogicalResult lowerEach(fuse::EachOp each);
  void loadBases(fuse::EachOp each);
  void splatUniforms(fuse::EachOp each, const Lanes &lanes);
  LogicalResult buildLoop(fuse::EachOp each, Value from, Value to, int64_t width, int64_t copies);
  LogicalResult buildBody(fuse::EachOp each, Value index, const Lanes &lanes, int64_t count);
  LogicalResult buildOp(Operation &op, const Lanes &lanes, DenseMap<Value, Value> &values);
  Value address(StringRef operand, Type element, Value index, int64_t shift);
  Value lookup(Value value, const Lanes &lanes, const DenseMap<Value, Value> &values);

  fuse::ProgramOp program;
  fuse::KernelOp kernel;
  const LoweringOptions &options;
  OpBuilder builder;
  Location location;
  func::FuncOp function;
  DenseMap<Value, Value> uniforms; ///< kernel-level value -> scalar
  DenseMap<Value, Value> splats;   ///< the same in all lanes, for the loop being built
  llvm::StringMap<Value> bases;    ///< operand -> its pointer
};

void KernelLowering::beginFunction() {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  auto type = builder.getFunctionType({pointer, i64, i64, pointer}, {});
  function = func::FuncOp::create(builder, location, kernel.getSymName(), type);
  builder.setInsertionPointToStart(function.addEntryBlock());
}

/// The position of a slot in the scalar table is that of its result in the scalar program.
std::optional<int64_t> slotIndex(fuse::ProgramOp program, StringRef slot) {
  int64_t index = 0;
  for (auto scalars : program.getOps<fuse::ScalarsOp>())
    for (auto result : scalars.getOps<fuse::ResultOp>()) {
      if (result.getSlot() == slot)
        return index;
      ++index;
    }
  return std::nullopt;
}

/// A slot travels as a number of the arithmetic type; a bool as 0 or 1.
FailureOr<Value> KernelLowering::readSlot(fuse::SlotOp slot) {
  std::optional<int64_t> index = slotIndex(program, slot.getSlot());
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
    Value place = constant(fuse::operandIndex(program.getOperands(), name));
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
  if (each->getNumResults() != 0)
    return each.emitError("expected a pass without reductions, got ")
           << each->getNumResults() << "; the CPU backend has no lowering for reductions";
  loadBases(each);
  int64_t width = options.features.lanes(kernel.getReal().getIntOrFloatBitWidth() / 8);
  int64_t step = width * options.unroll;
  Lanes scalar(builder, location, 1);
  Value count = scalar.make<arith::SubIOp>(end(), begin());
  Value rest = scalar.make<arith::RemUIOp>(count, constant(step));
  Value middle = scalar.make<arith::SubIOp>(end(), rest);
  if (failed(buildLoop(each, begin(), middle, width, options.unroll)))
    return failure();
  return buildLoop(each, middle, end(), 1, 1);
}

LogicalResult KernelLowering::buildLoop(fuse::EachOp each, Value from, Value to, int64_t width,
                                        int64_t copies) {
  Lanes lanes(builder, location, width);
  splatUniforms(each, lanes);
  auto loop = scf::ForOp::create(builder, location, from, to, constant(width * copies));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  return buildBody(each, loop.getInductionVar(), lanes, copies);
}

/// All loads of all copies come first, so that memory works while the arithmetic goes on copy by
/// copy; stores may not be moved before loads by anything after us, since operands may share
/// memory.
LogicalResult KernelLowering::buildBody(fuse::EachOp each, Value index, const Lanes &lanes,
                                        int64_t count) {
  Copies copies(count);
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
      if (failed(KernelLowering(program, kernel, options).run()))
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
