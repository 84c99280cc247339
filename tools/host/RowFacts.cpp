#include "tools/host/RowFacts.h"

#include "compiler/dialect/Dtypes.h"

#include <algorithm>

namespace fw::host {

namespace {

constexpr int64_t boundary = 16; // of facts.def

/// What has a value for each column.
bool spansRow(const ResolvedRequest &request, const RequestOperand &operand) {
  return operand.present &&
         std::ranges::find(operand.axes, request.op.info.axes.back()) != operand.axes.end();
}

/// Rows of every operand begin on boundaries, if the first ones do.
bool isWhole(const ResolvedRequest &request, int64_t width) {
  return std::ranges::all_of(request.operands, [&](const RequestOperand &operand) {
    return !spansRow(request, operand) || width * storageBytes(operand.dtype) % boundary == 0;
  });
}

/// No operand has the same rows for several places of another.
bool sharesNoRows(const ResolvedRequest &request) {
  return std::ranges::all_of(request.operands, [&](const RequestOperand &operand) {
    return !spansRow(request, operand) || operand.axes.size() == 1 ||
           operand.axes == request.op.info.axes;
  });
}

} // namespace

bool isOverAxes(const ResolvedRequest &request) { return !request.op.info.axes.empty(); }

std::vector<Facts> factsOfWidth(const ResolvedRequest &request, int64_t width) {
  std::vector<Facts> all;
  if (isWhole(request, width))
    all.push_back({{"columns", width}, {"aligned", boundary}});
  all.push_back({{"columns", width}, {"together", 1}});
  all.push_back({{"columns", width}});
  return all;
}

Facts factsOfDense(const ResolvedRequest &request, int64_t width) {
  if (isWhole(request, width))
    return {{"columns", width}, {"aligned", boundary}};
  return sharesNoRows(request) ? Facts{{"columns", width}, {"together", 1}}
                               : Facts{{"columns", width}};
}

} // namespace fw::host
