#include "compiler/language/Functions.h"

#include "compiler/language/Lexer.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>

namespace fw::language {

static constexpr FunctionInfo functions[] = {
#define FW_FUNCTION(id, ...) {__VA_ARGS__},
#include "compiler/language/functions.def"
};

static constexpr std::string_view reductions[] = {
#define FW_REDUCTION(id, spelling) spelling,
#include "compiler/language/reductions.def"
};

static constexpr RoleInfo roles[] = {
#define FW_ROLE(id, ...) {__VA_ARGS__},
#include "compiler/language/roles.def"
};

static constexpr Refusal refusals[] = {
#define FW_REFUSED(name, what, reason) {name, what, reason},
#include "compiler/language/refused.def"
};

/// Words that name a scope or a domain; `row`, `column` and `all` stand in other tables already.
static constexpr std::string_view scopeWords[] = {"tensor", "world", "group", "elements", "rows"};

size_t FunctionInfo::minArguments() const {
  return takes.ends_with('?') ? takes.size() - 2 : takes.size();
}

size_t FunctionInfo::maxArguments() const {
  return takes.ends_with('?') ? takes.size() - 1 : takes.size();
}

const FunctionInfo &info(Function function) { return functions[static_cast<size_t>(function)]; }

static bool isWord(std::string_view text) { return text[0] >= 'a' && text[0] <= 'z'; }

std::optional<Function> findFunction(std::string_view name) {
  for (size_t i = 0; i < std::size(functions); ++i)
    if (functions[i].spelling == name && isWord(name) && !isKeyword(name))
      return static_cast<Function>(i);
  return std::nullopt;
}

std::string_view spelling(ReduceKind kind) { return reductions[static_cast<size_t>(kind)]; }

std::optional<ReduceKind> findReduction(std::string_view name) {
  auto *it = std::find(std::begin(reductions), std::end(reductions), name);
  if (it == std::end(reductions))
    return std::nullopt;
  return static_cast<ReduceKind>(it - std::begin(reductions));
}

const RoleInfo &info(Role role) { return roles[static_cast<size_t>(role)]; }

std::optional<Role> findRole(std::string_view name) {
  for (size_t i = 0; i < std::size(roles); ++i)
    if (roles[i].name == name)
      return static_cast<Role>(i);
  return std::nullopt;
}

const Refusal *findRefusal(std::string_view name) {
  auto *it = std::find_if(std::begin(refusals), std::end(refusals),
                          [&](const Refusal &refusal) { return refusal.name == name; });
  return it != std::end(refusals) ? it : nullptr;
}

bool isReserved(std::string_view word) {
  bool isScope =
      std::find(std::begin(scopeWords), std::end(scopeWords), word) != std::end(scopeWords);
  return isScope || findRole(word) || findFunction(word) || findReduction(word) || isKeyword(word);
}

std::vector<std::string_view> callableNames() {
  std::vector<std::string_view> out;
  for (const FunctionInfo &function : functions)
    if (findFunction(function.spelling))
      out.push_back(function.spelling);
  out.insert(out.end(), std::begin(reductions), std::end(reductions));
  return out;
}

std::optional<std::string> nearest(std::string_view name,
                                   const std::vector<std::string_view> &candidates) {
  unsigned best = static_cast<unsigned>(std::max<size_t>(1, name.size() / 3)) + 1;
  std::optional<std::string> out;
  std::string lower = llvm::StringRef(name).lower(); // as all names of the language are
  for (std::string_view candidate : candidates) {
    unsigned distance = llvm::StringRef(lower).edit_distance(candidate, true, best);
    // Of equals, the one of the same length: a wrong letter is likelier than one too many.
    bool isLikelier =
        out && distance == best && out->size() != name.size() && candidate.size() == name.size();
    if (distance < best || isLikelier) {
      best = distance;
      out = std::string(candidate);
    }
  }
  return out;
}

} // namespace fw::language
