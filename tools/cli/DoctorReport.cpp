#include "tools/cli/DoctorReport.h"

#include "compiler/jit/Hash.h"
#include "tools/cli/Table.h"

#include <iostream>
#include <iterator>

namespace fw::cli {

namespace {

/// "139.8 GiB"
std::string sizeText(uint64_t bytes) {
  constexpr const char *units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  auto size = double(bytes);
  for (; size >= 1024 && unit + 1 < std::size(units); ++unit)
    size /= 1024;
  return decimal(size, unit ? 1 : 0) + " " + units[unit];
}

/// Numbers called ..._bytes are told in words.
constexpr std::string_view kBytes = "_bytes";

std::string label(const std::string &name) {
  return name.ends_with(kBytes) ? name.substr(0, name.size() - kBytes.size()) : name;
}

std::string factText(const std::string &name, const Json &fact) {
  if (fact.is_string())
    return fact.get<std::string>();
  if (name.ends_with(kBytes))
    return sizeText(fact.get<uint64_t>());
  std::string out;
  if (fact.is_object())
    for (const auto &[inner, value] : fact.items())
      out += (out.empty() ? "" : ", ") + label(inner) + " " + factText(inner, value);
  else if (fact.is_array())
    for (const Json &item : fact)
      out += (out.empty() ? "" : ", ") + factText(name, item);
  else
    out = fact.dump();
  return out;
}

/// A list of objects takes a line each.
void printFact(const std::string &name, const Json &fact) {
  bool isTable = fact.is_array() && !fact.empty() && fact.front().is_object();
  for (const Json &row : isTable ? fact : Json::array({fact}))
    std::cout << "  " << label(name) << ": " << factText(name, row) << "\n";
}

} // namespace

void print(const std::vector<Finding> &findings) {
  for (const Finding &finding : findings) {
    std::cout << finding.part << ": " << (finding.problems.empty() ? "ok" : "does not work")
              << "\n";
    for (const auto &[name, fact] : finding.facts.items())
      printFact(name, fact);
    for (const std::string &note : finding.notes)
      std::cout << "  note: " << note << "\n";
    for (const Error &problem : finding.problems)
      std::cout << "  problem: " << problem.text << "\n  remedy: " << problem.remedy << "\n";
  }
  std::cout.flush();
  for (const Finding &finding : findings)
    for (const Error &problem : finding.problems)
      std::cerr << problem.log << (problem.log.empty() || problem.log.back() == '\n' ? "" : "\n");
}

Json toJson(const std::vector<Finding> &findings) {
  Json parts = Json::array();
  for (const Finding &finding : findings) {
    Json problems = Json::array();
    for (const Error &problem : finding.problems)
      problems.push_back(
          {{"problem", problem.text}, {"remedy", problem.remedy}, {"log", problem.log}});
    parts.push_back({{"part", finding.part},
                     {"ok", finding.problems.empty()},
                     {"facts", finding.facts},
                     {"notes", finding.notes},
                     {"problems", std::move(problems)}});
  }
  return {{"build", jit::compilerBuildId()}, {"parts", parts}};
}

int exitCode(const std::vector<Finding> &findings) {
  for (const Finding &finding : findings)
    if (!finding.problems.empty())
      return int(finding.problems.front().code);
  return 0;
}

} // namespace fw::cli
