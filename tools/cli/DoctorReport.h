// What `doctor` found out about one part of the machine, and how it is told.
#pragma once

#include "tools/cli/Session.h"

namespace fw::cli {

struct Finding {
  std::string part;
  Json facts = Json::object();
  std::vector<std::string> notes = {}; ///< works, but could be better
  std::vector<Error> problems = {};    ///< does not work
};

void print(const std::vector<Finding> &findings);
Json toJson(const std::vector<Finding> &findings);

/// Of the first problem.
int exitCode(const std::vector<Finding> &findings);

} // namespace fw::cli
