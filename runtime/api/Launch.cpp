// Launches.
#include "runtime/api/Border.h"
#include "runtime/api/Handles.h"
#include "runtime/driver/Ranges.h"
#include "runtime/driver/Scopes.h"
#include "runtime/plan/CudaRows.h"

using namespace fw;
using namespace fw::api;

// The size of the first struct is checked here, that all have the same in the launch.
launch::TensorArray fw::api::tensorsOf(const fw_tensor *tensors, size_t count) {
  if (count)
    checkSize(need(tensors, "tensors"), "tensor 0");
  return {tensors, count};
}

launch::ScalarArray fw::api::scalarsOf(const fw_scalar *scalars, size_t count) {
  if (count)
    checkSize(need(scalars, "scalars"), "scalar 0");
  return {scalars, count};
}

namespace {

/// A launch without a plan has no memory of its own for what stages hand over.
void refuseStages(const launch::Program &program) {
  if (program.isOnePass())
    return;
  throw Failure{{Code::USAGE,
                 "expected an op of one pass over elements in a launch on a GPU, got one with "
                 "reductions, or with one value per tensor or in all",
                 "make a plan"}};
}

/// What a launch over rows moves: what all rows share is read from a cache.
uint64_t streamedBytes(const launch::Program &program, const launch::RowEntry &entry) {
  uint64_t bytes = 0;
  for (size_t k = 0; k < program.operands.size(); ++k)
    if (const launch::Operand &operand = program.operands[k]; operand.isElement())
      bytes += operand.bytes * (uint64_t(operand.read) + uint64_t(operand.written));
  return bytes * uint64_t(entry.rows()) * uint64_t(entry.columns());
}

/// A request may have been made for some tensors alone.
void checkFacts(const Request &request, const launch::RowFacts &facts) {
  const int64_t columns = factOf(request, "columns");
  if (columns != 0 && columns != facts.columns)
    throw Failure{{Code::USAGE,
                   "expected rows of " + std::to_string(columns) +
                       " elements, for which the program was made, got " +
                       std::to_string(facts.columns),
                   "make the request without the fact columns, or pass such tensors"}};
  if (factOf(request, "aligned") > 1 && !facts.isAligned)
    throw Failure{{Code::USAGE,
                   "expected rows that start on boundaries of 16 bytes, for which the program was "
                   "made, got others",
                   "make the request without the fact aligned, or pass such tensors"}};
}

/// The entries with rows; before anything runs each is known to have a place in a record.
llvm::SmallVector<plan::RowsWork, 1> worksOf(const ProgramState &compiled,
                                             const launch::RowEntries &entries) {
  llvm::SmallVector<plan::RowsWork, 1> works;
  for (const launch::RowEntry &entry : entries) {
    if (entry.rows() == 0)
      continue;
    plan::RowsWork &work =
        works.emplace_back(&entry, take(launch::gridOf(compiled.launchable, entry)));
    checkFacts(compiled.program->request.request, work.grid.facts);
  }
  return works;
}

/// Entries of the same width and alignment are served together, in their order.
void launchRowsOnCuda(ContextState &context, const ProgramState &compiled,
                      const launch::TensorArray &tensors, const launch::ScalarArray &scalars,
                      driver::CUstream stream) {
  const launch::Place place{FW_DEVICE_CUDA, tensors.size() ? tensors[0].device_id : 0};
  const launch::Program &program = compiled.launchable;
  const launch::RowsInput input = take(launch::readRows(program, tensors, scalars, place));
  const driver::Driver &driver = *take(context.driver());
  take(driver.device(place.id));
  const plan::DeviceWorld world{.driver = &driver,
                                .device = place.id,
                                .modules = &context.modules,
                                .launches = &context.launches};
  const auto works = worksOf(compiled, input.entries);
  for (auto first = works.begin(), last = first; first != works.end(); first = last) {
    const launch::RowFacts &facts = first->grid.facts;
    uint64_t bytes = 0;
    for (; last != works.end() && last->grid.facts == facts; ++last)
      bytes += streamedBytes(program, *last->entry);
    const ProgramState *variant = take(compiled.variants.find(
        context, compiled, facts, [&] { return driver::isCapturing(driver, stream); }));
    take(plan::launchRows(world, program, *variant->cuda.kernels.front(), {first, last},
                          input.scalars, bytes, stream));
  }
}

void launchOnCuda(ContextState &context, const ProgramState &compiled,
                  const launch::TensorArray &tensors, const launch::ScalarArray &scalars,
                  driver::CUstream stream) {
  const launch::Program &program = compiled.launchable;
  if (!program.header.axes.empty())
    return launchRowsOnCuda(context, compiled, tensors, scalars, stream);
  refuseStages(program);
  const launch::Place place{FW_DEVICE_CUDA, tensors.size() ? tensors[0].device_id : 0};
  launch::TensorList list = take(launch::checkTensors(program.operands, tensors, place));
  launch::ScalarRows rows = take(launch::readScalars(program.hypers, scalars, list.length));
  const driver::Driver &driver = *take(context.driver());
  take(driver.device(place.id));
  if (list.entries.empty())
    return;
  const plan::DeviceWorld world{.driver = &driver,
                                .device = place.id,
                                .modules = &context.modules,
                                .launches = &context.launches};
  take(plan::launchOnce(world, program, *compiled.cuda.kernels.front(), list, rows, stream));
}

} // namespace

extern "C" {

fw_status fw_launch(fw_context *context, const fw_program *program, const fw_tensor *tensors,
                    size_t tensor_count, const fw_scalar *scalars, size_t scalar_count,
                    fw_stream stream) {
  return border([&] {
    ContextState &state = *need(context, "context").state;
    const ProgramState &compiled = *need(program, "program").state;
    driver::Range range("fw_launch", compiled.program->request.request.op->name);
    const launch::TensorArray list = tensorsOf(tensors, tensor_count);
    const launch::ScalarArray values = scalarsOf(scalars, scalar_count);
    if (!compiled.isForCpu())
      return launchOnCuda(state, compiled, list, values, static_cast<driver::CUstream>(stream));
    take(launch::launch(compiled.launchable, list, values, state.executor));
    ++state.launches;
  });
}

} // extern "C"
