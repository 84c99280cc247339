// Checks an op for one combination of option values, and collects what it is made of.
#pragma once

#include "compiler/language/Diagnostics.h"
#include "compiler/language/OpInfo.h"

#include <map>

namespace fw::language {

/// A scalar or an assigned name, and whether anything uses it. It is a mistake only if no
/// combination of options does.
struct Usage {
  Offset at;
  const std::string *name;
  const Declaration *declaration; ///< null for an assigned name
  bool used;

  Diagnostic complaint() const;
};

struct Findings {
  std::vector<Diagnostic> diagnostics;
  std::vector<Usage> usages;
};

/// More errors than anybody reads are not looked for in one combination.
constexpr size_t maxFindings = 20;

class Checker {
public:
  Checker(const Op &op, const OptionValues &options);

  /// Checks the whole op; findings() and takeResolved() are complete afterwards.
  void run();
  const Findings &findings() const { return found; }
  ResolvedOp takeResolved() { return std::move(resolved); }

private:
  struct Symbol {
    Offset at;
    const Declaration *declaration = nullptr; ///< null for options and assigned names
    const OptionDeclaration *option = nullptr;
    Type type = Type::Real;
    Scope scope = Scope::constant();
    std::optional<Offset> assignedAt = {};
    bool loaded = false; ///< its value before the first assignment was used
    bool used = false;
    bool across = false;   ///< see ValueInfo
    bool gathered = false; ///< read at an index
  };

  // Declarations (CheckerDeclarations.cpp)
  void declareOption(const OptionDeclaration &option);
  void declare(const Declaration &declaration);
  bool checkRole(const Declaration &declaration);
  bool checkAxes(const Declaration &declaration);
  bool checkUniformAxes(const Declaration &declaration);
  Scope scopeOf(const Declaration &declaration) const;
  bool checkValue(const Declaration &declaration);
  bool checkValueType(const Declaration &declaration);
  bool checkRange(const Declaration &declaration);
  bool isNew(Offset at, const std::string &name);
  void checkUses();
  void checkList();
  void checkUse(const std::string &name, const Symbol &symbol);
  void collectInfo();
  void addDrawScalars();
  void checkDrawNames();

  // Axes (CheckerAxes.cpp)
  void checkDomain();
  bool hasAxes() const {
    return op.domain.kind == Domain::Kind::Rows || op.domain.kind == Domain::Kind::Axes;
  }
  std::optional<size_t> axisNumber(const std::string &name) const;
  Scope outerScope() const;
  bool hasAllOuter(const Scope &scope) const;
  bool checkOwnAxes(const Declaration &declaration);
  bool checkHeaderOrder(const Declaration &declaration);
  std::vector<std::string> namesOf(const Scope &scope) const;
  Scope scopeOfAxes(const std::vector<std::string> &axes) const;
  std::vector<std::string> axesOf(const Declaration &declaration) const;
  std::optional<std::string> freeAxis(const Declaration &declaration) const;
  bool checkInwards(Offset at, const ValueInfo &value, const Scope &scope);
  bool checkRead(Offset at, const std::string &name, const Symbol &symbol);
  std::string axesText() const;

  // Statements (CheckerStatements.cpp)
  void walk(const std::vector<Statement> &body);
  void walkIf(const StatementIf &statement);
  std::optional<bool> optionCondition(const Expr &condition);
  void assign(const Assignment &assignment);
  bool mayAssign(const Assignment &assignment);
  bool takesScopeOfValue(const Symbol &symbol) const;
  bool checkStored(const Assignment &assignment, const ValueInfo &value, const Symbol &symbol);
  bool checkScope(const Assignment &assignment, const ValueInfo &value, const Symbol &symbol);

  // Expressions (CheckerExpressions.cpp, CheckerReductions.cpp, CheckerPlaces.cpp)
  std::optional<ValueInfo> check(const Expr &expr);
  std::optional<ValueInfo> checkNode(const Expr &expr);
  std::optional<ValueInfo> checkName(const Expr &expr, const Name &name);
  std::optional<ValueInfo> checkOptionEquality(const Expr &expr, const Apply &apply);
  std::optional<ValueInfo> checkApply(const Expr &expr, const Apply &apply);
  std::optional<ValueInfo> checkOperandFunction(const Expr &expr, const Apply &apply);
  std::optional<ValueInfo> checkRoundTo(const Apply &apply);
  std::optional<ValueInfo> checkPlace(const Expr &expr, const Apply &apply);
  std::optional<ValueInfo> checkAxisPlace(const Apply &apply);
  std::optional<ValueInfo> checkGather(const Expr &expr, const Gather &gather);
  std::optional<ValueInfo> checkGathered(const Expr &expr, const Gather &gather, Symbol &symbol);
  std::optional<ValueInfo> checkSwapPairs(const Expr &expr, const Apply &apply);
  std::optional<ValueInfo> checkDraw(const Expr &expr, const Apply &apply);
  std::optional<ValueInfo> checkSelect(const Select &select);
  std::optional<ValueInfo> checkReduce(const Expr &expr, const Reduce &reduce);
  std::optional<Scope> checkKept(const Expr &expr, const Reduce &reduce);
  std::optional<Scope> keptAxes(const Reduce &reduce);
  bool checkReduced(const Reduce &reduce, const ValueInfo &value, const Scope &kept);
  bool checkArity(const Expr &expr, const Apply &apply);
  bool checkArgument(const Apply &apply, size_t index, const std::vector<ValueInfo> &values);
  bool checkExponent(const Apply &apply, const std::vector<ValueInfo> &values);
  void reportUnknown(const Expr &expr, const std::string &name);
  const OptionDeclaration *optionWithValue(const std::string &value) const;

  // Calls (CheckerCalls.cpp)
  std::optional<ValueInfo> checkCall(const Expr &expr, const OpCall &call, const Expr *member);

  bool isScalarsOnly() const { return op.domain.kind == Domain::Kind::Scalars; }
  void error(Offset at, std::string text, std::string remedy = {});
  std::string lineOf(Offset at) const;

  const Op &op;
  Findings found;
  ResolvedOp resolved;
  std::map<std::string, Symbol> symbols;
  std::vector<std::string> declared; ///< operands, hypers and step, in the order of the text

  friend class CallChecker;
};

} // namespace fw::language
