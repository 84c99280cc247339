#include "compiler/language/Lowering.h"

#include "compiler/language/LoweringExpressions.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

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
      : builder(builder), op(op), absent(absent), state(builder, op), expressions(state, absent) {}

  void run() {
    auto lowered = fuse::OpOp::create(builder, at(op.op->at), op.info.name, domain(), operands(),
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

  ArrayAttr namesOf(ArrayRef<std::string> axes) {
    SmallVector<StringRef> names(axes.begin(), axes.end());
    return names.empty() ? ArrayAttr() : builder.getStrArrayAttr(names);
  }

  fuse::DomainAttr domain() {
    const Domain &over = op.op->domain;
    MLIRContext *context = builder.getContext();
    if (op.info.axes.empty()) {
      bool isScalars = over.kind == Domain::Kind::Scalars;
      auto form = isScalars ? fuse::DomainForm::Scalars : fuse::DomainForm::Elements;
      return fuse::DomainAttr::get(context, form, ArrayAttr(), ArrayAttr());
    }
    ArrayRef<std::string> axes(over.axes);
    return fuse::DomainAttr::get(context, fuse::DomainForm::Axes,
                                 namesOf(axes.take_front(over.outer)),
                                 namesOf(axes.drop_front(over.outer)));
  }

  /// Axes of its own stand between those of the header as they do in memory.
  fuse::ScopeAttr scopeOf(const OperandInfo &operand) {
    std::vector<std::string> axes = operand.axes;
    std::erase(axes, "1");
    bool isKnown = llvm::all_of(axes, [&](const std::string &axis) {
      return llvm::is_contained(op.op->domain.axes, axis);
    });
    if (isKnown)
      return expressions.scopeAttr(operand.scope);
    return fuse::ScopeAttr::get(builder.getContext(), fuse::ScopeLevel::Axes, 0, namesOf(axes));
  }

  static const char *dtypeOf(Type type) {
    return type == Type::Bool ? "bool" : type == Type::Int ? "i64" : "f32";
  }

  ArrayAttr operands() {
    SmallVector<Attribute> table;
    for (const OperandInfo &operand : op.info.operands)
      if (!absent.count(operand.name))
        table.push_back(fuse::OperandAttr::get(
            builder.getContext(), builder.getStringAttr(operand.name), roleOf(operand.role),
            builder.getStringAttr(dtypeOf(operand.type)), scopeOf(operand), kindOf(operand.type),
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

  /// Label -> the statements that carry it. Those of a callee stand behind its name.
  static void addEquations(const ResolvedOp &of, const std::string &prefix,
                           std::map<std::string, std::vector<std::string>> &texts) {
    for (const Assignment *assignment : of.body)
      if (!assignment->label.empty()) {
        std::vector<std::string> &known = texts[prefix + assignment->label];
        if (prefix.empty() || !llvm::is_contained(known, assignment->text))
          known.push_back(assignment->text);
      }
    for (const auto &[id, call] : of.calls)
      addEquations(call->op, call->op.info.name + ".", texts);
  }

  DictionaryAttr equations() {
    std::map<std::string, std::vector<std::string>> texts;
    addEquations(op, "", texts);
    SmallVector<NamedAttribute> entries;
    for (const auto &[label, statements] : texts)
      entries.push_back(
          builder.getNamedAttr(label, builder.getStringAttr(llvm::join(statements, ";  "))));
    return entries.empty() ? DictionaryAttr() : builder.getDictionaryAttr(entries);
  }

  void assign(const Assignment &assignment) {
    Location location = at(assignment.at);
    expressions.startStatement(location, assignment.label);
    LoweredValue value = expressions.lower(*assignment.value);
    expressions.assign(assignment.name, value);
    if (const OperandInfo *operand = op.info.operand(assignment.name))
      fuse::WriteOp::create(builder, location, assignment.name,
                            expressions.toTypeOf(*operand, value));
  }

  OpBuilder &builder;
  const ResolvedOp &op;
  const std::set<std::string> &absent;
  LoweringState state;
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
