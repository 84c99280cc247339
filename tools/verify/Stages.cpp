#include "tools/verify/Stages.h"

#include "compiler/dialect/Dtypes.h"
#include "compiler/dialect/evaluator/Storage.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace fw::verify {
namespace {

using Kind = jit::ScalarInput::Kind;

bool keepsTensor(const jit::ReductionRecord &reduction) { return reduction.keep == "tensor"; }

double identityOf(const std::string &kind) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return kind == "sum" ? 0 : kind == "max" ? -infinity : infinity;
}

double merged(const std::string &kind, double a, double b) {
  if (kind == "sum")
    return a + b;
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  return kind == "max" ? std::max(a, b) : std::min(a, b);
}

const Arena &noArena() {
  static const ResolvedRequest request{};
  static const Case data{};
  static const Arena arena(request, data);
  return arena;
}

} // namespace

StagedScalars::StagedScalars(const jit::ProgramRecord &record, const ResolvedRequest &request,
                             const Case &data, const Arena &arena)
    : record(record), request(request), data(data), arena(arena) {
  for (const jit::ReductionRecord *reduction : allReductions())
    results.emplace_back(keepsTensor(*reduction) ? data.sizes.size() : 1,
                         identityOf(reduction->kind));
}

std::vector<const jit::ReductionRecord *> StagedScalars::allReductions() const {
  std::vector<const jit::ReductionRecord *> all;
  for (const jit::StageRecord &stage : record.stages)
    for (const jit::ReductionRecord &reduction : stage.reductions)
      all.push_back(&reduction);
  return all;
}

size_t StagedScalars::firstReduction(size_t stage) const {
  size_t first = 0;
  for (size_t s = 0; s < stage; ++s)
    first += record.stages[s].reductions.size();
  return first;
}

bool StagedScalars::hasRowPerTensor(const jit::ScalarProgram &program) const {
  if (data.scalars.size() > 1)
    return true;
  for (const jit::ScalarInput &input : program.inputs)
    if (input.kind == Kind::TensorSize || input.kind == Kind::TensorIndex ||
        (input.kind == Kind::Reduction && keepsTensor(*allReductions()[input.index])) ||
        (input.kind == Kind::Operand && record.operands[input.index].axes == "tensor"))
      return true;
  return false;
}

std::vector<std::vector<double>> StagedScalars::slotRows(size_t stage) const {
  const jit::ScalarProgram &program = record.stages[stage].scalars;
  std::vector<std::vector<double>> rows(hasRowPerTensor(program) ? data.sizes.size() : 1);
  for (size_t row = 0; row < rows.size(); ++row) {
    const std::vector<double> values = valuesOf(program, row);
    for (uint32_t slot : program.slots)
      rows[row].push_back(values[slot]);
  }
  return rows;
}

std::vector<double> StagedScalars::valuesOf(const jit::ScalarProgram &program, size_t row) const {
  std::vector<double> inputs, values(program.valueCount());
  for (const jit::ScalarInput &input : program.inputs)
    inputs.push_back(inputOf(input, row));
  jit::runAll(program, inputs.data(), values.data());
  return values;
}

double StagedScalars::inputOf(const jit::ScalarInput &input, size_t row) const {
  const std::vector<double> &scalars = data.scalars[data.scalars.size() > 1 ? row : 0];
  switch (input.kind) {
  case Kind::Hyper:
  case Kind::Step: {
    uint32_t hyper = 0;
    for (size_t i = 0; i < request.scalars.size(); ++i) {
      const bool isStep = request.scalars[i].isStep;
      if (isStep ? input.kind == Kind::Step : input.kind == Kind::Hyper && hyper == input.index)
        return scalars[i];
      hyper += !isStep;
    }
    break;
  }
  case Kind::Reduction:
    return results[input.index][results[input.index].size() > 1 ? row : 0];
  case Kind::TensorSize:
    return double(data.sizes[row]);
  case Kind::AllSize:
    return sizeOfAll();
  case Kind::TensorIndex:
    return double(row);
  case Kind::Operand:
    return operandOf(input.index, row);
  case Kind::AxisSize: // of ops over rows, which verify refuses
    break;
  }
  return std::numeric_limits<double>::quiet_NaN(); // a record that its reader has checked has none
}

double StagedScalars::sizeOfAll() const {
  return double(std::accumulate(data.sizes.begin(), data.sizes.end(), uint64_t(0)));
}

double StagedScalars::operandOf(uint32_t operand, size_t row) const {
  const auto words = arena.words(operand);
  return evaluator::decode(*findDtype(request.operands[operand].dtype),
                           words[words.size() > 1 ? row : 0][0]);
}

std::vector<double> StagedScalars::identities(size_t stage) const {
  std::vector<double> out;
  for (const jit::ReductionRecord &reduction : record.stages[stage].reductions)
    out.push_back(identityOf(reduction.kind));
  return out;
}

void StagedScalars::merge(size_t stage, size_t number, size_t tensor, double partial) {
  const jit::ReductionRecord &reduction = record.stages[stage].reductions[number];
  double &result = results[firstReduction(stage) + number][keepsTensor(reduction) ? tensor : 0];
  result = merged(reduction.kind, result, partial);
}

bool StagedScalars::skips() const {
  const jit::ScalarProgram &program = record.stages.back().scalars;
  return program.skip && valuesOf(program, 0)[*program.skip] != 0;
}

void StagedScalars::store() const {
  const jit::ScalarProgram &program = record.stages.back().scalars;
  const bool skipped = skips();
  const size_t rows = std::max<size_t>(data.sizes.size(), 1);
  std::vector<std::vector<double>> values; // of all rows, before an operand changes
  for (size_t row = 0; row < rows; ++row)
    values.push_back(valuesOf(program, row));
  for (const jit::ScalarResult &result : program.results) {
    if (skipped && !result.always)
      continue;
    const Dtype &dtype = *findDtype(request.operands[result.operand].dtype);
    const size_t count = request.operands[result.operand].scope == "tensor" ? data.sizes.size() : 1;
    for (size_t row = 0; row < count; ++row) {
      const uint64_t word = evaluator::encode(dtype, values[row][result.value]);
      std::memcpy(arena.address(result.operand, row), &word, dtype.bytes);
    }
  }
}

std::vector<std::vector<double>> slotRows(const jit::ProgramRecord &record,
                                          const ResolvedRequest &request, const Case &data) {
  return StagedScalars(record, request, data, noArena()).slotRows(0);
}

std::vector<std::byte> packSlots(const std::vector<std::vector<double>> &rows,
                                 const std::string &real) {
  std::vector<std::byte> out;
  auto append = [&](const auto &value) {
    const auto *bytes = reinterpret_cast<const std::byte *>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
  };
  for (const std::vector<double> &row : rows)
    for (double value : row)
      real == "f64" ? append(value) : append(float(value));
  return out;
}

} // namespace fw::verify
