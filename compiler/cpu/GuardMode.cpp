#include "compiler/cpu/Lowering.h"

using namespace mlir;

namespace fw::cpu {

namespace {

/// Reads and writes the word that holds rounding direction, flush to zero and traps. `standard`: to
/// nearest even, nothing flushed, nothing trapped.
class ModeWord {
public:
  ModeWord(OpBuilder &builder, Location location, StringRef arch)
      : builder(builder), location(location), isX86(arch == "x86-64") {
    type = isX86 ? builder.getI32Type() : builder.getI64Type();
    if (isX86) // MXCSR goes through memory
      slot = LLVM::AllocaOp::create(
          builder, location, LLVM::LLVMPointerType::get(type.getContext()), type, constant(1), 4);
  }

  Value read() {
    if (!isX86)
      return call("llvm.aarch64.get.fpcr", type, {}).getResult(0);
    call("llvm.x86.sse.stmxcsr", {}, slot);
    return LLVM::LoadOp::create(builder, location, type, slot);
  }
  void write(Value word) {
    if (!isX86)
      return void(call("llvm.aarch64.set.fpcr", {}, word));
    LLVM::StoreOp::create(builder, location, word, slot);
    call("llvm.x86.sse.ldmxcsr", {}, slot);
  }
  Value standard() { return constant(isX86 ? 0x1f80 : 0); }

private:
  Value constant(int64_t value) {
    return LLVM::ConstantOp::create(builder, location, builder.getIntegerAttr(type, value));
  }
  LLVM::CallIntrinsicOp call(StringRef name, TypeRange results, ValueRange operands) {
    auto attribute = builder.getStringAttr(name);
    return results.empty()
               ? LLVM::CallIntrinsicOp::create(builder, location, attribute, operands)
               : LLVM::CallIntrinsicOp::create(builder, location, results[0], attribute, operands);
  }

  OpBuilder &builder;
  Location location;
  bool isX86;
  Type type;
  Value slot;
};

/// Callers (frameworks that flush denormals to zero, a parallel_for's threads) come in any mode;
/// the arithmetic of a kernel is that of the GPU. The body is a function of its own, so that no
/// instruction of it can be scheduled before the mode is set or after it is restored.
void guard(func::FuncOp body, StringRef arch) {
  std::string symbol = body.getSymName().str();
  body.setSymName(symbol + ".body");
  body->setAttr("llvm.linkage", LLVM::LinkageAttr::get(body.getContext(), LLVM::Linkage::Internal));
  OpBuilder builder(body);
  Location location = body.getLoc();
  auto entry = func::FuncOp::create(builder, location, symbol, body.getFunctionType());
  builder.setInsertionPointToStart(entry.addEntryBlock());
  ModeWord mode(builder, location, arch);
  Value before = mode.read();
  mode.write(mode.standard());
  func::CallOp::create(builder, location, body, entry.getArguments());
  mode.write(before);
  func::ReturnOp::create(builder, location);
}

struct GuardMode : PassWrapper<GuardMode, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GuardMode)
  explicit GuardMode(std::string arch) : arch(std::move(arch)) {}

  StringRef getArgument() const override { return "cpu-guard-mode"; }
  StringRef getDescription() const override {
    return "run kernels in the standard floating-point mode";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      guard(function, arch);
  }

  std::string arch;
};

} // namespace

std::unique_ptr<Pass> createGuardMode(StringRef arch) {
  return std::make_unique<GuardMode>(arch.str());
}

} // namespace fw::cpu
