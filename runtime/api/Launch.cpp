// Launches.
#include "runtime/api/Border.h"
#include "runtime/api/Handles.h"
#include "runtime/driver/Ranges.h"

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

void launchOnCuda(ContextState &context, const ProgramState &compiled,
                  const launch::TensorArray &tensors, const launch::ScalarArray &scalars,
                  driver::CUstream stream) {
  const launch::Program &program = compiled.launchable;
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
