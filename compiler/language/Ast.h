// The syntax tree of an op file. It holds the whole language; what a version does not compile yet
// is refused by the checks, not by the parser. Nodes are owned by their Op and never change after
// parsing.
#pragma once

#include "compiler/language/Functions.h"
#include "compiler/language/Lexer.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace fw::language {

enum class Type : uint8_t { Real, Bool, Int };
std::string_view spelling(Type type);
/// "a real", "an int"
std::string withArticle(Type type);

// --- Expressions ---------------------------------------------------------------------------------

struct Expr;

/// 2, 0.5, 1e-8, inf. `isInt`: written without point and exponent.
struct Number {
  double value;
  bool isInt;
};

struct Truth {
  bool value;
};

/// A declared or assigned name, an option, or a value of an option.
struct Name {
  std::string name;
};

/// An argument that is no value: an axis, a dtype or a mode.
struct Word {
  std::string word;
};

/// A function or an operator applied to its arguments.
struct Apply {
  Function function;
  std::vector<const Expr *> arguments;
};

/// if condition then ifTrue else ifFalse
struct Select {
  const Expr *condition;
  const Expr *ifTrue;
  const Expr *ifFalse;
};

/// One axis of a scope: `name`, or `name/divisor`, one value for so many places on the axis. The
/// name `1` is an axis of which the operand has only one place (broadcast).
struct Axis {
  std::string name;
  uint32_t divisor = 1;
  Offset at = 0;
};

/// sum[kept](value); `group(k)` is kept as the axis "group" with divisor k.
struct Reduce {
  ReduceKind kind;
  std::optional<std::vector<Axis>> kept;
  const Expr *value;
};

/// A call of another op: positional arguments first.
struct OpCall {
  struct Argument {
    std::string name; ///< empty for a positional argument
    const Expr *value;
  };
  std::string op;
  std::vector<Argument> arguments;
};

/// call.name: one of several outputs of a call
struct Member {
  const Expr *call;
  std::string name;
};

/// operand[i, j]
struct Gather {
  std::string operand;
  std::vector<const Expr *> indices;
};

struct Expr {
  Offset at;   ///< of the name, literal or operator
  unsigned id; ///< dense within the op: side tables are vectors
  std::variant<Number, Truth, Name, Word, Apply, Select, Reduce, OpCall, Member, Gather> node;

  template <class T> const T *as() const { return std::get_if<T>(&node); }
};

// --- Statements ----------------------------------------------------------------------------------

/// option name = value | value; the first value is the default
struct OptionDeclaration {
  Offset at;
  std::string name;
  std::vector<std::string> values;

  /// True for the values false and true.
  bool isBool() const;
};

/// Bounds of a hyper; an absent bound is no bound.
struct Range {
  struct Bound {
    double value;
    bool open;
  };
  std::optional<Bound> low, high;

  bool contains(double value) const;
  bool isEmpty() const;
  /// ">= 0", "in [0, 1)"
  std::string print() const;
};

/// A default, an initial or a neutral value.
struct Literal {
  double value; ///< 0 or 1 for a bool
  Type type;
};

/// One name that a role word declares.
struct Declaration {
  Offset at;
  Role role;
  std::string name;
  std::optional<std::vector<Axis>> axes;
  Type type = Type::Real;
  Offset typeAt = 0; ///< 0 if the type is not written
  std::optional<Literal> value;
  Offset valueAt = 0;
  bool optional = false;
  Offset optionalAt = 0;
  std::optional<Range> range;
  Offset rangeAt = 0;
};

struct Assignment {
  Offset at;
  std::string name;
  const Expr *value;
  std::string label; ///< E1, if the comment behind it starts so
  std::string text;  ///< the statement as it is written, on one line
};

struct Statement;

/// if condition { then } else { otherwise }; over options only
struct StatementIf {
  Offset at;
  const Expr *condition;
  std::vector<Statement> then, otherwise;
};

struct Statement {
  std::variant<OptionDeclaration, Declaration, Assignment, StatementIf> node;

  template <class T> const T *as() const { return std::get_if<T>(&node); }
};

// --- Ops and files -------------------------------------------------------------------------------

/// What an op runs over. The axes before `;` are outer: what follows is what one row spans. An op
/// over scalars, `over []`, has no tensors.
struct Domain {
  enum class Kind : uint8_t { Elements, Rows, Axes, Scalars };
  Kind kind;
  Offset at;
  std::vector<std::string> axes;
  size_t outer;
};

struct Op {
  Offset at;
  std::string name;
  std::string summary; ///< the comment lines right above
  Domain domain;
  std::vector<Statement> body;
  std::vector<std::unique_ptr<const Expr>> nodes;
  const Source *source = nullptr;                ///< what the places refer to
  const Token *first = nullptr, *last = nullptr; ///< its tokens, `last` not among them
  std::map<std::string, const Op *> callees;     ///< by the name of the call; those that exist
  std::string hash; ///< identity of the op: of its tokens and those of the ops it calls
};

/// The value of an expression that is an int literal, with or without a sign.
std::optional<int64_t> literalInt(const Expr &expr);

} // namespace fw::language
