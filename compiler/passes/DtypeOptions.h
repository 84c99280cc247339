// "name=dtype,..." as passes take it.
#pragma once

#include "compiler/support/Error.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fw::passes {

using DtypeBindings = std::vector<std::pair<std::string, std::string>>;

/// The pairs of "p=f32,g=bf16", in order; USAGE for another shape, an unknown dtype or a name
/// twice.
Result<DtypeBindings> parseDtypes(std::string_view text);

/// The dtype bound to `name`, or `otherwise`.
std::string dtypeOr(const DtypeBindings &bindings, std::string_view name,
                    std::string_view otherwise);

} // namespace fw::passes
