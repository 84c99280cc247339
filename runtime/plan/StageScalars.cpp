#include "runtime/plan/StageScalars.h"

#include "compiler/support/FloatMode.h"

#include <algorithm>

namespace fw::plan {
namespace {

using Input = jit::ScalarInput;
using launch::Number;
using launch::Scope;
using Kind = launch::ScalarSource::Kind;

ScalarType typeOf(Number number) {
  switch (number) {
  case Number::f32:
    return ScalarType::F32;
  case Number::f64:
    return ScalarType::F64;
  case Number::i32:
    return ScalarType::I32;
  case Number::i64:
    break;
  }
  return ScalarType::I64;
}

struct DtypeRow {
  std::string_view name;
  ScalarType type;
};
constexpr DtypeRow dtypes[] = {{"f32", ScalarType::F32},
                               {"f64", ScalarType::F64},
                               {"f16", ScalarType::F16},
                               {"bf16", ScalarType::BF16}};

uint64_t numberOf(const launch::ScalarSource &source, size_t index) {
  return reinterpret_cast<uint64_t>(source.data) + index * launch::bytesOf(source.type);
}

ScalarSource constantSource(double value) {
  return {.address = 0, .type = ScalarType::F64, .advance = 0, .value = value};
}

} // namespace

ScalarSource hyperSource(RunScalars::Found found, size_t entry) {
  const launch::ScalarSource &source = found.source;
  if (source.kind == Kind::Value)
    return constantSource(source.value);
  // A group without entries has a row too, of values that nobody gives.
  const size_t count = source.kind == Kind::Values ? source.values.size() : source.count;
  const size_t index = source.kind == Kind::Data && count == 1 ? 0 : found.first + entry;
  if (index >= count)
    return constantSource(0);
  if (source.kind == Kind::Values)
    return constantSource(source.values[index]);
  return {.address = numberOf(source, index),
          .type = typeOf(source.type),
          .advance = source.advance,
          .value = 0};
}

std::vector<ScalarCounter> countersOf(const RunScalars &scalars, size_t groups, size_t hypers) {
  std::vector<ScalarCounter> counters;
  for (size_t h = 0; h < hypers; ++h)
    for (size_t g = 0; g < groups; ++g) {
      const launch::ScalarSource &source = scalars.find(g, h).source;
      for (size_t i = 0; source.advance && i < source.count; ++i)
        counters.push_back(
            {.address = numberOf(source, i), .type = typeOf(source.type), .reserved = 0});
    }
  std::ranges::sort(counters, {}, &ScalarCounter::address);
  const auto same = std::ranges::unique(counters, {}, &ScalarCounter::address);
  counters.erase(same.begin(), same.end());
  return counters;
}

// --- What a stage is -----------------------------------------------------------------------------

StageScalars::StageScalars(const ProgramLists &lists, size_t stage, const CudaKernel *kernel,
                           bool isFirst)
    : lists(&lists), scalars(&lists.program->stages[stage].scalars), kernel(kernel),
      isFirst(isFirst) {
  std::vector<launch::Reduction> before;
  for (size_t s = 0; s < stage; ++s)
    before.insert(before.end(), lists.program->stages[s].reductions.begin(),
                  lists.program->stages[s].reductions.end());
  auto ofTensor = [&](uint32_t operand) {
    return lists.program->operands[operand].scope == Scope::Tensor;
  };
  for (const Input &input : scalars->inputs) {
    readsHypers |= input.kind == Input::Kind::Hyper || input.kind == Input::Kind::Step;
    alwaysByEntry |= input.kind == Input::Kind::TensorSize ||
                     input.kind == Input::Kind::TensorIndex ||
                     (input.kind == Input::Kind::Operand && ofTensor(input.index)) ||
                     (input.kind == Input::Kind::Reduction &&
                      before[input.index].keep == launch::Reduction::Keep::Tensor);
  }
  for (const jit::ScalarResult &result : scalars->results)
    alwaysByEntry |= ofTensor(result.operand);
}

Result<void> StageScalars::findTypes() {
  std::vector<uint32_t> used;
  for (const Input &input : scalars->inputs)
    if (input.kind == Input::Kind::Operand)
      used.push_back(input.index);
  for (const jit::ScalarResult &result : scalars->results)
    used.push_back(result.operand);
  types.resize(lists->program->operands.size());
  for (uint32_t operand : used) {
    const launch::Operand &which = lists->program->operands[operand];
    const auto *row = std::ranges::find(dtypes, which.dtype, &DtypeRow::name);
    if (row == std::end(dtypes))
      return Error{Code::USAGE,
                   which.name +
                       ": expected dtype f32, f64, f16 or bf16 of an operand with one "
                       "value per tensor or in all, got " +
                       which.dtype,
                   "bind one of these dtypes, or compile for \"cpu\""};
    types[operand] = row->type;
  }
  return {};
}

Result<StageScalars> StageScalars::make(const ProgramLists &lists, size_t stage,
                                        const CudaKernel *kernel, bool isFirst) {
  StageScalars made(lists, stage, kernel, isFirst);
  if (Result<void> found = made.findTypes(); !found)
    return found.takeError();
  return made;
}

bool StageScalars::readsAny(const std::function<bool(size_t hyper)> &isMeant) const {
  return std::ranges::any_of(scalars->inputs, [&](const Input &input) {
    return (input.kind == Input::Kind::Hyper || input.kind == Input::Kind::Step) &&
           isMeant(input.index);
  });
}

bool StageScalars::writesTensors() const {
  return std::ranges::any_of(scalars->results, [&](const jit::ScalarResult &result) {
    return lists->program->operands[result.operand].scope == Scope::Tensor;
  });
}

bool StageScalars::needsDevice() const {
  return writesResults() || std::ranges::any_of(scalars->inputs, [](const Input &input) {
           return input.kind == Input::Kind::Reduction || input.kind == Input::Kind::Operand;
         });
}

Result<void> StageScalars::allocateRows(const DeviceWorld &world,
                                        const KernelArguments &parameters) {
  const size_t most = std::max(lists->entryRows.size(), lists->groupRows.size());
  return remake(rowTable, world, most > parameters.rowRoom() ? most * kernel->rowBytes() : 0);
}

Result<void> StageScalars::allocateOnDevice(const DeviceWorld &world) {
  if (device)
    return {};
  const size_t most = std::max(lists->entryRows.size(), lists->groupRows.size());
  auto made = DeviceScalars::make(world, *scalars, most, kernel && kernel->doubleScalars);
  if (!made)
    return made.takeError();
  device = std::move(*made);
  return {};
}

std::span<const RowPlace> StageScalars::rowsOf(const RunInputs &inputs) {
  byEntry = alwaysByEntry || (readsHypers && inputs.scalars.variesByEntry(lists->groups));
  return byEntry ? lists->entryRows : lists->groupRows;
}

// --- On the host ---------------------------------------------------------------------------------

double StageScalars::hostInput(const Input &input, size_t row, const RunInputs &inputs) const {
  if (input.kind == Input::Kind::AllSize)
    return inputs.elements;
  if (input.kind == Input::Kind::TensorSize)
    return lists->sizes[row];
  return double(inputs.firstTensors[rows[row].group] + rows[row].entry); // TensorIndex
}

void StageScalars::computeRows(const RunInputs &inputs) {
  StandardFloatMode mode;
  const size_t count = scalars->inputs.size();
  hostInputs.resize(count);
  slotValues.resize(rows.size() * kernel->slots);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < count; ++i) {
      const Input &input = scalars->inputs[i];
      const bool isHyper = input.kind == Input::Kind::Hyper || input.kind == Input::Kind::Step;
      hostInputs[i] =
          isHyper
              ? hyperSource(inputs.scalars.find(rows[r].group, input.index), rows[r].entry).value
              : hostInput(input, r, inputs);
    }
    jit::run(*scalars, hostInputs.data(), slotValues.data() + r * kernel->slots);
  }
}

Result<void> StageScalars::prepareOnHost(const DeviceWorld &world, const RunInputs &inputs,
                                         KernelArguments &parameters, driver::CUstream stream,
                                         bool capturing) {
  rows = rowsOf(inputs);
  parameters.perEntry(byEntry);
  const bool isSame = !readsHypers && hasRows; // in every run
  if (!isSame)
    computeRows(inputs);
  if (rows.size() <= parameters.rowRoom()) {
    hasRows = true;
    parameters.rows(slotValues);
    parameters.scalars(0);
    return {};
  }
  if (!isSame)
    if (auto updated = rowTable.update(world, parameters.packRows(slotValues), stream, capturing);
        !updated)
      return updated;
  hasRows = true;
  parameters.scalars(rowTable.address());
  return {};
}

// --- On the device -------------------------------------------------------------------------------

uint64_t StageScalars::addressOf(uint32_t operand, size_t row, const RunInputs &inputs) const {
  const launch::TensorList &list = inputs.groups[rows[row].group].list;
  const launch::Uniform *uniform = list.uniform(operand);
  const bool ofTensor = lists->program->operands[operand].scope == Scope::Tensor;
  if (!uniform || (ofTensor && rows[row].entry >= uniform->addresses.size()))
    return 0; // of a group without entries: nobody sees what it gives for a tensor
  return reinterpret_cast<uint64_t>(uniform->at(rows[row].entry));
}

ScalarSource StageScalars::sourceOf(const Input &input, size_t row, const RunInputs &inputs) const {
  switch (input.kind) {
  case Input::Kind::Hyper:
  case Input::Kind::Step:
    return hyperSource(inputs.scalars.find(rows[row].group, input.index), rows[row].entry);
  case Input::Kind::Reduction: {
    const ReducedPlace &place = inputs.reduced[input.index];
    if (!place.address)
      return constantSource(place.neutral);
    const size_t column = place.perEntry ? lists->firstRow + row : 0;
    return {.address = place.address + column * sizeof(double),
            .type = ScalarType::F64,
            .advance = 0,
            .value = 0};
  }
  case Input::Kind::Operand:
    return {.address = addressOf(input.index, row, inputs),
            .type = types[input.index],
            .advance = 0,
            .value = 0};
  default:
    return constantSource(hostInput(input, row, inputs));
  }
}

ScalarStore StageScalars::storeOf(const jit::ScalarResult &result, size_t row,
                                  const RunInputs &inputs) const {
  const launch::Operand &operand = lists->program->operands[result.operand];
  const bool isOurs = operand.scope == Scope::Tensor || (isFirst && row == 0);
  return {.address = isOurs ? addressOf(result.operand, row, inputs) : 0,
          .type = types[result.operand],
          .value = result.value,
          .always = result.always};
}

Result<void> StageScalars::prepareOnDevice(const DeviceWorld &world, const RunInputs &inputs,
                                           std::span<const ScalarCounter> counters,
                                           KernelArguments *parameters, driver::CUstream stream,
                                           bool capturing) {
  if (auto made = allocateOnDevice(world); !made)
    return made;
  rows = rowsOf(inputs);
  sources.clear();
  stores.clear();
  for (size_t row = 0; row < rows.size(); ++row) {
    for (const Input &input : scalars->inputs)
      sources.push_back(sourceOf(input, row, inputs));
    for (const jit::ScalarResult &result : scalars->results)
      stores.push_back(storeOf(result, row, inputs));
  }
  if (auto ready =
          device->prepare(world, rows.size(), sources, stores, counters, stream, capturing);
      !ready)
    return ready;
  if (parameters) {
    parameters->perEntry(byEntry);
    parameters->scalars(device->table());
  }
  return {};
}

void StageScalars::freeze() {
  rowTable.freeze();
  if (device)
    device->freeze();
}

size_t StageScalars::workspaceBytes() const {
  return rowTable.workspaceBytes() + (device ? device->workspaceBytes() : 0);
}

} // namespace fw::plan
