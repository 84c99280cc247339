// The tables of functions, reductions and roles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fw::language {

enum class Function : uint8_t {
#define FW_FUNCTION(id, ...) id,
#include "compiler/language/functions.def"
};

enum class Gives : uint8_t { Joined, Real, Int, Bool };

struct FunctionInfo {
  std::string_view spelling;
  std::string_view takes;
  Gives gives;

  size_t minArguments() const;
  size_t maxArguments() const;
};

const FunctionInfo &info(Function function);
/// The function called `name`, if there is one; operators are not called by name.
std::optional<Function> findFunction(std::string_view name);

enum class ReduceKind : uint8_t {
#define FW_REDUCTION(id, spelling) id,
#include "compiler/language/reductions.def"
};

std::string_view spelling(ReduceKind kind);
std::optional<ReduceKind> findReduction(std::string_view name);

enum class Role : uint8_t {
#define FW_ROLE(id, ...) id,
#include "compiler/language/roles.def"
};

struct RoleInfo {
  std::string_view name;
  bool assigned;
  bool loaded;
  bool scalar;
  const char *axes;
  const char *dtype;
};

const RoleInfo &info(Role role);
std::optional<Role> findRole(std::string_view name);

/// Why the language refuses what `name` stands for; null if it does not.
struct Refusal {
  std::string_view name, what, reason;
};
const Refusal *findRefusal(std::string_view name);

/// True for the words that an op file may not use as names of its own.
bool isReserved(std::string_view word);
/// Names that a call may use, in the order of the tables.
std::vector<std::string_view> callableNames();
/// The candidate nearest to `name`, if one is near enough to be a likely slip.
std::optional<std::string> nearest(std::string_view name,
                                   const std::vector<std::string_view> &candidates);

} // namespace fw::language
