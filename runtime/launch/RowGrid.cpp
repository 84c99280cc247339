#include "runtime/launch/RowGrid.h"

#include <algorithm>
#include <set>

namespace fw::launch {
namespace {

constexpr int64_t boundary = 16;           // bytes of the widest access
constexpr size_t mostAxes = 8;             // of facts.def
constexpr int64_t mostPlaces = UINT32_MAX; // of a record's sizes and columns

using Dimension = RowOperand::Dimension;

/// Neighbours with a common stride become one; those of size 1 vanish.
std::vector<Dimension> merged(const std::vector<Dimension> &dimensions) {
  std::vector<Dimension> out;
  for (const Dimension &each : dimensions) {
    if (each.size == 1)
      continue;
    if (!out.empty() && out.back().byteStride == each.size * each.byteStride)
      out.back() = {out.back().size * each.size, each.byteStride};
    else
      out.push_back(each);
  }
  return out;
}

/// The strides of one operand on the pieces that all operands together cut the axis into. `cuts`:
/// how many places lie behind each cut, ascending from 1.
std::vector<int64_t> stridesAt(const std::vector<Dimension> &dimensions,
                               const std::set<int64_t> &cuts) {
  std::vector<int64_t> strides;
  for (auto cut = cuts.rbegin(); cut != cuts.rend(); ++cut) {
    int64_t behind = 1, stride = 0;
    for (size_t d = dimensions.size(); d-- > 0; behind *= dimensions[d].size)
      if (*cut >= behind && *cut < behind * dimensions[d].size)
        stride = dimensions[d].byteStride * (*cut / behind);
    strides.push_back(stride);
  }
  return strides;
}

Error tooScattered(const std::string &got) {
  return {Code::USAGE, "expected rows that stand on at most 8 axes with common strides, got " + got,
          "make the tensors contiguous"};
}

/// The one axis `row` of an op over rows, cut where operands' strides change.
Result<RowGrid> gridOfRows(const Program &program, const RowEntry &entry) {
  std::vector<std::vector<Dimension>> dimensions;
  std::set<int64_t> cuts = {1};
  for (size_t k = 0; k < program.operands.size(); ++k) {
    const RowOperand &operand = entry.operand(k);
    dimensions.push_back(operand.axes.empty() ? std::vector<Dimension>()
                                              : merged(operand.axes.front()));
    int64_t behind = 1;
    for (size_t d = dimensions.back().size(); d-- > 1;)
      cuts.insert(behind *= dimensions.back()[d].size);
  }
  RowGrid grid;
  int64_t last = std::max<int64_t>(entry.rows(), 1);
  for (auto cut = cuts.rbegin(); cut != cuts.rend(); ++cut) {
    if (last % *cut != 0)
      return tooScattered("dimensions that divide " + std::to_string(last) + " rows and " +
                          std::to_string(*cut) + " in different ways");
    grid.sizes.push_back(last / *cut);
    last = *cut;
  }
  for (const std::vector<Dimension> &each : dimensions)
    grid.strides.push_back(stridesAt(each, cuts));
  return grid;
}

/// Axes that are named have one dimension each, or none: what is the same along them.
RowGrid gridOfAxes(const Program &program, const RowEntry &entry) {
  RowGrid grid;
  const std::span<const int64_t> lengths = entry.lengths();
  grid.sizes.assign(lengths.begin(), lengths.begin() + ptrdiff_t(entry.axesInFront()));
  for (size_t k = 0; k < program.operands.size(); ++k) {
    std::vector<int64_t> &strides = grid.strides.emplace_back(entry.axesInFront(), 0);
    const RowOperand &operand = entry.operand(k);
    for (size_t axis = 0; axis < operand.axes.size(); ++axis)
      for (const Dimension &dimension : operand.axes[axis])
        strides[axis] = dimension.size > 1 ? dimension.byteStride : 0;
  }
  return grid;
}

bool isMultiple(const RowGrid &grid, size_t k, int64_t of) {
  for (size_t axis = 0; axis < grid.sizes.size(); ++axis)
    if (grid.sizes[axis] > 1 && grid.strides[k][axis] % of != 0)
      return false;
  return true;
}

int64_t modulo(int64_t a, int64_t b) { return (a % b + b) % b; }

int64_t addressOf(const RowEntry &entry, size_t k) {
  return int64_t(reinterpret_cast<uintptr_t>(entry.operand(k).data));
}

/// What is streamed has a value for each column of some rows; what all rows share, for each column.
bool isStream(const Program &program, const RowEntry &entry, size_t k) {
  return program.operands[k].present && entry.spans(k) && program.operands[k].axes.size() > 1;
}

bool isAligned(const Program &program, const RowEntry &entry, const RowGrid &grid) {
  for (size_t k = 0; k < program.operands.size(); ++k)
    if (program.operands[k].present && entry.spans(k) &&
        (addressOf(entry, k) % boundary != 0 || !isMultiple(grid, k, boundary)))
      return false;
  return true;
}

/// Vectors have as many elements as the widest stream has in one access.
bool isTogether(const Program &program, const RowEntry &entry, const RowGrid &grid) {
  int64_t widest = 1;
  for (size_t k = 0; k < program.operands.size(); ++k)
    if (isStream(program, entry, k))
      widest = std::max<int64_t>(widest, program.operands[k].bytes);
  const int64_t vec = boundary / widest;
  std::vector<int64_t> first;
  for (size_t k = 0; k < program.operands.size(); ++k) {
    if (!isStream(program, entry, k))
      continue;
    const int64_t bytes = program.operands[k].bytes;
    if (addressOf(entry, k) % bytes != 0)
      return false;
    std::vector<int64_t> offsets = {modulo(addressOf(entry, k) / bytes, vec)};
    for (size_t axis = 0; axis < grid.sizes.size(); ++axis)
      offsets.push_back(grid.sizes[axis] > 1 ? modulo(grid.strides[k][axis] / bytes, vec) : 0);
    if (first.empty())
      first = offsets;
    else if (offsets != first)
      return false;
  }
  return true;
}

/// A kernel divides by the sizes of all axes but the first one.
Result<void> checkSizes(const RowGrid &grid, int64_t columns) {
  if (columns > mostPlaces)
    return Error{Code::USAGE,
                 "expected rows of at most " + std::to_string(mostPlaces) +
                     " elements on a GPU, got " + std::to_string(columns),
                 "run the op on the CPU"};
  for (size_t axis = 1; axis < grid.sizes.size(); ++axis)
    if (grid.sizes[axis] > mostPlaces)
      return Error{Code::USAGE,
                   "expected at most " + std::to_string(mostPlaces) +
                       " places on an axis behind others on a GPU, got " +
                       std::to_string(grid.sizes[axis]),
                   "split the tensors"};
  return {};
}

} // namespace

Result<RowGrid> gridOf(const Program &program, const RowEntry &entry) {
  Result<RowGrid> grid = program.header.isRows ? gridOfRows(program, entry)
                                               : Result<RowGrid>(gridOfAxes(program, entry));
  if (!grid)
    return grid;
  if (grid->sizes.size() > mostAxes)
    return tooScattered(std::to_string(grid->sizes.size()) + " axes");
  if (Result<void> fits = checkSizes(*grid, entry.columns()); !fits)
    return fits.takeError();
  RowFacts &facts = grid->facts;
  facts.columns = entry.columns();
  facts.isAligned = isAligned(program, entry, *grid);
  facts.isTogether = facts.isAligned || isTogether(program, entry, *grid);
  facts.isWide = entry.rows() > INT32_MAX;
  facts.axes = int64_t(grid->sizes.size());
  return grid;
}

} // namespace fw::launch
