// What is timed by default, and the figures to reach (bench/tables/cases.json).
#pragma once

#include "compiler/Request.h"

#include <string>
#include <vector>

namespace fw::bench {

/// Figures of PERFORMANCE 2.
struct Target {
  double floor, goal;
};

/// Null for an id without figures. Some ids have other figures for some lists.
const Target *findTarget(const std::string &id, const std::string &list);

/// The shipped requests that are timed, for no target yet: of one op or of all (""), and with an id
/// among `ids` or with any. USAGE for an id that no request has.
Result<std::vector<Request>> defaultRequests(const std::string &op,
                                             const std::vector<std::string> &ids);

/// The target that a request on so many elements, run in so many launches, is held against: "P1";
/// "" for none.
std::string targetId(const ResolvedRequest &request, uint64_t elements, uint32_t launches);

} // namespace fw::bench
