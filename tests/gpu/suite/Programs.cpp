#include "tests/gpu/suite/Programs.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace suite {

std::vector<std::string> namesOf(const std::string &list) {
  std::vector<std::string> names;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');)
    names.push_back(name);
  return names;
}

Pairs pairsOf(const std::string &list) {
  Pairs pairs;
  for (const std::string &item : namesOf(list)) {
    size_t at = item.find('=');
    pairs.emplace_back(item.substr(0, at), item.substr(at + 1));
  }
  return pairs;
}

std::string ProgramRow::name() const {
  std::string name = op;
  for (const std::string &part : {options, dtypes, features})
    name += part.empty() ? "" : "_" + part;
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return name;
}

const std::vector<ProgramRow> &programRows() {
  static const std::vector<ProgramRow> rows = {
#define FW_PROFILE(...) ProgramRow{__VA_ARGS__},
#include "ops/profiles.def"
#undef FW_PROFILE
#define FW_PROGRAM(...) ProgramRow{__VA_ARGS__},
#include "tests/gpu/suite/programs.def"
#undef FW_PROGRAM
  };
  return rows;
}

const ProgramRow &programRow(const std::string &name) {
  for (const ProgramRow &row : programRows())
    if (row.name() == name)
      return row;
  std::fprintf(stderr, "no program of the suite is called %s\n", name.c_str());
  std::abort();
}

std::vector<std::string> targetsOf(const ProgramRow &row) {
  if (row.name() == "adamw")
    return {"sm_90", "sm_86", "sm_120"};
  if (row.name() == "scale") // for a device newer than NVRTC, which finds the newest it can
    return {"sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};
  return {"sm_90"};
}

} // namespace suite
