// One launch of `fw_scalars`: its tables in host memory, and what the host's own interpreter says.
#pragma once

#include "compiler/jit/ScalarProgram.h"
#include "templates/vocab/scalars_launch.h"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace fw::scalars {

/// A number in device memory.
struct Cell {
  ScalarType type = ScalarType::F64;
  alignas(8) unsigned char bytes[8] = {};
  bool counts = false;
  double read = 0;  ///< what the kernel must read there
  double after = 0; ///< what must stand there behind the run
};

class Case {
public:
  Case(const jit::ScalarProgram &program, uint32_t rows, bool doubles);

  uint32_t rows() const { return launch.rows; }
  /// A number in memory, which holds what `value` is as that type.
  Cell &addCell(ScalarType type, double value);
  /// Input `input` of `row`: a value, or a number in memory.
  void setValue(uint32_t row, uint32_t input, double value);
  void setCell(uint32_t row, uint32_t input, const Cell &cell);
  /// The cell is counted behind the rows, which read it as counted already.
  void count(Cell &cell);
  /// Counters get `by` instead of 1.
  void countBy(int by) { launch.countBy = by; }

  /// Every row has `count` stores, none of them with a number yet.
  void addStores(uint32_t count);
  /// Store `number` of `row`: the cell gets a value of the row, from skipped rows too if `always`.
  void setStore(uint32_t row, uint32_t number, Cell &cell, uint32_t value, bool always);
  /// Rows where this value is not 0 are skipped.
  void skipWhere(uint32_t value) { launch.skip = value; }

  /// The launch; the tables live as long as the case, which must not change any more.
  const ScalarsLaunch &prepare();
  /// Where the results differ from those of jit::run, or nothing.
  std::string compare() const;

private:
  double slotAt(size_t place) const;
  /// All values of a row by the host's interpreter.
  std::vector<double> valuesOf(uint32_t row) const;
  bool skips(const std::vector<double> &values) const;
  /// Fills in what must stand in memory behind the run.
  void expectMemory();
  std::string compareSlots(uint32_t row) const;

  const jit::ScalarProgram program;
  std::vector<double> constants; ///< and one more, which is none of the program's
  std::vector<ScalarSource> sources;
  std::vector<const Cell *> cells; ///< of each source, or null
  std::vector<ScalarStore> stores;
  std::vector<Cell *> stored; ///< of each store, or null
  std::deque<Cell> memory;
  std::vector<ScalarCounter> counters;
  std::vector<unsigned char> table;
  ScalarsLaunch launch = {};
};

} // namespace fw::scalars
