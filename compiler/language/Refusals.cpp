#include "compiler/language/Refusals.h"

#include "compiler/language/Parser.h"
#include "compiler/language/Text.h"

#include <algorithm>
#include <map>
#include <set>

namespace fw::language {

namespace {
class Refusals {
public:
  Refusals(const Op &op, const std::vector<Op> &ops, Diagnostics &diagnostics)
      : op(op), ops(ops), diagnostics(diagnostics) {}

  bool run() {
    for (const auto &node : op.nodes)
      checkCall(*node);
    checkSize();
    // Over axes all of it is checked by the Checker, which knows them.
    bool hasAxes = op.domain.kind == Domain::Kind::Rows || op.domain.kind == Domain::Kind::Axes;
    if (!hasAxes) {
      checkBody(op.body);
      for (const auto &node : op.nodes)
        checkExpr(*node);
    }
    return !recurs;
  }

private:
  void later(Offset at, std::string expected, std::string got, std::string remedy) {
    diagnostics.error(at,
                      "expected " + std::move(expected) + ", got " + std::move(got) +
                          ", which arrives in a later version",
                      std::move(remedy));
  }

  const Op *findOp(const std::string &name) const { return calleeOf(op, name); }

  static const Op *calleeOf(const Op &caller, const std::string &name) {
    auto found = caller.callees.find(name);
    return found != caller.callees.end() ? found->second : nullptr;
  }

  /// True if `from` leads back to this op through calls.
  bool leadsBack(const Op &from, std::set<const Op *> &seen) const {
    if (&from == &op)
      return true;
    if (!seen.insert(&from).second)
      return false;
    return std::any_of(from.nodes.begin(), from.nodes.end(), [&](const auto &node) {
      const OpCall *call = node->template as<OpCall>();
      const Op *callee = call ? calleeOf(from, call->op) : nullptr;
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
    } else if (const Refusal *refusal = findRefusal(call->op)) {
      diagnostics.error(expr.at,
                        "expected a function, got " + quoted(call->op) + ", " +
                            std::string(refusal->what) + ", which the language refuses",
                        std::string(refusal->reason));
    } else {
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

  static bool isLeaf(const Expr &expr) {
    return expr.as<Number>() || expr.as<Truth>() || expr.as<Name>() || expr.as<Word>();
  }

  /// What inlining makes of an op: its operations, and how deep calls stand in calls.
  struct Size {
    size_t operations = 0, depth = 0;
    bool isDone = false;
  };

  /// Each op is looked at once; past the limit more does not matter. Recursion has its own error.
  Size sizeOf(const Op &of, std::map<const Op *, Size> &known) {
    auto [entry, isNew] = known.try_emplace(&of);
    recurs |= !isNew && !entry->second.isDone;
    if (!isNew)
      return entry->second;
    Size size{.isDone = true};
    for (const auto &node : of.nodes) {
      size.operations += !isLeaf(*node);
      const OpCall *call = node->as<OpCall>();
      const Op *callee = call ? calleeOf(of, call->op) : nullptr;
      if (!callee)
        continue;
      Size inner = sizeOf(*callee, known);
      size.operations = std::min<size_t>(size.operations + inner.operations, maxOperations + 1);
      size.depth = std::max(size.depth, inner.depth + 1);
    }
    return known[&of] = size;
  }

  void checkSize() {
    std::map<const Op *, Size> known;
    Size size = op.callees.empty() ? Size() : sizeOf(op, known);
    if (recurs)
      return;
    if (size.operations > maxOperations)
      diagnostics.error(op.at,
                        "expected at most " + std::to_string(maxOperations) +
                            " operations with those of the ops that are called, got more",
                        "split the op");
    else if (size.depth > maxNesting)
      diagnostics.error(op.at,
                        "expected calls of at most " + std::to_string(maxNesting) +
                            " levels, got " + std::to_string(size.depth),
                        "split the op");
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
    if (declaration.axes && !info(declaration.role).scalar && isLater(*declaration.axes))
      diagnostics.error(declaration.axes->front().at,
                        "expected one value per element, per tensor or in all, got an axis of its "
                        "own in an op over elements",
                        "write " + declaration.name +
                            "[tensor] or [all], or no brackets; axes belong to ops over rows");
  }

  /// Whether these name anything beside one uniform scope.
  static bool isLater(const std::vector<Axis> &axes) {
    return axes.size() != 1 || axes[0].divisor != 1 ||
           (axes[0].name != "tensor" && axes[0].name != "all" && axes[0].name != "world");
  }

  void checkExpr(const Expr &expr) {
    auto *apply = expr.as<Apply>();
    if (apply && (apply->function == Function::Index || apply->function == Function::Size))
      checkPlace(*apply);
    else if (auto *reduce = expr.as<Reduce>(); reduce && reduce->kept && isLater(*reduce->kept))
      checkKept(*reduce);
  }

  void checkKept(const Reduce &reduce) {
    std::string remedy = "write " + std::string(spelling(reduce.kind)) + "[tensor](...) or [all]";
    const Axis &first = reduce.kept->front();
    if (first.name == "group")
      later(first.at, "tensor, all or world", printAxes(*reduce.kept), remedy);
    else
      diagnostics.error(first.at, "expected tensor, all or world, got " + printAxes(*reduce.kept),
                        remedy + "; axes belong to ops over rows");
  }

  /// index(tensor), size(tensor) and size(all) are numbers of the scalar program; other places are
  /// those of axes.
  void checkPlace(const Apply &apply) {
    const Word *axis = apply.arguments.size() == 1 ? apply.arguments[0]->as<Word>() : nullptr;
    bool isSize = apply.function == Function::Size;
    if (!axis || axis->word == "tensor" || (isSize && axis->word == "all"))
      return;
    diagnostics.error(
        apply.arguments[0]->at,
        std::string("expected ") + (isSize ? "tensor or all" : "tensor") + ", got " +
            quoted(axis->word) + " in an op over elements",
        std::string(isSize ? "write size(tensor) or size(all)" : "write index(tensor)") +
            "; axes belong to ops over rows");
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
  bool recurs = false;
};
} // namespace

bool checkRefusals(const Op &op, const std::vector<Op> &ops, Diagnostics &diagnostics) {
  return Refusals(op, ops, diagnostics).run();
}

} // namespace fw::language
