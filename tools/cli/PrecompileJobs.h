// The programs of one `precompile`, and what is told of them.
#pragma once

#include "tools/cli/Session.h"

#include <optional>
#include <vector>

namespace fw::cli {

/// One request for one arch, or without an op the arch's kernel of scalar programs; and what became
/// of it.
struct Job {
  Request request;
  std::shared_ptr<const CompiledKernels> program = nullptr;
  std::optional<Error> error = std::nullopt;
  bool stored = false; ///< record and kernels are in the cache at the end

  std::string name() const { return request.op.op ? request.op->name : "scalars"; }
  const char *status() const {
    return error                                 ? "failed"
           : !stored                             ? "not stored"
           : program->origin == Origin::COMPILED ? "compiled"
                                                 : "cached";
  }
};

/// The table, or JSON, on stdout.
void printJobs(const std::vector<Job> &jobs, bool asJson);
void printTotals(const std::vector<Job> &jobs, size_t archs, double seconds);

/// What went wrong, on stderr, and the exit code.
int reportJobs(const std::vector<Job> &jobs, Compiler &compiler);

} // namespace fw::cli
