// Skeletons of pattern `rows` with their sample ops, against double loops within the rounding
// errors of their order: every width, alignment, stride and number of rows; and mutants of the
// skeletons, each of which must be noticed.
#include <gtest/gtest.h>

#include "tests/rows/RowsCase.h"

extern "C" const fw::emulator::BundledKernel fw_bundle_rows_kernels[], fw_bundle_rows_mutants[];

namespace fw::rows {
namespace {

const char *const kernelLines[] = {
#include "tests/rows/kernels.inc"
};
const char *const mutantLines[] = {
#include "tests/rows/mutants.inc"
};

struct Kernel {
  Spec spec;
  const emulator::BundledKernel &compiled;
};

Kernel kernelAt(size_t k) { return {*parseSpec(kernelLines[k]), fw_bundle_rows_kernels[k]}; }

size_t upTo(size_t multiple, size_t n) { return (n + multiple - 1) / multiple * multiple; }

/// Places that a kernel can be given, for one width: rows of a whole number of vectors apart, or
/// dense ones and others that start anywhere.
std::vector<Shape> shapesFor(const Spec &spec, size_t columns) {
  constexpr size_t VECTOR = 16;
  if (spec.facts.aligned)
    return {{1, columns, 0, upTo(VECTOR, columns)},
            {5, columns, VECTOR, upTo(VECTOR, columns) + VECTOR}};
  return {{1, columns, 0, 0}, {5, columns, 1, 0}, {9, columns, 3, columns + 3}};
}

std::string check(const Kernel &kernel, std::vector<Shape> shapes, Numbers numbers = Numbers::USUAL,
                  Orders orders = {}, Guards guards = Guards::NONE) {
  RowsCase data(kernel.spec, kernel.compiled, std::move(shapes), numbers, guards);
  std::string fault = data.run(orders);
  return fault.empty() ? data.compare() : fault;
}

TEST(Rows, EveryKernelOfAWidthOfItsOwn) {
  for (size_t k = 0; k < std::size(kernelLines); ++k) {
    const Kernel kernel = kernelAt(k);
    const size_t columns = static_cast<size_t>(kernel.spec.facts.columns);
    const size_t rows = static_cast<size_t>(kernel.compiled.rowsPerBlock);
    EXPECT_EQ(kernel.compiled.columns, kernel.spec.facts.columns) << kernelLines[k];
    if (columns == 0)
      continue;
    u64 seed = 1;
    for (Shape shape : shapesFor(kernel.spec, columns)) {
      EXPECT_EQ(check(kernel, {shape}, Numbers::USUAL, {seed++}), "") << kernelLines[k];
      // A block that is full, and one row more.
      if (columns <= 512) {
        shape.rows = rows + 1;
        EXPECT_EQ(check(kernel, {shape}, Numbers::OFFSET, {seed++}), "") << kernelLines[k];
      }
    }
  }
}

TEST(Rows, EveryWidthUpTo300AndAroundTheLimits) {
  for (size_t k = 0; k < std::size(kernelLines); ++k) {
    const Kernel kernel = kernelAt(k);
    if (kernel.spec.facts.columns != 0)
      continue;
    const bool isFirst = k < 4; // one of each op
    for (size_t columns = 1; columns <= 300; columns += isFirst ? 1 : 13)
      EXPECT_EQ(check(kernel, {{2, columns, columns % 8, columns + columns % 3}},
                      columns % 2 ? Numbers::USUAL : Numbers::OFFSET, {columns}),
                "")
          << kernelLines[k] << " " << columns;
    for (size_t columns : {511, 2047, 2048, 2049, 4090, 4103, 8193, 65537})
      EXPECT_EQ(check(kernel, {{2, columns, columns % 8, 0}}), "")
          << kernelLines[k] << " " << columns;
  }
}

TEST(Rows, NothingButMinusInfinity) {
  for (size_t k = 0; k < std::size(kernelLines); ++k) {
    const Kernel kernel = kernelAt(k);
    if (kernel.spec.op != "softmax" || kernel.spec.facts.columns > 512 || kernel.spec.causal)
      continue;
    const size_t columns = kernel.spec.facts.columns ? size_t(kernel.spec.facts.columns) : 77;
    Shape shape = shapesFor(kernel.spec, columns).back();
    shape.rows = 6;
    EXPECT_EQ(check(kernel, {shape}, Numbers::INFINITE), "") << kernelLines[k];
  }
}

TEST(Rows, ListsOfTensors) {
  for (size_t k = 0; k < std::size(kernelLines); ++k) {
    const Kernel kernel = kernelAt(k);
    const size_t columns = static_cast<size_t>(kernel.spec.facts.columns);
    if (columns > 300)
      continue;
    std::vector<Shape> shapes = shapesFor(kernel.spec, columns ? columns : 41);
    const std::vector<Shape> again = shapes;
    shapes.insert(shapes.end(), again.begin(), again.end());
    shapes[0].rows = static_cast<size_t>(kernel.compiled.rowsPerBlock) * 2 + 1;
    EXPECT_EQ(check(kernel, shapes, Numbers::USUAL, {k + 1, 3}), "") << kernelLines[k];
  }
}

TEST(Rows, OrdersGiveTheSameBits) {
  for (size_t k = 0; k < std::size(kernelLines); k += 5) {
    const Kernel kernel = kernelAt(k);
    const size_t columns = kernel.spec.facts.columns ? size_t(kernel.spec.facts.columns) : 2111;
    if (columns > 5000)
      continue;
    const std::vector<Shape> shapes = {shapesFor(kernel.spec, columns).back()};
    RowsCase first(kernel.spec, kernel.compiled, shapes);
    ASSERT_EQ(first.run(), "");
    for (u64 seed = 2; seed < 6; ++seed) {
      RowsCase other(kernel.spec, kernel.compiled, shapes);
      ASSERT_EQ(other.run({seed, static_cast<unsigned>(1 + seed % 3)}), "");
      EXPECT_TRUE(other.outputs() == first.outputs()) << kernelLines[k] << " " << seed;
    }
  }
}

/// What a test would find wrong with a kernel: nothing, or the first fault.
std::string found(const Kernel &kernel, Guards guards) {
  // In rows of any width, what stays empty before the vectors and they fill a step.
  const size_t columns = kernel.spec.facts.columns ? size_t(kernel.spec.facts.columns) : 4093;
  for (u64 seed = 1; seed <= 6; ++seed)
    for (Shape shape : shapesFor(kernel.spec, columns))
      for (Numbers numbers : {Numbers::USUAL, Numbers::OFFSET}) {
        shape.rows = std::max(shape.rows, static_cast<size_t>(kernel.compiled.rowsPerBlock) + 1);
        const std::vector<Shape> shapes(3, shape);
        if (std::string wrong = check(kernel, shapes, numbers, {seed, 2}, guards); !wrong.empty())
          return wrong;
      }
  return "";
}

bool isCalled(const char *line, std::string_view start) {
  return std::string_view(line).starts_with(start);
}

TEST(Rows, EveryMutantIsCaught) {
  for (size_t k = 0; k < std::size(mutantLines); ++k) {
    if (isCalled(mutantLines[k], "overread"))
      continue;
    const std::string wrong =
        found({*parseSpec(mutantLines[k]), fw_bundle_rows_mutants[k]}, Guards::WIDE);
    EXPECT_EQ(wrong.empty(), isCalled(mutantLines[k], "intact")) << mutantLines[k] << ": " << wrong;
  }
}

TEST(RowsDeathTest, NoMutantReadsBeyondItsRows) {
  for (size_t k = 0; k < std::size(mutantLines); ++k)
    if (isCalled(mutantLines[k], "overread"))
      EXPECT_DEATH(found({*parseSpec(mutantLines[k]), fw_bundle_rows_mutants[k]}, Guards::NONE),
                   "AddressSanitizer: heap-buffer-overflow")
          << mutantLines[k];
}

template <int OPERANDS, int AXES, int SLOTS, class Real> void expectLayout() {
  using Parameter = RowsLaunch<OPERANDS, AXES, SLOTS, Real>;
  const RowsLayout layout(OPERANDS, AXES, SLOTS, sizeof(Real));
  const Parameter launch = {};
  const auto at = [&](const auto &member) {
    return static_cast<u32>(reinterpret_cast<const char *>(&member) -
                            reinterpret_cast<const char *>(&launch));
  };
  EXPECT_EQ(at(launch.scalars), RowsLayout::scalars);
  EXPECT_EQ(at(launch.policy), RowsLayout::policy);
  EXPECT_EQ(at(launch.columns), RowsLayout::columns);
  EXPECT_EQ(at(launch.recordCount), RowsLayout::recordCount);
  EXPECT_EQ(at(launch.zero), RowsLayout::zero);
  EXPECT_EQ(at(launch.records), RowsLayout::records);
  EXPECT_EQ(at(launch.numbers), layout.numbers);
  EXPECT_EQ(sizeof(launch.records[0]), layout.recordBytes);
  const auto &record = launch.records[0];
  const auto within = [&](const auto &member) { return at(member) - RowsLayout::records; };
  EXPECT_EQ(within(record.addresses), RowsLayout::addresses);
  EXPECT_EQ(within(record.strides), layout.strides);
  EXPECT_EQ(within(record.strides[OPERANDS - 1][AXES - 1]),
            layout.strides + 8 * (OPERANDS * AXES - 1));
  EXPECT_EQ(within(record.rows), layout.rows);
  EXPECT_EQ(within(record.sizes), layout.sizes);
  EXPECT_EQ(within(record.firstBlock), layout.firstBlock);
  EXPECT_EQ(within(record.row), layout.row);
  EXPECT_EQ(sizeof(launch), layout.bytes);
  EXPECT_LE(sizeof(launch), PARAMETER_BYTES);
}

TEST(Rows, TheHostFindsEveryMember) {
  expectLayout<4, 1, 1, float>();
  expectLayout<3, 1, 0, double>();
  expectLayout<1, 2, 9, float>();
  expectLayout<7, 3, 2, double>();
  expectLayout<16, 8, 3, float>();
  expectLayout<40, 1, 100, double>();
}

} // namespace
} // namespace fw::rows
