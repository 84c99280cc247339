#include "tests/emulator/TailCase.h"

#include <cmath>

#include "templates/vocab/f16.h"
#include "templates/vocab/scalar_program.h"

namespace fw {
namespace {

constexpr double limit = 3.5, constants[] = {1, 0.9, 1000};
enum Value { ONE = 6, BETA, UNUSED_CONSTANT, ROOT, RATIO, CLIP, POWER, FINITE, SKIP, NEXT, SCALED };
const ScalarOperation operations[] = {
    {ScalarCode::sqrt, 0, 0, 0},      {ScalarCode::div, 4, ROOT, 0},
    {ScalarCode::min, RATIO, ONE, 0}, {ScalarCode::pow_int, BETA, 3, 0},
    {ScalarCode::isfinite, 0, 0, 0},  {ScalarCode::not_, FINITE, 0, 0},
    {ScalarCode::add, 5, ONE, 0},     {ScalarCode::mul, CLIP, 2, 0},
};
const u32 slots[] = {CLIP, POWER, SKIP, SCALED, 1, 5, BETA};
constexpr size_t STORES = 3;
constexpr float untouched = -7;
constexpr u16 stateBefore = 0x4500; // 5 in f16

bool isSame(double a, double b) { return (a != a && b != b) || a == b; }
u64 addressOf(const void *p) { return reinterpret_cast<u64>(p); }

} // namespace

TailCase::TailCase(const std::vector<std::vector<ReduceCase::Shape>> &launches, bool overflows)
    : data(launches), overflows(overflows), state(stateBefore) {
  if (overflows)
    data.g(0, 0).bits = Codec<bf16>::encode(INFINITY);
  ratios.assign(data.entries(), untouched);
  counters = {{addressOf(&step), ScalarType::I32, 0}};
  programs.reserve(launches.size());
  size_t first = 0;
  for (const auto &shapes : launches) {
    addProgram(first, shapes.size());
    first += shapes.size();
  }
  programs.back().launch.counters = counters.data();
  programs.back().launch.counterCount = 1;
}

void TailCase::addProgram(size_t firstEntry, size_t count) {
  Program &made = programs.emplace_back();
  made.firstEntry = firstEntry;
  for (size_t row = 0; row < count; ++row) {
    const size_t entry = firstEntry + row;
    const bool isFirst = entry == 0; // what keeps all is stored once
    const ScalarSource sources[INPUTS] = {
        {addressOf(data.result(SUM_OF_SQUARES)), ScalarType::F64, 0, 0},
        {addressOf(data.result(LARGEST, entry)), ScalarType::F64, 0, 0},
        {addressOf(data.result(SUM_OF_TENSOR, entry)), ScalarType::F64, 0, 0},
        {addressOf(&step), ScalarType::I32, 1, 0},
        {0, ScalarType::F64, 0, limit},
        {addressOf(&state), ScalarType::F16, 0, 0}};
    made.sources.insert(made.sources.end(), sources, sources + INPUTS);
    made.stores.push_back({addressOf(&ratios[entry]), ScalarType::F32, SCALED, 0});
    made.stores.push_back({isFirst ? addressOf(&state) : 0, ScalarType::F16, NEXT, 0});
    made.stores.push_back({isFirst ? addressOf(&report) : 0, ScalarType::F64, ROOT, 1});
  }
  made.table.assign((count + 1) * std::size(slots), untouched);
  made.launch.operations = operations;
  made.launch.constants = constants;
  made.launch.slots = slots;
  made.launch.sources = made.sources.data();
  made.launch.stores = made.stores.data();
  made.launch.table = made.table.data();
  made.launch.operationCount = std::size(operations);
  made.launch.constantCount = std::size(constants);
  made.launch.slotCount = std::size(slots);
  made.launch.inputCount = INPUTS;
  made.launch.storeCount = STORES;
  made.launch.rows = static_cast<u32>(count);
  made.launch.countBy = 1;
  made.launch.skip = SKIP;
}

/// What the host computes for the row of an entry, before anything was stored.
std::vector<double> TailCase::valuesOf(size_t entry) const {
  std::vector<double> values = {*data.result(SUM_OF_SQUARES),
                                *data.result(LARGEST, entry),
                                *data.result(SUM_OF_TENSOR, entry),
                                42,
                                limit,
                                Codec<f16>::decode(stateBefore)};
  values.insert(values.end(), std::begin(constants), std::end(constants));
  for (const ScalarOperation &op : operations)
    values.push_back(evaluateScalar(op.code, values[op.a], values[op.b], values[op.c]));
  return values;
}

std::string TailCase::check(const emulator::BundledKernel &kernel, Orders orders) {
  std::vector<ScalarsLaunch> launches;
  for (const Program &program : programs)
    launches.push_back(program.launch);
  if (std::string fault = data.run(kernel, orders, launches); !fault.empty())
    return fault;
  if (std::string wrong = data.compare(); !wrong.empty())
    return wrong;
  return compare();
}

std::string TailCase::compare() const {
  for (const Program &program : programs)
    for (size_t row = 0; row <= program.launch.rows; ++row) {
      const bool isGuard = row == program.launch.rows;
      const std::vector<double> values = valuesOf(isGuard ? 0 : program.firstEntry + row);
      for (size_t k = 0; k < std::size(slots); ++k) {
        const float got = program.table[row * std::size(slots) + k];
        const float expected = isGuard ? untouched : static_cast<float>(values[slots[k]]);
        if (!isSame(got, expected))
          return "row " + std::to_string(row) + ", slot " + std::to_string(k) + ": expected " +
                 std::to_string(expected) + ", got " + std::to_string(got);
      }
    }
  for (size_t entry = 0; entry < ratios.size(); ++entry)
    if (!isSame(ratios[entry], overflows ? untouched : static_cast<float>(valuesOf(entry)[SCALED])))
      return "state of tensor " + std::to_string(entry);
  const std::vector<double> values = valuesOf(0);
  if (Codec<f16>::decode(state) != (overflows ? values[STATE] : values[NEXT]))
    return "state of all tensors";
  if (!isSame(report, values[ROOT]))
    return "what is stored always";
  return step == (overflows ? 41 : 42) ? "" : "the step";
}

} // namespace fw
