#include "ops/Profiles.h"

#include <algorithm>
#include <set>
#include <span>

namespace fw {

namespace {
struct Row {
  std::string_view op, dtypes, options, features;
};
} // namespace

static constexpr Row compiled[] = {
#define FW_PROFILE(...) {__VA_ARGS__},
#include "ops/profiles.def"
#undef FW_PROFILE
};

static constexpr Row evaluated[] = {
#define FW_PROFILE(...) {__VA_ARGS__},
#include "ops/evaluated.def"
#undef FW_PROFILE
};

static std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> items;
  while (!list.empty()) {
    size_t comma = std::min(list.find(','), list.size());
    items.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return items;
}

static std::pair<std::string, std::string> keyAndValue(const std::string &item) {
  size_t equals = item.find('=');
  return {item.substr(0, equals), item.substr(equals + 1)};
}

static Profile read(const Row &row) {
  Profile profile;
  profile.op = row.op;
  for (const std::string &item : split(row.dtypes))
    profile.dtypes.push_back(keyAndValue(item));
  for (const std::string &item : split(row.options))
    profile.options.insert(keyAndValue(item));
  profile.features = split(row.features);
  return profile;
}

static std::vector<Profile> readAll(std::span<const Row> rows) {
  std::vector<Profile> profiles;
  for (const Row &row : rows)
    profiles.push_back(read(row));
  return profiles;
}

std::vector<Profile> shippedProfiles() { return readAll(compiled); }
std::vector<Profile> evaluatedProfiles() { return readAll(evaluated); }

std::vector<Profile> shippedProfiles(std::string_view op) {
  std::vector<Profile> profiles = shippedProfiles();
  for (Profile &profile : evaluatedProfiles())
    profiles.push_back(std::move(profile));
  std::erase_if(profiles, [&](const Profile &profile) { return profile.op != op; });
  return profiles;
}

std::vector<std::string> compiledOpNames() {
  std::set<std::string> names;
  for (const Row &row : compiled)
    names.emplace(row.op);
  return {names.begin(), names.end()};
}

} // namespace fw
