// Tensors in host memory for a kernel of a sample op of pattern `rows`, and what double loops make
// of them, within the rounding errors that the kernel's order of sums allows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "templates/vocab/rows_launch.h"
#include "tests/emulator/Bundle.h"
#include "tests/rows/Samples.h"

namespace fw::rows {

/// A tensor of a list: all its operands have rows of `columns` elements, `stride` apart, and start
/// `shift` elements behind a line of memory.
struct Shape {
  size_t rows = 1, columns = 1, shift = 0, stride = 0; ///< stride 0: dense
};

/// Numbers that rows are filled with.
enum class Numbers {
  USUAL,
  OFFSET,   ///< small differences about a large mean
  INFINITE, ///< some are -inf; the first row is nothing else
};

/// Memory around the operands, where a kernel that goes astray must leave its traces: a fault of
/// the sanitizer would end the test. Numbers there are large, and change every result they get
/// into.
enum class Guards { NONE, WIDE };

/// How a launch is emulated.
struct Orders {
  uint64_t seed = 1;
  unsigned resident = 2;
};

class RowsCase {
public:
  RowsCase(const Spec &spec, const emulator::BundledKernel &kernel, std::vector<Shape> shapes,
           Numbers numbers = Numbers::USUAL, Guards guards = Guards::NONE);

  /// Runs the kernel: nothing, or the fault.
  std::string run(Orders orders = {});

  /// The first number that is wrong, or nothing.
  std::string compare() const;

  /// All bytes of the outputs.
  std::string outputs() const;

private:
  struct Operand {
    std::string dtype;
    enum Kind { STREAM, COLUMN, ROW } kind;
    bool isOutput;
    size_t bytes, shift, rowBytes, count; ///< of an element; before the first; between rows
    size_t guard, size;                   ///< bytes before and behind; of all
    std::shared_ptr<char> memory;

    char *at(size_t row, size_t i) const {
      return memory.get() + guard + shift * bytes + row * rowBytes + i * bytes;
    }
    double get(size_t row, size_t i) const;
    void set(size_t row, size_t i, double x) const;
  };
  struct Tensor {
    Shape shape;
    std::vector<Operand> operands;
  };
  struct Expected {
    double value, bound;
  };

  void add(Shape shape);
  Operand make(const std::string &dtype, Operand::Kind kind, bool isOutput,
               const Shape &shape) const;
  void fill(Tensor &tensor);
  void expectRow(const Tensor &tensor, size_t row, std::vector<std::vector<Expected>> &out) const;
  std::string compareRow(const Tensor &tensor, size_t row) const;
  std::string compareGaps(const Tensor &tensor) const;

  Spec spec;
  const emulator::BundledKernel &kernel;
  Numbers numbers;
  Guards guards;
  std::vector<Tensor> tensors;
  uint32_t state = 1;
};

} // namespace fw::rows
