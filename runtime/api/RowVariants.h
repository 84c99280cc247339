// The programs of an op over rows on a GPU for tensors that launches have met: one for each width
// and alignment.
#pragma once

#include "runtime/launch/RowGrid.h"

#include <atomic>
#include <functional>
#include <map>
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

  /// The program of `base` for such rows: made for their width where one is known or is worth to be
  /// compiled, and one for rows of any width else; also in strict mode, where nothing is compiled.
  /// `isCapturing`: of the launch's stream, for which nothing is compiled.
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
  const Known *known(const launch::RowFacts &facts) const;
  bool isWorthItsOwn(const ContextState &context, const launch::RowFacts &facts);
  const ProgramState *add(const launch::RowFacts &facts,
                          std::shared_ptr<const ProgramState> program);

  /// Widths that come and go, as of sentences, would keep a program compiling: it is made for so
  /// many at once, and for others when they have come back so often.
  static constexpr size_t fewWidths = 16, often = 8;

  std::mutex mutex;                       ///< held while adding
  std::map<launch::RowFacts, size_t> met; ///< launches of rows without a kernel of their own
  std::atomic<const Known *> first = nullptr;
};

} // namespace fw::api
