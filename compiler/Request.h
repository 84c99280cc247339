// A request: what to compile, as plain values; and its resolution against the op's text.
#pragma once

#include "compiler/support/Error.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fw {

namespace language {
struct Op;
}

/// The op text that a request compiles, parsed and checked. Shared by requests; immutable.
struct OpSource;
using OpPointer = std::shared_ptr<const OpSource>;

/// The arithmetic that a request asks for. `fast` will allow hardware approximations.
struct Numerics {
  bool flushToZero = false;
  bool fast = false;
};

/// What a caller asked for, unresolved. Keys of `dtypes` are operand names or roles; a name wins.
struct Request {
  OpPointer op;
  std::map<std::string, std::string> options;
  std::map<std::string, std::string> dtypes;
  std::set<std::string> absent; ///< optional operands that are not passed
  std::set<std::string> features;
  std::map<std::string, int64_t> schedule; ///< overrides of schedule decisions
  std::string target;                      ///< "cpu" or an arch, "sm_90"
  std::string scheduleArch;                ///< arch whose rules choose the schedule; empty: target
};

/// One operand of a resolved request; the order of every array of the C API.
struct RequestOperand {
  std::string name;
  std::string role;
  std::string dtype;
  bool read = false;
  bool written = false;
  bool optional = false;
  bool present = true;
  double neutral = 0; ///< value of an absent optional operand
  double init = 0;    ///< first value of a state
};

/// A hyper-parameter, or the step.
struct RequestScalar {
  std::string name;
  std::string kind; ///< real, bool, int
  bool isStep = false;
  std::optional<double> value; ///< default; the step has none
  std::string range;           ///< ">= 0", "in [0, 1)"; empty: any
};

struct ResolvedRequest {
  Request request;                              ///< with every option spelled out
  std::vector<RequestOperand> operands;         ///< op's operands, then those of features
  std::vector<RequestScalar> scalars;           ///< in declaration order
  std::string canonicalText;                    ///< readable, one fact a line
  std::string opHash;                           ///< sha256 of the token stream, hex
};

/// Checks `request` against its op, binds every dtype and option, and writes the canonical text.
Result<ResolvedRequest> resolve(const Request &request);

} // namespace fw
