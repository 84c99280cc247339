#include "tests/scalars/Case.h"

#include "templates/vocab/bf16.h"
#include "templates/vocab/f16.h"

#include <cstring>

namespace fw::scalars {
namespace {

constexpr size_t guard = 64;
constexpr unsigned char untouched = 0xA5;

template <class T> void put(Cell &cell, T number) {
  std::memcpy(cell.bytes, &number, sizeof number);
}
template <class T> T get(const Cell &cell) {
  T number;
  std::memcpy(&number, cell.bytes, sizeof number);
  return number;
}

void write(Cell &cell, double value) {
  switch (cell.type) {
  case ScalarType::F32:
    return put(cell, static_cast<float>(value));
  case ScalarType::F64:
    return put(cell, value);
  case ScalarType::F16:
    return put(cell, Codec<f16>::encode(value));
  case ScalarType::BF16:
    return put(cell, Codec<bf16>::encode(value));
  case ScalarType::I32:
    return put(cell, static_cast<int32_t>(value));
  case ScalarType::I64:
    return put(cell, static_cast<int64_t>(value));
  }
}

/// What the cell holds.
double readOf(const Cell &cell) {
  switch (cell.type) {
  case ScalarType::F32:
    return get<float>(cell);
  case ScalarType::F64:
    return get<double>(cell);
  case ScalarType::F16:
    return Codec<f16>::decode(get<uint16_t>(cell));
  case ScalarType::BF16:
    return Codec<bf16>::decode(get<uint16_t>(cell));
  case ScalarType::I32:
    return get<int32_t>(cell);
  case ScalarType::I64:
    break;
  }
  return static_cast<double>(get<int64_t>(cell));
}

/// `value` as the cell would hold it.
double roundedFor(const Cell &cell, double value) {
  Cell copy = cell;
  write(copy, value);
  return readOf(copy);
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
  write(cell, value);
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

void Case::addStores(uint32_t count) {
  launch.storeCount = count;
  stores.resize(size_t(launch.rows) * count);
  stored.resize(stores.size());
}

void Case::setStore(uint32_t row, uint32_t number, Cell &cell, uint32_t value, bool always) {
  const size_t place = size_t(row) * launch.storeCount + number;
  stores[place] = {reinterpret_cast<uint64_t>(cell.bytes), cell.type, value, always};
  stored[place] = &cell;
}

const ScalarsLaunch &Case::prepare() {
  for (size_t place = 0; place < cells.size(); ++place)
    sources[place].advance = cells[place] && cells[place]->counts;
  for (Cell &cell : memory) {
    cell.after = readOf(cell);
    cell.read = cell.counts ? roundedFor(cell, cell.after + 1) : cell.after;
  }
  expectMemory();
  launch.operations = program.operations.data();
  launch.constants = constants.data();
  launch.slots = program.slots.data();
  launch.sources = sources.data();
  launch.stores = stores.data();
  launch.counters = counters.data();
  launch.counterCount = static_cast<uint32_t>(counters.size());
  launch.table = table.data();
  return launch;
}

bool Case::skips(const std::vector<double> &values) const {
  return launch.skip != ScalarsLaunch::NEVER && values[launch.skip] != 0;
}

std::vector<double> Case::valuesOf(uint32_t row) const {
  std::vector<double> inputs(launch.inputCount), values(program.valueCount());
  for (uint32_t k = 0; k < launch.inputCount; ++k) {
    const size_t place = size_t(row) * launch.inputCount + k;
    inputs[k] = cells[place] ? cells[place]->read : sources[place].value;
  }
  jit::runAll(program, inputs.data(), values.data());
  return values;
}

void Case::expectMemory() {
  for (size_t place = 0; place < stored.size(); ++place) {
    const std::vector<double> values = valuesOf(static_cast<uint32_t>(place / launch.storeCount));
    if (Cell *cell = stored[place]; cell && (stores[place].always || !skips(values)))
      cell->after = roundedFor(*cell, values[stores[place].value]);
  }
  if (launch.rows > 0 && skips(valuesOf(0)))
    return;
  for (Cell &cell : memory)
    if (cell.counts)
      cell.after = roundedFor(cell, cell.after + launch.countBy);
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

std::string Case::compareSlots(uint32_t row) const {
  const std::vector<double> values = valuesOf(row);
  for (uint32_t k = 0; k < launch.slotCount; ++k) {
    const double full = values[program.slots[k]];
    const double wanted = launch.doubles ? full : static_cast<float>(full);
    if (const double got = slotAt(size_t(row) * launch.slotCount + k); !isSame(got, wanted))
      return "row " + std::to_string(row) + ", slot " + program.labels[k] + ": expected " +
             std::to_string(wanted) + ", got " + std::to_string(got);
  }
  return {};
}

std::string Case::compare() const {
  for (uint32_t row = 0; row < launch.rows; ++row)
    if (std::string wrong = compareSlots(row); !wrong.empty())
      return wrong;
  for (size_t k = table.size() - guard; k < table.size(); ++k)
    if (table[k] != untouched)
      return "a byte behind the table changed";
  for (const Cell &cell : memory)
    if (!isSame(readOf(cell), cell.after))
      return "a number in memory: expected " + std::to_string(cell.after) + ", got " +
             std::to_string(readOf(cell));
  return {};
}

} // namespace fw::scalars
