// Runs a program over the cases and holds every stored word against the evaluator.
#pragma once

#include "compiler/Reference.h"
#include "tools/verify/Arena.h"
#include "tools/verify/Cases.h"
#include "tools/verify/Stages.h"

#include <functional>
#include <span>

namespace fw::verify {

/// Runs the program under test on the arena's memory.
using Executor = std::function<Result<void>(const Case &data, const Arena &arena)>;

/// One of several ways to run the same program.
struct Way {
  std::string name;
  Executor execute;
};

struct OutputReport {
  std::string operand;
  std::string dtype;
  evaluator::Comparison worst; ///< over all cases
  std::string caseName;        ///< where the worst element stands
  uint64_t caseSeed = 0;       ///< of that case's data
  size_t differingBits = 0;    ///< cases whose words are not the bit reference's
};

struct Report {
  std::vector<OutputReport> outputs; ///< the written operands, in order
  std::vector<std::string> failures; ///< one sentence each; empty: verified
  size_t cases = 0;
  size_t elements = 0;
  bool hasBits = true; ///< false for an op that reduces: the order of its sums is the backend's

  bool ok() const { return failures.empty(); }
};

/// An error is one of the executor or the reference; wrong numbers are failures of the report.
Result<Report> verify(const ResolvedRequest &request, const CaseOptions &options,
                      const Executor &execute);
/// Every case runs each way, on memory of its own; the reference is evaluated once.
Result<Report> verify(const ResolvedRequest &request, const CaseOptions &options,
                      std::span<const Way> ways);

/// The data of a case as the numbers that its storage words stand for; views of itself.
struct DecodedCase {
  DecodedCase(const ResolvedRequest &request, const Case &data);
  DecodedCase(const DecodedCase &) = delete;
  DecodedCase &operator=(const DecodedCase &) = delete;

  std::vector<std::vector<std::vector<double>>> numbers;
  evaluator::Inputs inputs; ///< views of `numbers`
};

} // namespace fw::verify
