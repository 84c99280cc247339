#include "compiler/language/OperandDtypes.h"

#include "compiler/dialect/Dtypes.h"
#include "compiler/language/Text.h"

#include <algorithm>

namespace fw::language {

static constexpr std::string_view names[] = {
#define FW_DTYPE(...) Dtype{__VA_ARGS__}.name,
#include "compiler/dialect/dtypes.def"
#undef FW_DTYPE
};

static constexpr std::string_view intNames[] = {
#define FW_INT_DTYPE(...) IntDtype{__VA_ARGS__}.name,
#include "compiler/dialect/int_dtypes.def"
#undef FW_INT_DTYPE
};

/// What no binding names has this dtype, by its type; a real one where its role has none.
static const char *fallbackOf(Type type) {
  return type == Type::Bool ? "bool" : type == Type::Int ? "i64" : "f32";
}

/// The dtypes that can store a type: reals, bools or ints.
static std::vector<std::string> dtypesFor(Type type) {
  if (type == Type::Bool)
    return {std::begin(intNames), std::begin(intNames) + 1};
  if (type == Type::Int)
    return {std::begin(intNames) + 1, std::end(intNames)};
  return {std::begin(names), std::end(names)};
}

bool isDtypeName(std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::vector<std::string_view> dtypeNames() { return {std::begin(names), std::end(names)}; }

/// Whether a role as key means this operand: one with values per element or place, of reals.
static bool takesRole(const OperandInfo &operand) {
  return !operand.scope.isUniform() && operand.type == Type::Real;
}

/// Operands, then their roles: what a binding may name.
static std::vector<std::string> keysOf(const OpInfo &opInfo) {
  std::vector<std::string> keys;
  for (const OperandInfo &operand : opInfo.operands)
    keys.push_back(operand.name);
  for (const OperandInfo &operand : opInfo.operands) {
    std::string role(info(operand.role).name);
    if (takesRole(operand) && std::find(keys.begin(), keys.end(), role) == keys.end())
      keys.push_back(role);
  }
  return keys;
}

static Result<void> checkBindings(const OpInfo &opInfo, const DtypeBindings &bindings) {
  std::vector<std::string> keys = keysOf(opInfo);
  for (const auto &[key, dtype] : bindings) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      return Error{Code::USAGE,
                   "expected an operand or a role of op " + quoted(opInfo.name) +
                       " as the key of a dtype, got " + quoted(key),
                   "its keys are " + alternatives(keys)};
    const OperandInfo *operand = opInfo.operand(key);
    const Type type = operand ? operand->type : Type::Real;
    std::vector<std::string> dtypes = dtypesFor(type);
    if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end() && type != Type::Real)
      return Error{Code::USAGE,
                   "expected a dtype of " + std::string(spelling(type)) + "s for " + quoted(key) +
                       ", got " + quoted(dtype),
                   "its dtypes are " + alternatives(dtypes)};
    if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end())
      return Error{Code::USAGE, "expected a dtype for " + quoted(key) + ", got " + quoted(dtype),
                   "dtypes are " + alternatives(dtypes)};
  }
  return {};
}

static const std::string *find(const DtypeBindings &bindings, std::string_view key) {
  auto found = std::find_if(bindings.rbegin(), bindings.rend(),
                            [&](const auto &binding) { return binding.first == key; });
  return found != bindings.rend() ? &found->second : nullptr;
}

/// The dtype of `operand`. A default that is a role leads to the first operand of that role, whose
/// own default is a dtype.
static std::string dtypeOf(const OpInfo &opInfo, const OperandInfo &operand,
                           const DtypeBindings &bindings) {
  const RoleInfo &role = info(operand.role);
  if (const std::string *dtype = find(bindings, operand.name))
    return *dtype;
  if (!takesRole(operand))
    return fallbackOf(operand.type);
  if (const std::string *dtype = find(bindings, role.name))
    return *dtype;
  if (isDtypeName(role.dtype))
    return role.dtype;
  for (const OperandInfo &lender : opInfo.operands)
    if (info(lender.role).name == role.dtype && takesRole(lender))
      return dtypeOf(opInfo, lender, bindings);
  return fallbackOf(operand.type);
}

Result<std::vector<std::string>> bindDtypes(const OpInfo &opInfo, const DtypeBindings &bindings) {
  if (Result<void> checked = checkBindings(opInfo, bindings); !checked)
    return checked.takeError();
  std::vector<std::string> dtypes;
  for (const OperandInfo &operand : opInfo.operands)
    dtypes.push_back(dtypeOf(opInfo, operand, bindings));
  return dtypes;
}

} // namespace fw::language
