// Which storage dtype each operand has in a request.
#pragma once

#include "compiler/language/OpInfo.h"

#include <utility>

namespace fw::language {

/// True for a name of dialect/dtypes.def.
bool isDtypeName(std::string_view name);
std::vector<std::string_view> dtypeNames();

/// Operand or role -> dtype, as a request gives it.
using DtypeBindings = std::vector<std::pair<std::string, std::string>>;

/// The dtype of each operand, in the order of OpInfo::operands. An operand's own name wins over its
/// role; what neither names has the default of its role (roles.def). A role means the operands with
/// a value per element; one with a value per tensor or in all is bound by its name, else f32. For a
/// repeated key the last wins.
Result<std::vector<std::string>> bindDtypes(const OpInfo &info, const DtypeBindings &bindings);

} // namespace fw::language
