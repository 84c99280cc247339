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

/// What the program of a request without facts, or with some, is made for.
RowFacts ownFacts(const ProgramState &base) {
  const Request &request = base.program->request.request;
  const bool isAligned = factOf(request, "aligned") > 1;
  const launch::Header &header = base.launchable.header;
  return {.columns = factOf(request, "columns"),
          .isAligned = isAligned,
          .isTogether = isAligned || factOf(request, "together") != 0,
          .isWide = factOf(request, "index") > 32,
          .axes = header.isRows ? factOf(request, "row_axes") : int64_t(header.axes.size()) - 1};
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

const RowVariants::Known *RowVariants::known(const RowFacts &facts) const {
  for (const Known *each = first.load(std::memory_order_acquire); each; each = each->next)
    if (each->facts == facts)
      return each;
  return nullptr;
}

const ProgramState *RowVariants::add(const RowFacts &facts,
                                     std::shared_ptr<const ProgramState> program) {
  std::lock_guard lock(mutex);
  if (const Known *other = known(facts))
    return other->program.get();
  const Known *added = new Known{facts, std::move(program), first.load()};
  first.store(added, std::memory_order_release);
  return added->program.get();
}

Result<const ProgramState *> RowVariants::find(ContextState &context, const ProgramState &base,
                                               const RowFacts &facts,
                                               const std::function<Result<bool>()> &isCapturing) {
  if (const Known *found = known(facts))
    return found->program.get();
  const RowFacts own = ownFacts(base);
  // Of itself a program keeps no owner: it would never end.
  const std::shared_ptr<const ProgramState> itself(std::shared_ptr<void>(), &base);
  if (own == facts)
    return add(facts, itself);
  Result<bool> capturing = isCapturing();
  if (!capturing)
    return capturing.takeError();
  if (*capturing) {
    for (const RowFacts &lesser : lesserFacts(facts))
      if (const Known *found = known(lesser))
        return found->program.get();
      else if (own == lesser)
        return &base;
    return Error{Code::USAGE,
                 "expected a launch with such tensors before the first one that is captured, got "
                 "rows of " +
                     std::to_string(facts.columns) + " elements that no kernel is loaded for",
                 "warm up first: launch it once before the capture"};
  }
  bool isMissing = false; // for good: strict mode compiles nothing
  if (isWorthItsOwn(context, facts)) {
    auto compiled = context.compiler.compile(requestFor(base, facts));
    if (compiled)
      return add(facts, context.stateOf(std::move(*compiled)).first);
    if (compiled.error().code != Code::STRICT_MISS)
      return compiled.takeError();
    isMissing = true;
  }
  std::optional<Error> first;
  for (const RowFacts &lesser : lesserFacts(facts)) {
    if (const Known *found = known(lesser))
      return isMissing ? add(facts, found->program) : found->program.get();
    if (own == lesser)
      return isMissing ? add(facts, itself) : &base;
    auto other = context.compiler.compile(requestFor(base, lesser));
    if (other) {
      auto program = context.stateOf(std::move(*other)).first;
      const ProgramState *added = add(lesser, program);
      return isMissing ? add(facts, program) : added;
    }
    if (!first)
      first = other.takeError();
    if (first->code != Code::STRICT_MISS)
      break;
  }
  return *first;
}

bool RowVariants::isWorthItsOwn(const ContextState &context, const RowFacts &facts) {
  if (context.compiler.settings().number(jit::Knob::row_widths) != 0) // "any"
    return false;
  std::lock_guard lock(mutex);
  return met.size() < fewWidths ? ++met[facts] > 0 : ++met[facts] >= often;
}

} // namespace fw::api
