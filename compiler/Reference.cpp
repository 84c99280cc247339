#include "compiler/Reference.h"

#include "compiler/Stages.h"
#include "compiler/dialect/Fuse.h"
#include "compiler/support/FloatMode.h"
#include "compiler/support/Stack.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace fw {

struct Reference::Impl {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> bounds, bits;         ///< before and after the pass fma
  std::vector<std::string> operands, scalars; ///< names in the request's order

  Result<void> parse(const ResolvedRequest &request, bool afterFma);
  evaluator::Inputs inOrderOf(fuse::OpOp op, const evaluator::Inputs &inputs) const;
};

namespace {

fuse::OpOp onlyOp(ModuleOp module) { return *module.getOps<fuse::OpOp>().begin(); }

/// Place of each attribute's name in `names`.
template <class Attribute>
std::vector<size_t> places(ArrayAttr table, const std::vector<std::string> &names) {
  std::vector<size_t> result;
  for (auto entry : table.getAsRange<Attribute>())
    result.push_back(llvm::find(names, entry.getName().getValue()) - names.begin());
  return result;
}

} // namespace

Result<void> Reference::Impl::parse(const ResolvedRequest &request, bool afterFma) {
  Result<std::string> text = semanticText(request, afterFma);
  if (!text)
    return text.takeError();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(*text, ParserConfig(&context));
  if (!module || module->getOps<fuse::OpOp>().empty())
    return Error{
        Code::INTERNAL, "expected the semantic level to be read back, got an error", "", "", 0, 0,
        *text};
  (afterFma ? bits : bounds) = std::move(module);
  return {};
}

evaluator::Inputs Reference::Impl::inOrderOf(fuse::OpOp op, const evaluator::Inputs &inputs) const {
  evaluator::Inputs ordered;
  ordered.sizes = inputs.sizes;
  ordered.extents = inputs.extents;
  for (size_t place : places<fuse::OperandAttr>(op.getOperands(), operands))
    ordered.data.push_back(inputs.data[place]);
  std::vector<size_t> columns = places<fuse::HyperAttr>(op.getScalars(), scalars);
  for (const std::vector<double> &row : inputs.scalars) {
    std::vector<double> &out = ordered.scalars.emplace_back();
    for (size_t column : columns)
      out.push_back(row[column]);
  }
  return ordered;
}

Reference::Reference(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Reference::Reference(Reference &&) = default;
Reference::~Reference() = default;

Result<Reference> Reference::make(const ResolvedRequest &request) {
  auto impl = std::make_unique<Impl>();
  impl->context.loadDialect<fuse::FuseDialect, arith::ArithDialect, math::MathDialect>();
  for (const RequestOperand &operand : request.operands)
    impl->operands.push_back(operand.name);
  for (const RequestScalar &scalar : request.scalars)
    impl->scalars.push_back(scalar.name);
  for (bool afterFma : {false, true})
    if (auto parsed = onLargeStack([&] { return impl->parse(request, afterFma); }); !parsed)
      return parsed.takeError();
  return Reference(std::move(impl));
}

Result<evaluator::Evaluation> Reference::evaluate(const evaluator::Inputs &inputs) const {
  StandardFloatMode mode;
  fuse::OpOp op = onlyOp(*impl->bounds);
  return evaluator::evaluate(op, impl->inOrderOf(op, inputs));
}

/// Values that are one in all, as far as the op says so.
static SmallVector<Value> sharedValues(fuse::OpOp op) {
  SmallVector<Value> shared;
  for (Operation &inner : op.getBody().front()) {
    if (auto skip = dyn_cast<fuse::SkipIfOp>(inner))
      shared.push_back(skip.getCondition());
    if (auto write = dyn_cast<fuse::WriteOp>(inner))
      if (fuse::findOperand(op.getOperands(), write.getOperand()).getScope().getLevel() ==
          fuse::ScopeLevel::All)
        shared.push_back(write.getValue());
  }
  return shared;
}

std::vector<bool> Reference::sharedScalars() const {
  std::vector<bool> shared(impl->scalars.size());
  SmallVector<Value> left = sharedValues(onlyOp(*impl->bounds));
  llvm::DenseSet<Operation *> seen;
  while (!left.empty()) {
    Operation *inner = left.pop_back_val().getDefiningOp();
    if (!inner || isa<fuse::ReduceOp>(inner) || !seen.insert(inner).second)
      continue; // a reduction makes one number of what each tensor has
    if (auto scalar = dyn_cast<fuse::ScalarOp>(inner))
      shared[size_t(llvm::find(impl->scalars, scalar.getScalar().str()) - impl->scalars.begin())] =
          true;
    llvm::append_range(left, inner->getOperands());
  }
  return shared;
}

bool Reference::reduces() const {
  return !onlyOp(*impl->bounds).getBody().getOps<fuse::ReduceOp>().empty();
}

Result<evaluator::Bits> Reference::interpret(const evaluator::Inputs &inputs) const {
  StandardFloatMode mode;
  fuse::OpOp op = onlyOp(*impl->bits);
  return evaluator::interpret(op, impl->inOrderOf(op, inputs));
}

} // namespace fw
