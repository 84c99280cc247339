// The programs of an op over rows on a GPU for tensors that launches have met: one for each width
// and alignment.
#pragma once

#include "runtime/launch/RowGrid.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace fw::api {

struct ContextState;
struct ProgramState;

/// Free-threaded. A program that is found stays.
class RowVariants {
public:
  RowVariants() = default;
  RowVariants(const RowVariants &) = delete;
  ~RowVariants();

  /// The program of `base` for such rows: made for them, where one is known or can be compiled; in
  /// strict mode, where it cannot, one for rows of any width. `isCapturing`: of the launch's
  /// stream, for which nothing is compiled.
  Result<const ProgramState *> find(ContextState &context, const ProgramState &base,
                                    const launch::RowFacts &facts,
                                    const std::function<Result<bool>()> &isCapturing);

private:
  /// Links are only ever put in front, so readers need no lock.
  struct Known {
    launch::RowFacts facts;
    std::shared_ptr<const ProgramState> program;
    const Known *next;
  };
  const ProgramState *known(const launch::RowFacts &facts) const;
  const ProgramState *add(const launch::RowFacts &facts,
                          std::shared_ptr<const ProgramState> program);

  std::mutex mutex; ///< held while adding
  std::atomic<const Known *> first = nullptr;
};

} // namespace fw::api
