#include "compiler/language/Lowering.h"

#include "compiler/language/LoweringExpressions.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace fw::language {
namespace {

fuse::Role roleOf(Role role) {
  std::optional<fuse::Role> found = fuse::symbolizeRole(StringRef(info(role).name));
  assert(found && "the dialect has every role that is an operand");
  return *found;
}

class OpLowering {
public:
  OpLowering(OpBuilder &builder, const ResolvedOp &op, const std::set<std::string> &absent)
      : builder(builder), op(op), absent(absent), expressions(builder, op, absent) {}

  void run() {
    bool isScalars = op.op->domain.kind == Domain::Kind::Scalars;
    auto form = isScalars ? fuse::DomainForm::Scalars : fuse::DomainForm::Elements;
    auto domain = fuse::DomainAttr::get(builder.getContext(), form, ArrayAttr(), ArrayAttr());
    auto lowered = fuse::OpOp::create(builder, at(op.op->at), op.info.name, domain, operands(),
                                      scalars(), equations());
    builder.setInsertionPointToStart(&lowered.getBody().emplaceBlock());
    for (const Assignment *assignment : op.body)
      assign(*assignment);
  }

private:
  Location at(Offset offset) const {
    Place place = op.op->source->place(offset);
    return FileLineColLoc::get(builder.getContext(), op.op->source->name(), place.line,
                               place.column);
  }

  static fuse::Kind kindOf(Type type) {
    return type == Type::Bool  ? fuse::Kind::Bool
           : type == Type::Int ? fuse::Kind::Int
                               : fuse::Kind::Real;
  }

  FloatAttr realOrNone(std::optional<double> value) {
    return value ? builder.getF64FloatAttr(*value) : FloatAttr();
  }

  fuse::ScopeAttr scopeOf(const OperandInfo &operand) {
    auto level = !operand.scope.isUniform()         ? fuse::ScopeLevel::Element
                 : operand.scope == Scope::tensor() ? fuse::ScopeLevel::Tensor
                                                    : fuse::ScopeLevel::All;
    return fuse::ScopeAttr::get(builder.getContext(), level);
  }

  ArrayAttr operands() {
    SmallVector<Attribute> table;
    for (const OperandInfo &operand : op.info.operands)
      if (!absent.count(operand.name))
        table.push_back(fuse::OperandAttr::get(
            builder.getContext(), builder.getStringAttr(operand.name), roleOf(operand.role),
            builder.getStringAttr("f32"), scopeOf(operand), fuse::Kind::Real,
            realOrNone(operand.neutral), realOrNone(operand.initial)));
    return builder.getArrayAttr(table);
  }

  ArrayAttr scalars() {
    SmallVector<Attribute> table;
    for (const HyperInfo &hyper : op.info.hypers)
      table.push_back(fuse::HyperAttr::get(builder.getContext(), builder.getStringAttr(hyper.name),
                                           kindOf(hyper.type), realOrNone(hyper.value)));
    if (op.info.step)
      table.push_back(fuse::HyperAttr::get(builder.getContext(),
                                           builder.getStringAttr(*op.info.step), fuse::Kind::Int,
                                           FloatAttr()));
    return builder.getArrayAttr(table);
  }

  /// Label -> the statements that carry it.
  DictionaryAttr equations() {
    std::map<std::string, std::string> texts;
    for (const Assignment *assignment : op.body)
      if (!assignment->label.empty()) {
        std::string &text = texts[assignment->label];
        text += (text.empty() ? "" : ";  ") + assignment->text;
      }
    SmallVector<NamedAttribute> entries;
    for (const auto &[label, text] : texts)
      entries.push_back(builder.getNamedAttr(label, builder.getStringAttr(text)));
    return entries.empty() ? DictionaryAttr() : builder.getDictionaryAttr(entries);
  }

  void assign(const Assignment &assignment) {
    Location location = at(assignment.at);
    expressions.startStatement(location, assignment.label);
    LoweredValue value = expressions.lower(*assignment.value);
    expressions.assign(assignment.name, value);
    if (const OperandInfo *operand = op.info.operand(assignment.name))
      fuse::WriteOp::create(builder, location, assignment.name,
                            expressions.toPrecisionOf(*operand, value));
  }

  OpBuilder &builder;
  const ResolvedOp &op;
  const std::set<std::string> &absent;
  ExpressionLowering expressions;
};

} // namespace

Result<OwningOpRef<ModuleOp>> lowerOp(MLIRContext &context, const ResolvedOp &op,
                                      const std::set<std::string> &absent) {
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToStart(module->getBody());
  OpLowering(builder, op, absent).run();
  std::string log;
  ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) { log += diagnostic.str() + "\n"; });
  if (failed(verify(*module)))
    return Error{Code::INTERNAL,
                 "expected a module that verifies for op '" + op.info.name + "'",
                 "please report it with the op's text",
                 "",
                 0,
                 0,
                 log};
  return module;
}

} // namespace fw::language
