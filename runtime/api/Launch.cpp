// Launches.
#include "runtime/api/Border.h"
#include "runtime/api/Handles.h"

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

void needCpuProgram(const Program &program) {
  if (program.record.target != "cpu")
    throw Failure{
        {Code::DEVICE,
         "expected a program for \"cpu\", got one for \"" + program.record.target + "\"",
         "compile the request for \"cpu\" to run it here; the code for the GPU is the image of "
         "fw_program_kernel, which the CUDA driver loads"}};
}

} // namespace

extern "C" {

fw_status fw_launch(fw_context *context, const fw_program *program, const fw_tensor *tensors,
                    size_t tensor_count, const fw_scalar *scalars, size_t scalar_count, fw_stream) {
  return border([&] {
    ContextState &state = *need(context, "context").state;
    const ProgramState &compiled = *need(program, "program").state;
    needCpuProgram(*compiled.program);
    take(launch::launch(compiled.launchable, tensorsOf(tensors, tensor_count),
                        scalarsOf(scalars, scalar_count), state.executor));
    ++state.launches;
  });
}

} // extern "C"
