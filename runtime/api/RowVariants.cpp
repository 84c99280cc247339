#include "runtime/api/RowVariants.h"

#include "compiler/dialect/ScheduleTable.h"
#include "runtime/api/Handles.h"

namespace fw::api {

using launch::RowFacts;

namespace {

/// The request of `base` with such facts beside those that it was made with.
Request requestFor(const ProgramState &base, const RowFacts &facts) {
  Request request = base.program->request.request;
  const bool isNamed = facts.columns <= findFact("columns")->most;
  request.facts["columns"] = isNamed ? facts.columns : 0;
  request.facts["aligned"] = facts.isAligned ? 16 : 1;
  request.facts["together"] = facts.isTogether && !facts.isAligned;
  request.facts["index"] = facts.isWide ? 64 : 32;
  if (base.launchable.header.isRows)
    request.facts["row_axes"] = facts.axes;
  return request;
}

/// What else serves such rows, from the best on: any width of the same alignment, then any rows.
std::vector<RowFacts> lesserFacts(RowFacts facts) {
  std::vector<RowFacts> lesser;
  facts.columns = 0;
  lesser.push_back(facts);
  if (facts.isAligned) {
    facts.isAligned = false; // they are together then
    lesser.push_back(facts);
  }
  facts.isTogether = false;
  lesser.push_back(facts);
  return lesser;
}

} // namespace

RowVariants::~RowVariants() {
  for (const Known *each = first; each;)
    delete std::exchange(each, each->next);
}

const ProgramState *RowVariants::known(const RowFacts &facts) const {
  for (const Known *each = first.load(std::memory_order_acquire); each; each = each->next)
    if (each->facts == facts)
      return each->program.get();
  return nullptr;
}

const ProgramState *RowVariants::add(const RowFacts &facts,
                                     std::shared_ptr<const ProgramState> program) {
  std::lock_guard lock(mutex);
  if (const ProgramState *other = known(facts))
    return other;
  const Known *added = new Known{facts, std::move(program), first.load()};
  first.store(added, std::memory_order_release);
  return added->program.get();
}

Result<const ProgramState *> RowVariants::find(ContextState &context, const ProgramState &base,
                                               const RowFacts &facts,
                                               const std::function<Result<bool>()> &isCapturing) {
  if (const ProgramState *program = known(facts))
    return program;
  Result<bool> capturing = isCapturing();
  if (!capturing)
    return capturing.takeError();
  if (*capturing) {
    for (const RowFacts &lesser : lesserFacts(facts))
      if (const ProgramState *program = known(lesser))
        return program;
    return Error{Code::USAGE,
                 "expected a launch with such tensors before the first one that is captured, got "
                 "rows of " +
                     std::to_string(facts.columns) + " elements that no kernel is loaded for",
                 "warm up first: launch it once before the capture"};
  }
  auto compiled = context.compiler.compile(requestFor(base, facts));
  if (compiled)
    return add(facts, context.stateOf(std::move(*compiled)).first);
  if (compiled.error().code != Code::STRICT_MISS)
    return compiled.takeError();
  for (const RowFacts &lesser : lesserFacts(facts))
    if (auto other = context.compiler.compile(requestFor(base, lesser)))
      return add(facts, context.stateOf(std::move(*other)).first);
  return compiled.takeError();
}

} // namespace fw::api
