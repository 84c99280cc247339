#include "tools/bench/Embedded.h"

#include <map>
#include <mutex>

namespace fw::bench {

namespace {

struct EmbeddedText {
  const char *name;
  const char *text;
};

constexpr EmbeddedText texts[] = {
#include "tools/bench/tables.inc"
};

} // namespace

const nlohmann::ordered_json &embedded(std::string_view name) {
  static const std::map<std::string_view, nlohmann::ordered_json> tables = [] {
    std::map<std::string_view, nlohmann::ordered_json> parsed;
    for (const EmbeddedText &text : texts)
      parsed[text.name] = nlohmann::ordered_json::parse(text.text);
    return parsed;
  }();
  return tables.at(name);
}

} // namespace fw::bench
