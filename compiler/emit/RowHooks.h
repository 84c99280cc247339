// The hooks of a struct for pattern `rows` that compute: what a row is reduced to, and what becomes
// of its elements.
#pragma once

#include "compiler/dialect/RowBounds.h"
#include "compiler/emit/RowMembers.h"
#include "compiler/emit/StructText.h"
#include "compiler/support/Error.h"

namespace fw::emit {

class RowHooks {
public:
  RowHooks(KernelParts parts, const fuse::RowPhases &phases, const RowMembers &members)
      : parts(parts), kernel(parts.kernel), phases(phases), members(members) {}

  Result<std::string> print();

private:
  /// Text of one exchange for each hook, by its number.
  struct Exchange {
    std::string refer, settle, map, rebase, finish;
  };
  Result<std::string> printBegin();
  Result<Exchange> printExchange(unsigned number);
  Result<std::string> printPass(fuse::EachOp each, const std::string &accumulators);
  Result<std::string> printRebase(const fuse::RowExchange &exchange);
  Result<std::string> printEmit();
  std::string printEnd();
  std::string printBounds();
  bool isBounded() { return kernel.getScheduleAttr().get("bounded") != 0; }
  std::string limitText(const fuse::RowLimit &limit);

  /// What is computed once a row at that time, below the results of the pass that ends then.
  Result<std::string> printOnRow(unsigned time, fuse::EachOp results, const std::string &values,
                                 bool averages = false);
  BodyPlace onRow();
  BodyPlace onElement(const std::string &accumulators);
  std::string gatherText(llvm::StringRef operand, const std::string &place);
  std::string printDraws(fuse::EachOp each);

  KernelParts parts;
  fuse::KernelOp kernel;
  const fuse::RowPhases &phases;
  const RowMembers &members;
};

} // namespace fw::emit
