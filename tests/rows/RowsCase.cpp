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
constexpr double unit = 0x1p-24; // half an ulp of 1 in f32
constexpr size_t line = 128, guardBytes = 64 * line;
constexpr float eps = 1e-5f, scale = 0.75f;
constexpr char untouched = 0x5A;

template <class T> double decodeAs(const char *p) {
  typename Codec<T>::Bits bits;
  memcpy(&bits, p, sizeof(bits));
  return Codec<T>::decode(bits);
}
template <class T> void encodeAs(char *p, double x) {
  const auto bits = Codec<T>::encode(static_cast<float>(x));
  memcpy(p, &bits, sizeof(bits));
}

/// Half an ulp of `x` in a dtype, at least half of its smallest step.
double storageError(const std::string &dtype, double x) {
  const int mantissa = dtype == "bf16" ? 8 : dtype == "f16" ? 11 : dtype == "e4m3fn" ? 4 : 24;
  const int smallest = dtype == "f16" ? -25 : dtype == "e4m3fn" ? -10 : -134;
  return std::max(std::ldexp(std::abs(x), -mantissa), std::ldexp(1.0, smallest));
}

} // namespace

double RowsCase::Operand::get(size_t row, size_t i) const {
  const char *p = at(row, i);
  return dtype == "bf16"  ? decodeAs<bf16>(p)
         : dtype == "f16" ? decodeAs<f16>(p)
         : dtype == "f32" ? decodeAs<float>(p)
                          : decodeAs<e4m3fn>(p);
}
void RowsCase::Operand::set(size_t row, size_t i, double x) const {
  char *p = at(row, i);
  dtype == "bf16"  ? encodeAs<bf16>(p, x)
  : dtype == "f16" ? encodeAs<f16>(p, x)
  : dtype == "f32" ? encodeAs<float>(p, x)
                   : encodeAs<e4m3fn>(p, x);
}

RowsCase::RowsCase(const Spec &spec, const emulator::BundledKernel &kernel,
                   std::vector<Shape> shapes, Numbers numbers, Guards guards)
    : spec(spec), kernel(kernel), numbers(numbers), guards(guards) {
  for (Shape shape : shapes)
    add(shape);
}

RowsCase::Operand RowsCase::make(const std::string &dtype, Operand::Kind kind, bool isOutput,
                                 const Shape &shape) const {
  Operand made{.dtype = dtype, .kind = kind, .isOutput = isOutput};
  made.bytes = dtype == "f32" ? 4 : dtype == "e4m3fn" ? 1 : 2;
  // Streams start alike, or each with an offset of its own.
  made.shift = kind == Operand::ROW ? 0 : kind == Operand::COLUMN ? shape.shift % 2 : shape.shift;
  if (kind == Operand::STREAM && isOutput && !spec.facts.together)
    ++made.shift;
  made.rowBytes = kind == Operand::COLUMN ? 0
                  : kind == Operand::ROW  ? made.bytes
                                          : made.bytes * shape.stride;
  made.count = kind == Operand::ROW ? 1 : shape.columns;
  const size_t lastRow = kind == Operand::COLUMN ? 0 : (shape.rows - 1) * made.rowBytes;
  made.guard = guards == Guards::NONE ? 0 : guardBytes + shape.columns / line * line * made.bytes;
  made.size = 2 * made.guard + made.shift * made.bytes + lastRow + made.count * made.bytes;
  char *memory = static_cast<char *>(::operator new(made.size, std::align_val_t(line)));
  memset(memory, untouched, made.size);
  made.memory = {memory, [](char *p) { ::operator delete(p, std::align_val_t(line)); }};
  return made;
}

void RowsCase::add(Shape shape) {
  if (shape.stride == 0)
    shape.stride = shape.columns;
  Tensor tensor{shape, {}};
  const auto operand = [&](const std::string &dtype, Operand::Kind kind, bool isOutput) {
    tensor.operands.push_back(make(dtype, kind, isOutput, shape));
  };
  operand(spec.in, Operand::STREAM, false);
  if (spec.op == "softmax_backward" || spec.op == "rms_norm_backward")
    operand(spec.in, Operand::STREAM, false);
  if (spec.op == "rms_norm" || spec.op == "layer_norm" || spec.op == "rms_norm_backward")
    operand(spec.column, Operand::COLUMN, false);
  if (spec.op == "rms_norm_backward")
    operand("f32", Operand::ROW, false);
  if (spec.op == "layer_norm")
    operand(spec.column, Operand::COLUMN, false);
  operand(spec.out, Operand::STREAM, true);
  for (int k = spec.op == "rms_norm" ? 1 : spec.op == "layer_norm" ? 2 : 0; k > 0; --k)
    operand("f32", Operand::ROW, true);
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

std::string RowsCase::run(Orders orders) {
  std::vector<char> parameter(kernel.parameterBytes, 0);
  const RowsLayout layout(static_cast<u32>(kernel.operands), static_cast<u32>(kernel.slots), 4);
  const auto put = [&](size_t at, auto value) { memcpy(&parameter[at], &value, sizeof(value)); };
  u32 blocks = 0;
  for (size_t r = 0; r < tensors.size(); ++r) {
    const Tensor &tensor = tensors[r];
    const size_t record = RowsLayout::records + r * layout.recordBytes;
    for (size_t k = 0; k < tensor.operands.size(); ++k) {
      const Operand &operand = tensor.operands[k];
      put(record + RowsLayout::addresses + 8 * k, reinterpret_cast<u64>(operand.at(0, 0)));
      put(record + layout.strides + 8 * k, static_cast<u64>(operand.rowBytes));
      if (operand.isOutput)
        memset(operand.memory.get(), untouched, operand.size);
    }
    put(record + layout.rows, static_cast<u64>(tensor.shape.rows));
    put(record + layout.firstBlock, blocks);
    put(record + layout.row, u32{1}); // row 0 is another group's
    const size_t each = static_cast<size_t>(kernel.rowsPerBlock);
    blocks += static_cast<u32>((tensor.shape.rows + each - 1) / each);
  }
  const std::array scalars = {-1000.0f,
                              spec.op == "rms_norm" || spec.op == "layer_norm" ? eps : scale};
  // Each way to hand scalars over once.
  put(RowsLayout::scalars, orders.seed % 2 ? static_cast<const float *>(nullptr) : scalars.data());
  put(RowsLayout::policy, u64{L2::NORMAL});
  put(RowsLayout::columns, static_cast<u32>(tensors[0].shape.columns));
  put(RowsLayout::recordCount, static_cast<u32>(tensors.size()));
  put(layout.numbers, scalars);
  const emulator::Launch launch{.grid = blocks,
                                .threads = static_cast<unsigned>(kernel.threads),
                                .seed = orders.seed,
                                .resident = orders.resident};
  return emulator::run(launch, [&] { kernel.enter(parameter.data()); }).value_or("");
}

/// What the outputs of a row must be, in order. `terms`: roundings on the way of one element
/// through the sums of a thread and of the trees.
void RowsCase::expectRow(const Tensor &tensor, size_t row,
                         std::vector<std::vector<Expected>> &out) const {
  const size_t n = tensor.shape.columns;
  const auto &operands = tensor.operands;
  const double terms = static_cast<double>(n) / std::min<double>(n, kernel.threads) + 40;
  const double sumError = terms * unit;
  std::vector<double> x(n), other(n);
  for (size_t i = 0; i < n; ++i)
    x[i] = operands[0].get(row, i);
  std::vector<Expected> main(n);
  if (spec.op == "rms_norm" || spec.op == "layer_norm") {
    double mean = 0, meanAbs = 0, squares = 0, spread = 0;
    const bool isLayer = spec.op == "layer_norm";
    for (double v : x)
      mean += v / n, meanAbs += std::abs(v) / n;
    const double meanError = isLayer ? meanAbs * (sumError + 2 * unit) : 0;
    if (!isLayer)
      mean = 0;
    for (double v : x) {
      const double d = v - mean;
      squares += d * d / n;
      spread += 2 * std::abs(d) * (meanError + std::abs(d) * unit) / n + meanError * meanError / n;
    }
    const double variance = squares + eps, root = 1 / std::sqrt(variance);
    const double relative = (squares * sumError + spread) / variance / 2 + 6 * unit;
    for (size_t i = 0; i < n; ++i) {
      const double w = operands[1].get(0, i), b = isLayer ? operands[2].get(0, i) : 0;
      const double d = x[i] - mean, y = d * root * w + b;
      main[i] = {y, std::abs(d * root * w) * (relative + 4 * unit) +
                        meanError * root * std::abs(w) * 2 + std::abs(y) * unit};
    }
    out.push_back(main);
    if (isLayer)
      out.push_back({{mean, meanError}});
    out.push_back({{root, root * relative}});
  } else if (spec.op == "softmax") {
    const size_t last = spec.causal ? row % n + 1 : n;
    double max = -infinity, sum = 0, spread = 0;
    for (size_t i = 0; i < last; ++i)
      max = std::max(max, x[i] * scale);
    // An argument is a rounded product and a rounded difference; exp is within its own bound.
    const auto error = [&](double v) {
      const double own = spec.fast ? 8 + 4 * std::abs(v * scale - max) : 4;
      return std::isfinite(v) ? unit * (3 * std::abs(v * scale) + 3 * std::abs(max) + own) : 0;
    };
    for (size_t i = 0; i < last; ++i) {
      const double e = std::exp(x[i] * scale - max);
      sum += e, spread += e * error(x[i]);
    }
    for (size_t i = 0; i < n; ++i) {
      const double y = i < last ? std::exp(x[i] * scale - max) / sum : 0;
      main[i] = {y, y * (error(x[i]) + spread / sum + sumError + 40 * unit)};
    }
    out.push_back(main);
  } else if (spec.op == "centred") {
    double mean = 0, meanAbs = 0, size = 0;
    for (double v : x)
      mean += v / n, meanAbs += std::abs(v) / n;
    for (double v : x)
      size = std::max(size, std::abs(v - mean));
    // Both differences are off by the mean's error and a rounding.
    const double meanError = meanAbs * (sumError + 2 * unit);
    for (size_t i = 0; i < n; ++i) {
      const double d = x[i] - mean, y = scale * d / size;
      const double both = (meanError + unit * size) * (1 + std::abs(d) / size) / size;
      main[i] = {y, scale * both + std::abs(y) * 4 * unit};
    }
    out.push_back(main);
  } else if (spec.op == "rms_norm_backward") {
    double dot = 0, size = 0;
    const double rstd = operands[3].get(row, 0);
    for (size_t i = 0; i < n; ++i) {
      other[i] = operands[1].get(row, i) * operands[2].get(0, i);
      dot += x[i] * other[i] / n, size += std::abs(x[i] * other[i]) / n;
    }
    for (size_t i = 0; i < n; ++i) {
      const double by = std::abs(x[i] * rstd * rstd);
      main[i] = {scale * rstd * (other[i] - x[i] * rstd * rstd * dot),
                 scale * std::abs(rstd) *
                     (by * size * (sumError + 8 * unit) + 4 * unit * std::abs(other[i]))};
    }
    out.push_back(main);
  } else {
    double dot = 0, size = 0;
    for (size_t i = 0; i < n; ++i) {
      other[i] = operands[1].get(row, i);
      dot += x[i] * other[i], size += std::abs(x[i] * other[i]);
    }
    for (size_t i = 0; i < n; ++i)
      main[i] = {scale * x[i] * (other[i] - dot),
                 std::abs(scale * x[i]) *
                     (size * sumError + 4 * unit * (std::abs(other[i]) + std::abs(dot)))};
    out.push_back(main);
  }
}

std::string RowsCase::compareRow(const Tensor &tensor, size_t row) const {
  std::vector<std::vector<Expected>> expected;
  expectRow(tensor, row, expected);
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
