// The inputs on which a program is verified: a pure function of the request, the schedule's vector
// and chunk, and a seed.
#pragma once

#include "compiler/Request.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fw::verify {

/// Kinds of numbers that arithmetic goes wrong on. MIXED changes from element to element.
enum class Values { NORMAL, TINY, HUGE_, TIES, SPECIAL, MIXED };

/// One call: a list of tensors with the data of every operand and the scalars of every entry.
struct Case {
  std::string name;
  uint64_t seed = 0;                ///< of its data
  std::vector<uint64_t> sizes;      ///< elements of each tensor of the list
  std::vector<unsigned> misaligned; ///< per operand: elements by which every base is off
  /// Storage words before the call: [operand][tensor][element], in the request's order. An operand
  /// that is only written holds words that a kernel must replace; an absent one is empty.
  std::vector<std::vector<std::vector<uint64_t>>> words;
  /// Rows of scalars in the request's order: one for the list, or one per tensor.
  std::vector<std::vector<double>> scalars;
};

struct CaseOptions {
  uint64_t vec;           ///< elements of a vector
  uint64_t chunk;         ///< elements of a chunk record
  uint64_t seed = 1;      ///< chooses the data
  uint64_t longBytes = 0; ///< memory that one more list reads and writes; 0: there is none
};

/// Vector and chunk of the schedule that `request` gets on `arch`. The request's own target may be
/// another: what a launch is cut into is awkward for every backend.
Result<CaseOptions> caseOptions(const Request &request, const std::string &arch, uint64_t seed);

/// Lists {1, V-1, V, chunk-1, chunk+1, three tensors, empty first and last}, bases that are one
/// element off and the long list, over all kinds of values.
std::vector<Case> makeCases(const ResolvedRequest &request, const CaseOptions &options);

} // namespace fw::verify
