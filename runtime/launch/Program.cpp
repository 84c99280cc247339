#include "runtime/launch/Program.h"

#include "templates/vocab/math.h"

#include <algorithm>

namespace fw::launch {

using Input = jit::ScalarInput;

double neutralOf(Reduction::Kind kind) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
  case Reduction::Kind::Sum:
    return 0;
  case Reduction::Kind::Max:
    return -infinity;
  case Reduction::Kind::Min:
    break;
  }
  return infinity;
}

double combine(Reduction::Kind kind, double a, double b) {
  switch (kind) {
  case Reduction::Kind::Sum:
    return a + b;
  case Reduction::Kind::Max:
    return math::max(a, b);
  case Reduction::Kind::Min:
    break;
  }
  return math::min(a, b);
}

namespace {

/// Marks what the values that are `needed` are computed from.
void markNeeded(const jit::ScalarProgram &scalars, std::vector<bool> &needed) {
  const size_t first = scalars.inputs.size() + scalars.constants.size();
  for (size_t k = scalars.operations.size(); k-- > 0;) {
    const jit::ScalarOperation &operation = scalars.operations[k];
    if (!needed[first + k])
      continue;
    const uint32_t operands[] = {operation.a, operation.b, operation.c};
    for (unsigned i = 0; i < jit::scalarArity(operation.code); ++i)
      needed[operands[i]] = true;
  }
}

} // namespace

std::vector<bool> Program::sharedHypers() const {
  std::vector<bool> shared(hypers.size());
  for (const Stage &stage : stages) {
    const jit::ScalarProgram &scalars = stage.scalars;
    std::vector<bool> needed(scalars.valueCount());
    if (scalars.skip)
      needed[*scalars.skip] = true;
    for (const jit::ScalarResult &result : scalars.results)
      if (operands[result.operand].scope == Scope::All)
        needed[result.value] = true;
    markNeeded(scalars, needed);
    for (size_t k = 0; k < scalars.inputs.size(); ++k)
      if (needed[k] && (scalars.inputs[k].kind == Input::Kind::Hyper ||
                        scalars.inputs[k].kind == Input::Kind::Step))
        shared[scalars.inputs[k].index] = true;
  }
  return shared;
}

bool Program::isOnePass() const {
  return stages.size() == 1 && stages.front().kernel && !reduces() &&
         std::ranges::all_of(operands, &Operand::isElement) &&
         std::ranges::all_of(stages.front().scalars.inputs, [](const Input &input) {
           return input.kind == Input::Kind::Hyper || input.kind == Input::Kind::Step;
         });
}

bool Program::reduces() const { return reductionCount() > 0; }

size_t Program::reductionCount() const {
  size_t count = 0;
  for (const Stage &stage : stages)
    count += stage.reductions.size();
  return count;
}

size_t Program::kernelCount() const {
  return size_t(
      std::ranges::count_if(stages, [](const Stage &stage) { return stage.kernel.has_value(); }));
}

bool Program::variesByTensor() const {
  auto isOfTensor = [&](uint32_t operand) { return operands[operand].scope == Scope::Tensor; };
  std::vector<Reduction> before;
  for (const Stage &stage : stages) {
    for (const Input &input : stage.scalars.inputs)
      if (input.kind == Input::Kind::TensorSize || input.kind == Input::Kind::TensorIndex ||
          (input.kind == Input::Kind::Operand && isOfTensor(input.index)) ||
          (input.kind == Input::Kind::Reduction &&
           before[input.index].keep == Reduction::Keep::Tensor))
        return true;
    for (const jit::ScalarResult &result : stage.scalars.results)
      if (isOfTensor(result.operand))
        return true;
    before.insert(before.end(), stage.reductions.begin(), stage.reductions.end());
  }
  return false;
}

size_t Program::exchangeCount() const {
  size_t count = 0;
  for (const Stage &stage : stages)
    for (bool isSum : {true, false})
      count += std::ranges::any_of(stage.reductions, [&](const Reduction &reduction) {
        return reduction.keep == Reduction::Keep::World &&
               (reduction.kind == Reduction::Kind::Sum) == isSum;
      });
  return count;
}

int64_t Program::streamedBytes() const {
  int64_t bytes = 0;
  for (const Stage &stage : stages)
    if (stage.kernel)
      for (uint32_t column : stage.kernel->operands) {
        const Operand &operand = operands[column];
        bytes += operand.bytes * (&stage == &stages.back()
                                      ? int64_t(operand.read) + int64_t(operand.written)
                                      : 1); // kernels before the last one only read
      }
  return bytes;
}

void Program::scalarProgram(std::span<const double> hypers, std::span<double> slots) const {
  const jit::ScalarProgram &scalars = stages.back().scalars;
  llvm::SmallVector<double, 32> inputs;
  for (const Input &input : scalars.inputs)
    inputs.push_back(hypers[input.index]);
  jit::run(scalars, inputs.data(), slots.data());
}

int64_t bytesPerElement(std::span<const Operand> operands) {
  int64_t bytes = 0;
  for (const Operand &operand : operands)
    if (operand.hasElements())
      bytes += operand.bytes * (int64_t(operand.read) + int64_t(operand.written));
  return bytes;
}

} // namespace fw::launch
