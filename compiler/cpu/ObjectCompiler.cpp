#include "compiler/cpu/ObjectCompiler.h"

#include "compiler/cpu/Lowering.h"
#include "compiler/cpu/Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

using namespace mlir;

namespace fw::cpu {

namespace {

/// An MLIR context whose diagnostics are kept as text.
class Session {
public:
  Session() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<fuse::FuseDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      llvm::raw_string_ostream(log) << diagnostic.getLocation() << ": " << diagnostic << '\n';
      if (first.empty())
        first = diagnostic.str();
      return success();
    });
  }

  Error error(StringRef what) const {
    return {.code = Code::TOOLCHAIN, .text = what.str() + ": " + first, .log = log};
  }

  MLIRContext context;

private:
  std::string first;
  std::string log;
};

Result<void> lower(Session &session, ModuleOp module, const CompileOptions &options) {
  PassManager passes(&session.context);
  // What the parser took is well formed, and what we make of it is verified where it is read.
  passes.enableVerifier(options.output != Output::Object);
  passes.addPass(createLowerKernels({options.features, options.unroll}));
  if (options.output != Output::Vectors) {
    passes.addPass(createGuardMode(options.features.architecture()));
    passes.addPass(createLowerToLlvm());
  }
  if (failed(passes.run(module)))
    return session.error("cannot lower the kernel to vector code");
  return {};
}

/// What every function promises, so that code generation adds neither unwind tables nor calls.
void setAttributes(llvm::Module &module, const Features &features) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.setDoesNotThrow();
    function.addFnAttr("prefer-vector-width", std::to_string(features.lanes(1) * 8));
    function.addFnAttr("no-builtins");
  }
}

/// Scheduling and the allocation of registers take time by the square of a block, and a kernel's
/// loop is one block: 400 pairs of exp and sin took a minute. Kernels beyond this size are
/// generated without optimization, in linear time; they run at two thirds of the speed.
constexpr size_t hugeBlock = 16384;

bool hasHugeBlock(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &function) {
    return llvm::any_of(function,
                        [](const llvm::BasicBlock &block) { return block.size() > hugeBlock; });
  });
}

Result<std::string> generate(llvm::Module &module, llvm::TargetMachine &machine, Output output) {
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple());
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  if (output == Output::LlvmIr) {
    module.print(stream, nullptr);
    return bytes.str().str();
  }
  auto type = output == Output::Object ? llvm::CodeGenFileType::ObjectFile
                                       : llvm::CodeGenFileType::AssemblyFile;
  llvm::legacy::PassManager passes;
  if (hasHugeBlock(module)) {
    machine.setOptLevel(llvm::CodeGenOptLevel::None);
    machine.setFastISel(false); // it knows few vector instructions, and falls back for each other
  }
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return Error{Code::INTERNAL, "expected a target that writes objects, got '" +
                                     machine.getTargetTriple().str() + "'"};
  passes.run(module);
  return bytes.str().str();
}

} // namespace

Result<std::string> compile(StringRef phases, const CompileOptions &options) {
  if (auto fit = options.features.checkBaseline(); !fit)
    return fit.error();
  auto machine = createMachine(options.features);
  if (!machine)
    return machine.takeError();
  Session session;
  auto module = parseSourceString<ModuleOp>(phases, &session.context);
  if (!module)
    return session.error("cannot read the phase-level module");
  if (auto lowered = lower(session, *module, options); !lowered)
    return lowered.error();
  if (options.output == Output::Vectors) {
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  }
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(*module, context, "fusewright");
  if (!ir)
    return session.error("cannot translate the kernel to LLVM IR");
  setAttributes(*ir, options.features);
  return generate(*ir, **machine, options.output);
}

} // namespace fw::cpu
