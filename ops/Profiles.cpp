#include "ops/Profiles.h"

#include <algorithm>

namespace fw {

namespace {
struct Row {
  std::string_view op, dtypes, options, features;
};
} // namespace

static constexpr Row rows[] = {
#define FW_PROFILE(...) {__VA_ARGS__},
#include "ops/profiles.def"
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

std::vector<Profile> shippedProfiles() {
  std::vector<Profile> profiles;
  for (const Row &row : rows)
    profiles.push_back(read(row));
  return profiles;
}

std::vector<Profile> shippedProfiles(std::string_view op) {
  std::vector<Profile> profiles = shippedProfiles();
  std::erase_if(profiles, [&](const Profile &profile) { return profile.op != op; });
  return profiles;
}

} // namespace fw
