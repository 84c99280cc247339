// The tables of bench/tables, which scripts read as files.
#pragma once

#include <nlohmann/json.hpp>

#include <string_view>

namespace fw::bench {

/// bench/tables/<name>; parsed once.
const nlohmann::ordered_json &embedded(std::string_view name);

} // namespace fw::bench
