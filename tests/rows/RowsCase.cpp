#include "tests/rows/RowsCase.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "templates/vocab/bf16.h"
#include "templates/vocab/f16.h"
#include "templates/vocab/fp8.h"

namespace fw::rows {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr size_t line = 128, guardBytes = 64 * line;
constexpr char untouched = 0x5A;

template <class T> double decodeAs(const char *p) {
  typename Codec<T>::Bits bits;
  memcpy(&bits, p, sizeof(bits));
  return Codec<T>::decode(bits);
}
template <class T> void encodeAs(char *p, double x) {
  const auto bits = Codec<T>::encode(static_cast<typename Codec<T>::Real>(x));
  memcpy(p, &bits, sizeof(bits));
}

struct Storage {
  const char *name;
  size_t bytes;
  int mantissa, smallest; ///< half an ulp of 1, and of the smallest number, as powers of two
  double (*decode)(const char *);
  void (*encode)(char *, double);
};
// Of f64 a whole ulp: what is expected has been rounded, too.
constexpr Storage storages[] = {{"bf16", 2, -8, -134, decodeAs<bf16>, encodeAs<bf16>},
                                {"f16", 2, -11, -25, decodeAs<f16>, encodeAs<f16>},
                                {"f32", 4, -24, -134, decodeAs<float>, encodeAs<float>},
                                {"f64", 8, -52, -1074, decodeAs<double>, encodeAs<double>},
                                {"e4m3fn", 1, -4, -10, decodeAs<e4m3fn>, encodeAs<e4m3fn>}};

const Storage &storageOf(const std::string &dtype) {
  return *std::ranges::find(storages, dtype, &Storage::name);
}

/// Half an ulp of `x` in a dtype, at least half of its smallest step.
double storageError(const std::string &dtype, double x) {
  const Storage &storage = storageOf(dtype);
  return std::max(std::ldexp(std::abs(x), storage.mantissa), std::ldexp(1.0, storage.smallest));
}

size_t upTo(size_t multiple, size_t n) { return (n + multiple - 1) / multiple * multiple; }

} // namespace

char *RowsCase::Operand::at(size_t row, size_t i) const {
  int64_t offset = origin;
  for (size_t a = kAxes; a-- > 0; row /= sizes[a])
    offset += static_cast<int64_t>(row % sizes[a]) * strides[a];
  return memory.get() + guard + shift * bytes + offset + static_cast<int64_t>(i * bytes);
}
double RowsCase::Operand::get(size_t row, size_t i) const {
  return storageOf(dtype).decode(at(row, i));
}
void RowsCase::Operand::set(size_t row, size_t i, double x) const {
  storageOf(dtype).encode(at(row, i), x);
}

RowsCase::RowsCase(const Spec &spec, const emulator::BundledKernel &kernel,
                   std::vector<Shape> shapes, Numbers numbers, Guards guards)
    : spec(spec), kernel(kernel), numbers(numbers), guards(guards) {
  for (Shape shape : shapes)
    add(shape);
}

/// The order of an operand's rows in memory, from the slowest axis on, and the axis it runs
/// backwards on.
struct RowsCase::Places {
  std::vector<size_t> axes;
  size_t backwards = kAxes;
};

RowsCase::Operand RowsCase::make(const std::string &dtype, Operand::Kind kind, bool isOutput,
                                 const Shape &shape, const Places &places) const {
  Operand made{.dtype = dtype, .kind = kind, .isOutput = isOutput};
  made.bytes = storageOf(dtype).bytes;
  // Streams start alike, or each with an offset of its own.
  made.shift = kind == Operand::ROW ? 0 : kind == Operand::COLUMN ? shape.shift % 2 : shape.shift;
  if (kind == Operand::STREAM && isOutput && !spec.facts.together)
    ++made.shift;
  made.sizes = sizesOf(shape);
  made.count = kind == Operand::ROW ? 1 : shape.columns;
  size_t stride = made.bytes * (kind == Operand::ROW ? 1 : shape.stride), last = 0;
  for (size_t k = places.axes.size(); k-- > 0;) {
    const size_t axis = places.axes[k], size = made.sizes[axis], span = (size - 1) * stride;
    const bool isBackwards = axis == places.backwards;
    made.strides[axis] = static_cast<int64_t>(isBackwards ? 0 - stride : stride);
    made.origin += isBackwards ? static_cast<int64_t>(span) : 0;
    last += span;
    stride *= size;
  }
  made.guard = guards == Guards::NONE ? 0 : guardBytes + shape.columns / line * line * made.bytes;
  made.size = 2 * made.guard + made.shift * made.bytes + last + made.count * made.bytes;
  char *memory = static_cast<char *>(::operator new(made.size, std::align_val_t(line)));
  memset(memory, untouched, made.size);
  made.memory = {memory, [](char *p) { ::operator delete(p, std::align_val_t(line)); }};
  return made;
}

/// Rows of ops with several axes are `rows` on the last of them.
std::array<size_t, RowsCase::kAxes> RowsCase::sizesOf(const Shape &shape) const {
  return hasAxes() ? std::array<size_t, kAxes>{2, 3, shape.rows / 6}
                   : std::array<size_t, kAxes>{1, 1, shape.rows};
}

void RowsCase::add(Shape shape) {
  if (shape.stride == 0)
    shape.stride = shape.columns;
  if (hasAxes()) {
    shape.rows *= 6;
    // Rows that are next to each other in one operand are not in another.
    shape.stride = spec.facts.together ? upTo(line, shape.stride) : shape.stride;
  }
  Tensor tensor{shape, {}};
  const auto operand = [&](const std::string &dtype, Operand::Kind kind, bool isOutput,
                           const Places &places) {
    tensor.operands.push_back(make(dtype, kind, isOutput, shape, places));
  };
  const Places every{{0, 1, 2}}, none;
  const std::string real = spec.isDouble() ? "f64" : "f32";
  if (spec.op == "biased_softmax") {
    operand(spec.in, Operand::STREAM, false, {{0, 2, 1}});
    operand(spec.in, Operand::STREAM, false, {{0, 2}, 2});
    operand(real, Operand::ROW, false, {{1}});
  } else {
    operand(spec.in, Operand::STREAM, false, every);
    if (spec.op == "softmax_backward" || spec.op == "rms_norm_backward")
      operand(spec.in, Operand::STREAM, false, every);
    if (spec.op.find("norm") != std::string::npos || spec.op == "affine")
      operand(spec.column, Operand::COLUMN, false, none);
    if (spec.op == "rms_norm_backward" || spec.op == "affine")
      operand(real, Operand::ROW, false, every);
    if (spec.op == "layer_norm")
      operand(spec.column, Operand::COLUMN, false, none);
  }
  operand(spec.out, Operand::STREAM, true, every);
  for (int k = spec.op == "rms_norm" ? 1 : spec.op == "layer_norm" ? 2 : 0; k > 0; --k)
    operand(real, Operand::ROW, true, every);
  fill(tensor);
  tensors.push_back(std::move(tensor));
}

void RowsCase::fill(Tensor &tensor) {
  const auto next = [&] {
    state = state * 1664525 + 1013904223;
    return (state >> 8) * 0x1p-23 - 1;
  };
  for (const Operand &operand : tensor.operands)
    for (size_t row = 0; row < tensor.shape.rows && !operand.isOutput; ++row) {
      if (operand.kind == Operand::COLUMN && row > 0)
        break;
      for (size_t i = 0; i < operand.count; ++i) {
        double x = next() * 4;
        if (numbers == Numbers::OFFSET && operand.kind == Operand::STREAM)
          x = 100 + next();
        if (numbers == Numbers::INFINITE && (row == 0 || next() > 0.5))
          x = -infinity;
        operand.set(row, i, x);
      }
    }
}

/// A record of the parameter; the number of blocks with those of the tensor.
u32 RowsCase::record(const Tensor &tensor, const RowsLayout &layout, u32 firstBlock,
                     char *out) const {
  const size_t axes = hasAxes() ? kAxes : 1;
  const auto put = [&](size_t at, auto value) { memcpy(out + at, &value, sizeof(value)); };
  for (size_t k = 0; k < tensor.operands.size(); ++k) {
    const Operand &operand = tensor.operands[k];
    put(RowsLayout::addresses + 8 * k, reinterpret_cast<u64>(operand.at(0, 0)));
    for (size_t a = 0; a < axes; ++a)
      put(layout.strides + 8 * (k * axes + a), operand.strides[kAxes - axes + a]);
    if (operand.isOutput)
      memset(operand.memory.get(), untouched, operand.size);
  }
  const std::array<size_t, kAxes> sizes = sizesOf(tensor.shape);
  for (size_t a = 0; a < axes; ++a)
    put(layout.sizes + 4 * a, static_cast<u32>(sizes[kAxes - axes + a]));
  put(layout.rows, static_cast<u64>(tensor.shape.rows));
  put(layout.firstBlock, firstBlock);
  put(layout.row, u32{1}); // row 0 is another group's
  const size_t each = static_cast<size_t>(kernel.rowsPerBlock);
  return firstBlock + static_cast<u32>((tensor.shape.rows + each - 1) / each);
}

template <class Real> std::string RowsCase::runWith(Orders orders) {
  std::vector<char> parameter(kernel.parameterBytes, 0);
  const RowsLayout layout(static_cast<u32>(kernel.operands), hasAxes() ? kAxes : 1,
                          static_cast<u32>(kernel.slots), sizeof(Real));
  const auto put = [&](size_t at, auto value) { memcpy(&parameter[at], &value, sizeof(value)); };
  u32 blocks = 0;
  for (size_t r = 0; r < tensors.size(); ++r)
    blocks = record(tensors[r], layout, blocks,
                    &parameter[RowsLayout::records + r * layout.recordBytes]);
  const bool hasEps = spec.op == "rms_norm" || spec.op == "layer_norm";
  const std::array<Real, 2> scalars = {-1000, hasEps ? eps : scale};
  // Each way to hand scalars over once.
  put(RowsLayout::scalars, orders.seed % 2 ? static_cast<const Real *>(nullptr) : scalars.data());
  put(RowsLayout::policy, u64{L2::NORMAL});
  put(RowsLayout::columns, static_cast<u32>(tensors[0].shape.columns));
  put(RowsLayout::recordCount, static_cast<u32>(tensors.size()));
  put(layout.numbers, scalars);
  // Blocks of a ring take any number of turns.
  const bool isRing = spec.overrides.contains("ring");
  const u32 grid = isRing ? 1 + static_cast<u32>(orders.seed) % blocks : blocks;
  const emulator::Launch launch{.grid = grid,
                                .threads = static_cast<unsigned>(kernel.threads),
                                .seed = orders.seed,
                                .resident = orders.resident};
  return emulator::run(launch, [&] { kernel.enter(parameter.data()); }).value_or("");
}

std::string RowsCase::run(Orders orders) {
  return spec.isDouble() ? runWith<double>(orders) : runWith<float>(orders);
}

std::string RowsCase::compareRow(const Tensor &tensor, size_t row) const {
  std::vector<std::vector<Expected>> expected;
  expectRow(tensor, row, expected); // RowsExpected.cpp
  size_t output = 0;
  for (const Operand &operand : tensor.operands) {
    if (!operand.isOutput)
      continue;
    const std::vector<Expected> &values = expected[output++];
    for (size_t i = 0; i < operand.count; ++i) {
      const auto [value, bound] = values[i];
      const double got = operand.get(row, i);
      const bool bothNan = got != got && value != value;
      const double allowed = bound * 1.01 + storageError(operand.dtype, std::abs(value) + bound);
      if (!bothNan && !(std::abs(got - value) <= allowed))
        return "row " + std::to_string(row) + ", column " + std::to_string(i) + " of output " +
               std::to_string(output) + ": expected " + std::to_string(value) + " within " +
               std::to_string(allowed) + ", got " + std::to_string(got);
    }
  }
  return "";
}

/// What lies before and between the rows of outputs must not change.
std::string RowsCase::compareGaps(const Tensor &tensor) const {
  for (const Operand &operand : tensor.operands) {
    if (!operand.isOutput)
      continue;
    const char *from = operand.memory.get();
    for (size_t row = 0; row < tensor.shape.rows; ++row) {
      const char *begin = operand.at(row, 0);
      if (std::any_of(from, begin, [](char c) { return c != untouched; }))
        return "memory before row " + std::to_string(row) + " changed";
      from = operand.at(row, operand.count);
    }
    if (std::any_of(from, static_cast<const char *>(operand.memory.get()) + operand.size,
                    [](char c) { return c != untouched; }))
      return "memory behind the last row changed";
  }
  return "";
}

std::string RowsCase::compare() const {
  for (const Tensor &tensor : tensors) {
    for (size_t row = 0; row < tensor.shape.rows; ++row)
      if (std::string wrong = compareRow(tensor, row); !wrong.empty())
        return wrong;
    if (std::string wrong = compareGaps(tensor); !wrong.empty())
      return wrong;
  }
  return "";
}

std::string RowsCase::outputs() const {
  std::string all;
  for (const Tensor &tensor : tensors)
    for (const Operand &operand : tensor.operands)
      if (operand.isOutput)
        all.append(operand.memory.get(), operand.size);
  return all;
}

} // namespace fw::rows
