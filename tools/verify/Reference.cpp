#include "tools/verify/Reference.h"

#include "compiler/Stages.h"
#include "compiler/dialect/Dtypes.h"
#include "compiler/dialect/Fuse.h"
#include "compiler/dialect/evaluator/Storage.h"
#include "compiler/passes/Context.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

namespace fw::verify {

struct Reference::Module {
  std::unique_ptr<mlir::MLIRContext> context = passes::createContext();
  mlir::OwningOpRef<mlir::ModuleOp> module;

  fuse::OpOp op() const { return *module->getOps<fuse::OpOp>().begin(); }
};

namespace {

size_t placeOf(llvm::StringRef name, const ResolvedRequest &request) {
  for (size_t k = 0; k < request.operands.size(); ++k)
    if (name == request.operands[k].name)
      return k;
  llvm_unreachable("the module's operands are the request's");
}

/// A case in the order of a module's tables, as decoded numbers.
class DecodedCase {
public:
  DecodedCase(fuse::OpOp op, const ResolvedRequest &request, const Case &data) {
    inputs.sizes.assign(data.sizes.begin(), data.sizes.end());
    for (auto operand : op.getOperands().getAsRange<fuse::OperandAttr>())
      addOperand(request, data, placeOf(operand.getName(), request));
    for (const std::vector<double> &row : data.scalars) {
      auto &ordered = inputs.scalars.emplace_back();
      for (auto scalar : op.getScalars().getAsRange<fuse::HyperAttr>())
        for (size_t i = 0; i < request.scalars.size(); ++i)
          if (scalar.getName() == request.scalars[i].name)
            ordered.push_back(row[i]);
    }
  }

  evaluator::Inputs inputs;

private:
  void addOperand(const ResolvedRequest &request, const Case &data, size_t k) {
    const Dtype &dtype = *findDtype(request.operands[k].dtype);
    auto &tensors = numbers.emplace_back();
    auto &views = inputs.data.emplace_back();
    for (const std::vector<uint64_t> &words : data.words[k]) {
      auto &tensor = tensors.emplace_back();
      for (uint64_t word : words)
        tensor.push_back(evaluator::decode(dtype, word));
      views.emplace_back(tensor);
    }
  }

  std::vector<std::vector<std::vector<double>>> numbers;
};

} // namespace

Reference::Reference(const ResolvedRequest &request) : request(request) {}
Reference::~Reference() = default;

Result<std::unique_ptr<Reference>> Reference::create(const ResolvedRequest &request) {
  std::unique_ptr<Reference> out(new Reference(request));
  for (bool afterFma : {false, true}) {
    auto text = semanticText(request, afterFma);
    if (!text)
      return text.takeError();
    auto module = std::make_unique<Module>();
    module->module = mlir::parseSourceString<mlir::ModuleOp>(*text, module->context.get());
    if (!module->module)
      return Error{Code::INTERNAL, "expected the printed module to parse again, got an error"};
    (afterFma ? out->contracted : out->semantic) = std::move(module);
  }
  return out;
}

Result<evaluator::Evaluation> Reference::bounds(const Case &data) const {
  return evaluator::evaluate(semantic->op(), DecodedCase(semantic->op(), request, data).inputs);
}

Result<evaluator::Bits> Reference::bits(const Case &data) const {
  return evaluator::interpret(contracted->op(),
                              DecodedCase(contracted->op(), request, data).inputs);
}

} // namespace fw::verify
