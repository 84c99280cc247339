#include "runtime/launch/RowGrid.h"

#include <algorithm>
#include <functional>

namespace fw::launch {
namespace {

constexpr int64_t boundary = 16;           // bytes of the widest access
constexpr size_t mostAxes = 8;             // of facts.def
constexpr int64_t mostPlaces = UINT32_MAX; // of a record's sizes and columns

using Dimension = RowOperand::Dimension;
using Dimensions = llvm::SmallVector<Dimension, 4>;
/// How many places of the axis `row` lie behind each cut; the longest way first, 1 at the end.
using Cuts = llvm::SmallVector<int64_t, 4>;

/// Neighbours with a common stride become one; those of size 1 vanish.
Dimensions merged(std::span<const Dimension> dimensions) {
  Dimensions out;
  for (const Dimension &each : dimensions) {
    if (each.size == 1)
      continue;
    if (!out.empty() && out.back().byteStride == each.size * each.byteStride)
      out.back() = {out.back().size * each.size, each.byteStride, each.axis};
    else
      out.push_back(each);
  }
  return out;
}

void addCuts(Cuts &cuts, std::span<const Dimension> dimensions) {
  int64_t behind = 1;
  for (size_t d = dimensions.size(); d-- > 1;) {
    behind *= dimensions[d].size;
    auto place = std::ranges::lower_bound(cuts, behind, std::greater());
    if (*place != behind)
      cuts.insert(place, behind);
  }
}

/// The strides of one operand on the pieces that all operands together cut the axis into.
void addStrides(RowGrid &grid, std::span<const Dimension> dimensions, const Cuts &cuts) {
  for (int64_t cut : cuts) {
    int64_t behind = 1, stride = 0;
    for (size_t d = dimensions.size(); d-- > 0; behind *= dimensions[d].size)
      if (cut >= behind && cut < behind * dimensions[d].size)
        stride = dimensions[d].byteStride * (cut / behind);
    grid.strides.push_back(stride);
  }
}

Error tooScattered(const std::string &got) {
  return {Code::USAGE, "expected rows that stand on at most 8 axes with common strides, got " + got,
          "make the tensors contiguous"};
}

/// The one axis `row` of an op over rows, cut where operands' strides change.
Result<RowGrid> gridOfRows(const Program &program, const RowEntry &entry) {
  llvm::SmallVector<Dimensions, 6> dimensions;
  Cuts cuts = {1};
  for (size_t k = 0; k < program.operands.size(); ++k)
    addCuts(cuts, dimensions.emplace_back(merged(entry.operand(k).dimensions)));
  RowGrid grid;
  int64_t last = std::max<int64_t>(entry.rows(), 1);
  for (int64_t cut : cuts) {
    if (last % cut != 0)
      return tooScattered("dimensions that divide " + std::to_string(last) + " rows and " +
                          std::to_string(cut) + " in different ways");
    grid.sizes.push_back(last / cut);
    last = cut;
  }
  for (const Dimensions &each : dimensions)
    addStrides(grid, each, cuts);
  return grid;
}

/// Axes that are named have one dimension each, or none: what is the same along them.
RowGrid gridOfAxes(const Program &program, const RowEntry &entry) {
  RowGrid grid;
  const size_t axes = entry.axesInFront();
  grid.sizes.append(entry.lengths().begin(), entry.lengths().begin() + ptrdiff_t(axes));
  grid.strides.resize(program.operands.size() * axes);
  for (size_t k = 0; k < program.operands.size(); ++k)
    for (const Dimension &dimension : entry.operand(k).dimensions)
      grid.strides[k * axes + dimension.axis] = dimension.size > 1 ? dimension.byteStride : 0;
  return grid;
}

bool isMultiple(const RowGrid &grid, size_t k, int64_t of) {
  const std::span<const int64_t> strides = grid.stridesOf(k);
  for (size_t axis = 0; axis < strides.size(); ++axis)
    if (grid.sizes[axis] > 1 && strides[axis] % of != 0)
      return false;
  return true;
}

int64_t modulo(int64_t a, int64_t b) { return (a % b + b) % b; }

int64_t addressOf(const RowEntry &entry, size_t k) {
  return int64_t(reinterpret_cast<uintptr_t>(entry.operand(k).data));
}

/// What is streamed has a value for each column of some rows; what all rows share, for each column.
bool isStream(const Program &program, const RowEntry &entry, size_t k) {
  return entry.operand(k).spans && program.operands[k].axes.size() > 1;
}

bool isAligned(const Program &program, const RowEntry &entry, const RowGrid &grid) {
  for (size_t k = 0; k < program.operands.size(); ++k)
    if (entry.operand(k).spans &&
        (addressOf(entry, k) % boundary != 0 || !isMultiple(grid, k, boundary)))
      return false;
  return true;
}

/// Vectors have as many elements as the widest stream has in one access.
int64_t elementsOfVector(const Program &program, const RowEntry &entry) {
  int64_t widest = 1;
  for (size_t k = 0; k < program.operands.size(); ++k)
    if (isStream(program, entry, k))
      widest = std::max<int64_t>(widest, program.operands[k].bytes);
  return boundary / widest;
}

bool isTogether(const Program &program, const RowEntry &entry, const RowGrid &grid) {
  const int64_t vec = elementsOfVector(program, entry);
  llvm::SmallVector<int64_t, 8> first, offsets;
  for (size_t k = 0; k < program.operands.size(); ++k) {
    if (!isStream(program, entry, k))
      continue;
    const int64_t bytes = program.operands[k].bytes;
    if (addressOf(entry, k) % bytes != 0)
      return false;
    offsets = {modulo(addressOf(entry, k) / bytes, vec)};
    for (size_t axis = 0; axis < grid.sizes.size(); ++axis)
      offsets.push_back(grid.sizes[axis] > 1 ? modulo(grid.stridesOf(k)[axis] / bytes, vec) : 0);
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
