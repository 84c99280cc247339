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

static constexpr const char *fallback = "f32";

bool isDtypeName(std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::vector<std::string_view> dtypeNames() { return {std::begin(names), std::end(names)}; }

/// Operands, then their roles: what a binding may name.
static std::vector<std::string> keysOf(const OpInfo &opInfo) {
  std::vector<std::string> keys;
  for (const OperandInfo &operand : opInfo.operands)
    keys.push_back(operand.name);
  for (const OperandInfo &operand : opInfo.operands) {
    std::string role(info(operand.role).name);
    if (!operand.scope.isUniform() && std::find(keys.begin(), keys.end(), role) == keys.end())
      keys.push_back(role);
  }
  return keys;
}

static Result<void> checkBindings(const OpInfo &opInfo, const DtypeBindings &bindings) {
  std::vector<std::string> keys = keysOf(opInfo), dtypes(std::begin(names), std::end(names));
  for (const auto &[key, dtype] : bindings) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      return Error{Code::USAGE,
                   "expected an operand or a role of op " + quoted(opInfo.name) +
                       " as the key of a dtype, got " + quoted(key),
                   "its keys are " + alternatives(keys)};
    if (!isDtypeName(dtype))
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
  if (operand.scope.isUniform())
    return fallback;
  if (const std::string *dtype = find(bindings, role.name))
    return *dtype;
  if (isDtypeName(role.dtype))
    return role.dtype;
  for (const OperandInfo &lender : opInfo.operands)
    if (info(lender.role).name == role.dtype && !lender.scope.isUniform())
      return dtypeOf(opInfo, lender, bindings);
  return fallback;
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
