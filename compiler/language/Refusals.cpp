#include "compiler/language/Refusals.h"

#include "compiler/language/Text.h"

#include <algorithm>
#include <set>

namespace fw::language {

namespace {
class Refusals {
public:
  Refusals(const Op &op, const std::vector<Op> &ops, Diagnostics &diagnostics)
      : op(op), ops(ops), diagnostics(diagnostics) {}

  void run() {
    for (const auto &node : op.nodes)
      checkCall(*node);
    // One diagnostic for the domain, not one more for everything that comes with it.
    if (isCompiled()) {
      checkBody(op.body);
      for (const auto &node : op.nodes)
        checkExpr(*node);
    } else {
      later(op.domain.at, "'over elements'",
            op.domain.kind == Domain::Kind::Rows ? "'over rows'" : "a list of axes",
            "write the op over elements");
    }
  }

private:
  bool isCompiled() const {
    return op.domain.kind == Domain::Kind::Elements || op.domain.kind == Domain::Kind::Scalars;
  }

  void later(Offset at, std::string expected, std::string got, std::string remedy) {
    diagnostics.error(at,
                      "expected " + std::move(expected) + ", got " + std::move(got) +
                          ", which arrives in a later version",
                      std::move(remedy));
  }

  const Op *findOp(std::string_view name) const {
    auto found = std::find_if(ops.begin(), ops.end(), [&](const Op &o) { return o.name == name; });
    return found != ops.end() ? &*found : nullptr;
  }

  /// True if `from` leads back to this op through calls.
  bool leadsBack(const Op &from, std::set<const Op *> &seen) const {
    if (&from == &op)
      return true;
    if (!seen.insert(&from).second)
      return false;
    return std::any_of(from.nodes.begin(), from.nodes.end(), [&](const auto &node) {
      const OpCall *call = node->template as<OpCall>();
      const Op *callee = call ? findOp(call->op) : nullptr;
      return callee && leadsBack(*callee, seen);
    });
  }

  void checkCall(const Expr &expr) {
    const OpCall *call = expr.as<OpCall>();
    if (!call)
      return;
    if (const Op *callee = findOp(call->op)) {
      std::set<const Op *> seen;
      if (leadsBack(*callee, seen))
        diagnostics.error(expr.at,
                          "expected a call that ends, got recursion of op " + quoted(op.name),
                          "an op may not call itself, calls are inlined");
      else if (isCompiled())
        later(expr.at, "a function", "a call of op " + quoted(call->op),
              "write its equations here");
    } else if (const Refusal *refusal = findRefusal(call->op)) {
      diagnostics.error(expr.at,
                        "expected a function, got " + quoted(call->op) + ", " +
                            std::string(refusal->what) + ", which the language refuses",
                        std::string(refusal->reason));
    } else if (isCompiled()) {
      unknownFunction(expr.at, call->op);
    }
  }

  void unknownFunction(Offset at, const std::string &name) {
    std::vector<std::string_view> names = callableNames();
    for (const Op &other : ops)
      names.push_back(other.name);
    std::optional<std::string> near = nearest(name, names);
    diagnostics.error(at, "expected a function, got " + quoted(name),
                      near ? "did you mean " + quoted(*near)
                           : "write it with the functions of the language");
  }

  void checkBody(const std::vector<Statement> &body) {
    for (const Statement &statement : body) {
      if (auto *declaration = statement.as<Declaration>())
        checkDeclaration(*declaration);
      if (auto *branch = statement.as<StatementIf>()) {
        checkBody(branch->then);
        checkBody(branch->otherwise);
      }
    }
  }

  void checkDeclaration(const Declaration &declaration) {
    bool mayBeBool = declaration.role == Role::Hyper;
    if (declaration.type != Type::Real && !(mayBeBool && declaration.type == Type::Bool))
      later(declaration.typeAt, mayBeBool ? "a real or a bool" : "a real",
            "type " + std::string(spelling(declaration.type)), "declare a real");
    if (declaration.axes && !info(declaration.role).scalar && isLater(*declaration.axes))
      later(declaration.axes->front().at, "one value per element, per tensor or in all",
            "an axis of its own",
            "write " + declaration.name + "[tensor] or [all], or no brackets");
  }

  /// Whether these name anything beside one uniform scope.
  static bool isLater(const std::vector<Axis> &axes) {
    return axes.size() != 1 || axes[0].divisor != 1 ||
           (axes[0].name != "tensor" && axes[0].name != "all" && axes[0].name != "world");
  }

  void checkExpr(const Expr &expr) {
    if (auto *apply = expr.as<Apply>(); apply && info(apply->function).later)
      later(expr.at, "a function of reals", quoted(info(apply->function).spelling),
            "pass the value as an operand or a hyper");
    else if (auto *apply = expr.as<Apply>();
             apply && (apply->function == Function::Index || apply->function == Function::Size))
      checkPlace(*apply);
    else if (auto *reduce = expr.as<Reduce>(); reduce && reduce->kept && isLater(*reduce->kept))
      later(reduce->kept->front().at, "tensor, all or world", printAxes(*reduce->kept),
            "write " + std::string(spelling(reduce->kind)) + "[tensor](...) or [all]");
    else if (expr.as<Gather>())
      later(expr.at, "a value", "a read at an index", "pass the values as an operand");
  }

  /// index(tensor), size(tensor) and size(all) are numbers of the scalar program; the others vary
  /// with the place of an element.
  void checkPlace(const Apply &apply) {
    const Word *axis = apply.arguments.size() == 1 ? apply.arguments[0]->as<Word>() : nullptr;
    bool isSize = apply.function == Function::Size;
    if (!axis || axis->word == "tensor" || (isSize && axis->word == "all"))
      return;
    std::string function(info(apply.function).spelling);
    later(apply.arguments[0]->at, isSize ? "tensor or all" : "tensor", quoted(axis->word),
          isSize ? "write size(tensor) or size(all)" : "write index(tensor)");
  }

  static std::string printAxes(const std::vector<Axis> &axes) {
    std::string out;
    for (const Axis &axis : axes) {
      out += (out.empty() ? "" : ", ") + axis.name;
      if (axis.name == "group")
        out += "(" + std::to_string(axis.divisor) + ")";
      else if (axis.divisor != 1)
        out += "/" + std::to_string(axis.divisor);
    }
    return quoted(out);
  }

  const Op &op;
  const std::vector<Op> &ops;
  Diagnostics &diagnostics;
};
} // namespace

void checkRefusals(const Op &op, const std::vector<Op> &ops, Diagnostics &diagnostics) {
  Refusals(op, ops, diagnostics).run();
}

} // namespace fw::language
