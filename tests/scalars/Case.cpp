#include "tests/scalars/Case.h"

#include <cstring>

namespace fw::scalars {
namespace {

constexpr size_t guard = 64;
constexpr unsigned char untouched = 0xA5;

template <class T> void put(Cell &cell, double value) {
  const T number = static_cast<T>(value);
  std::memcpy(cell.bytes, &number, sizeof number);
}

/// What the cell holds, and `added`, in its own type.
double readOf(const Cell &cell, int added) {
  const auto as = [&](auto number) {
    std::memcpy(&number, cell.bytes, sizeof number);
    return static_cast<double>(static_cast<decltype(number)>(number + added));
  };
  switch (cell.type) {
  case ScalarType::F32:
    return as(float());
  case ScalarType::F64:
    return as(double());
  case ScalarType::I32:
    return as(int32_t());
  default:
    return as(int64_t());
  }
}

/// Equal bits, or both NaN.
bool isSame(double a, double b) { return (a != a && b != b) || std::memcmp(&a, &b, sizeof a) == 0; }

} // namespace

Case::Case(const jit::ScalarProgram &program, uint32_t rows, bool doubles)
    : program(program), constants(program.constants) {
  constants.push_back(12345);
  launch.operationCount = static_cast<uint32_t>(program.operations.size());
  launch.constantCount = static_cast<uint32_t>(program.constants.size());
  launch.slotCount = static_cast<uint32_t>(program.slots.size());
  launch.inputCount = static_cast<uint32_t>(program.inputs.size());
  launch.rows = rows;
  launch.countBy = 1;
  launch.doubles = doubles;
  sources.resize(size_t(rows) * launch.inputCount);
  cells.resize(sources.size());
  table.assign(size_t(rows) * launch.slotCount * (doubles ? 8 : 4) + guard, untouched);
}

void Case::setValue(uint32_t row, uint32_t input, double value) {
  sources[size_t(row) * launch.inputCount + input] = {.value = value};
}

Cell &Case::addCell(ScalarType type, double value) {
  Cell &cell = memory.emplace_back();
  cell.type = type;
  switch (type) {
  case ScalarType::F32:
    put<float>(cell, value);
    break;
  case ScalarType::F64:
    put<double>(cell, value);
    break;
  case ScalarType::I32:
    put<int32_t>(cell, value);
    break;
  case ScalarType::I64:
    put<int64_t>(cell, value);
    break;
  }
  return cell;
}

void Case::setCell(uint32_t row, uint32_t input, const Cell &cell) {
  const size_t place = size_t(row) * launch.inputCount + input;
  sources[place] = {reinterpret_cast<uint64_t>(cell.bytes), cell.type, 0, -777};
  cells[place] = &cell;
}

void Case::count(Cell &cell) {
  cell.counts = true;
  counters.push_back({reinterpret_cast<uint64_t>(cell.bytes), cell.type, 0});
}

const ScalarsLaunch &Case::prepare() {
  for (Cell &cell : memory)
    cell.read = readOf(cell, cell.counts ? launch.countBy : 0);
  launch.operations = program.operations.data();
  launch.constants = constants.data();
  launch.slots = program.slots.data();
  launch.sources = sources.data();
  launch.counters = counters.data();
  launch.counterCount = static_cast<uint32_t>(counters.size());
  launch.table = table.data();
  return launch;
}

double Case::slotAt(size_t place) const {
  float single = 0;
  double full = 0;
  if (launch.doubles)
    std::memcpy(&full, &table[place * sizeof full], sizeof full);
  else
    std::memcpy(&single, &table[place * sizeof single], sizeof single);
  return launch.doubles ? full : single;
}

std::string Case::compare() const {
  std::vector<double> inputs(launch.inputCount), expected(launch.slotCount);
  for (uint32_t row = 0; row < launch.rows; ++row) {
    for (uint32_t k = 0; k < launch.inputCount; ++k) {
      const size_t place = size_t(row) * launch.inputCount + k;
      inputs[k] = cells[place] ? cells[place]->read : sources[place].value;
    }
    jit::run(program, inputs.data(), expected.data());
    for (uint32_t k = 0; k < launch.slotCount; ++k) {
      const double wanted = launch.doubles ? expected[k] : static_cast<float>(expected[k]);
      if (const double got = slotAt(size_t(row) * launch.slotCount + k); !isSame(got, wanted))
        return "row " + std::to_string(row) + ", slot " + program.labels[k] + ": expected " +
               std::to_string(wanted) + ", got " + std::to_string(got);
    }
  }
  for (size_t k = table.size() - guard; k < table.size(); ++k)
    if (table[k] != untouched)
      return "a byte behind the table changed";
  for (const Cell &cell : memory)
    if (!isSame(readOf(cell, 0), cell.read))
      return "a number in memory: expected " + std::to_string(cell.read) + ", got " +
             std::to_string(readOf(cell, 0));
  return {};
}

} // namespace fw::scalars
