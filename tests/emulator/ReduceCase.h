// A plan of the sample of skeleton `norm_last_block`: tensors in host memory, one launch per set of
// them, all into one set of partials, and what plain loops make of the same elements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "templates/vocab/bf16.h"
#include "templates/vocab/reduce_launch.h"
#include "tests/emulator/Bundle.h"

namespace fw {

/// What the sample reduces.
enum Reduction { SUM_OF_SQUARES, LARGEST, SUM_OF_TENSOR, SMALLEST, REDUCTIONS };

struct ReduceTensor {
  size_t count, shift; ///< elements; how many of them it starts behind a 16-byte boundary
  std::vector<float> p;
  std::vector<bf16> g;
};

/// How a launch is emulated.
struct Orders {
  uint64_t seed = 1;
  unsigned resident = 2;
};

class ReduceCase {
public:
  static constexpr u32 CHUNK = 16384, THREADS = 512, V = 4;
  static constexpr float SCALE = 2;

  struct Shape {
    size_t count, shift = 0;
  };
  /// Small whole numbers, whose sums are exact in any order, or numbers of any size.
  enum class Numbers { WHOLE, REAL };

  explicit ReduceCase(const std::vector<std::vector<Shape>> &launches,
                      Numbers numbers = Numbers::WHOLE);

  size_t entries() const { return tensors.size(); }
  ReduceTensor &tensor(size_t entry) { return tensors[entry]; }
  float &p(size_t entry, size_t i) { return tensors[entry].p[place(tensors[entry], i)]; }
  bf16 &g(size_t entry, size_t i) { return tensors[entry].g[place(tensors[entry], i)]; }
  /// Where a result stands; column 0 for what keeps all.
  const double *result(Reduction r, size_t entry = 0) const {
    return &results[r * columns() + entry];
  }
  const std::vector<double> &allResults() const { return results; }
  /// From now on so many partials of other launches, squares of 1, stand behind this case's own.
  void addPartials(size_t count);
  size_t partialCount() const { return partials.size() / REDUCTIONS; }

  /// Runs all launches: nothing, or the fault. `programs` are run by the last block.
  std::string run(const emulator::BundledKernel &kernel, Orders orders = {},
                  std::vector<ScalarsLaunch> programs = {});

  /// Where results differ from plain loops by more than the order of a sum can explain, a number
  /// that is not theirs changed or the ticket is not 0; or nothing.
  std::string compare() const;

private:
  using Launch = ReduceLaunch<2, 1, float>;
  struct Part {
    std::vector<Chunk> chunks;
    std::vector<u64> columns[2];
    u32 firstEntry = 0;
  };

  static size_t place(const ReduceTensor &tensor, size_t i);
  size_t columns() const { return entries() == 0 ? 1 : entries(); }
  void addTensor(Part &part, Shape shape);
  ReduceTail tail(const std::vector<ScalarsLaunch> &programs);
  std::string compareOne(Reduction r, size_t entry, size_t end) const;

  const Numbers numbers;
  std::vector<ReduceTensor> tensors;
  std::vector<Part> parts;
  std::vector<u32> firstPartial = {0};
  std::vector<double> partials, results;
  size_t others = 0; ///< partials of other launches
  u32 ticket = 0;
  float scales[2] = {-1000, SCALE}; ///< row 0 is another group's
};

} // namespace fw
