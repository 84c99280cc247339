// A request: what to compile, as plain values; and its resolution against the op's text.
#pragma once

#include "compiler/language/OpFile.h"
#include "compiler/support/Error.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fw {

/// What a caller asked for, unresolved. Keys of `dtypes` are operand names or roles; a name wins.
struct Request {
  language::OpHandle op;
  language::OptionValues options;
  std::map<std::string, std::string> dtypes;
  std::set<std::string> absent; ///< optional operands that are not passed
  std::set<std::string> features;
  std::map<std::string, int64_t> facts;    ///< of the tensors of an op over rows (facts.def)
  std::map<std::string, int64_t> schedule; ///< overrides of schedule decisions
  std::string target = "cpu";              ///< "cpu" or an arch, "sm_90"
  std::string scheduleArch;                ///< arch whose rules choose the schedule; empty: target
};

/// One operand of a resolved request; the order of every array of the C API.
struct RequestOperand {
  std::string name;
  std::string role;
  std::string dtype;
  std::string scope = "element"; ///< or "tensor", "all": one value per tensor, or per plan; or axes
  bool read = false;
  bool written = false;
  bool optional = false;
  bool present = true;
  double neutral = 0; ///< value of an absent optional operand
  double init = 0;    ///< first value of a state
  /// In an op over axes, the axes of each tensor: see language::OperandInfo.
  std::vector<std::string> axes = {};
};

/// A hyper-parameter, or the step.
struct RequestScalar {
  std::string name;
  std::string kind; ///< real, bool, int
  bool isStep = false;
  std::optional<double> value; ///< default; the step has none
  std::string range;           ///< ">= 0", "in [0, 1)"; empty: any
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool lowOpen = false; ///< the bound itself is refused
  bool highOpen = false;
};

struct ResolvedRequest {
  Request request;                      ///< with every option spelled out
  language::ResolvedOp op;              ///< with the options folded
  std::vector<RequestOperand> operands; ///< op's operands, then those of features
  std::vector<RequestScalar> scalars;   ///< hypers in declaration order, then the step
  std::string canonicalText;            ///< readable, one fact a line
  std::string opHash;                   ///< sha256 of the token stream, hex
};

/// The value of a fact, given or not.
int64_t factOf(const Request &request, std::string_view name);

/// "adamw for sm_90: p=f32 g=bf16 m=f32 v=f32 +copy", for logs and messages.
std::string describe(const ResolvedRequest &request);

/// Features that the op's operands allow, in the table's order.
std::vector<std::string> validFeatures(const language::Op &op);

/// Checks `request` against its op, binds every dtype and option, and writes the canonical text.
Result<ResolvedRequest> resolve(const Request &request);

} // namespace fw
