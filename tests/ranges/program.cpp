// Compiles, launches and runs a plan on the CPU: the calls that have ranges.
#include "fusewright/fusewright.h"

#include <cstdio>
#include <cstdlib>

namespace {

void check(fw_status status) {
  if (status == FW_OK)
    return;
  std::fprintf(stderr, "error: %s\n", fw_last_error()->text);
  std::exit(int(status));
}

} // namespace

int main() {
  fw_context *context = nullptr;
  fw_op *op = nullptr;
  fw_request *request = nullptr;
  fw_program *program = nullptr;
  fw_plan *plan = nullptr;
  check(fw_context_create(nullptr, &context));
  check(fw_op_find(context, "scale", &op));
  check(fw_request_create(op, &request));
  check(fw_compile(context, request, &program));
  float x[4] = {1, 2, 3, 4}, y[4] = {};
  const int64_t shape = 4;
  fw_tensor tensors[2] = {};
  for (int k = 0; k < 2; ++k) {
    tensors[k].struct_size = sizeof tensors[k];
    tensors[k].device = FW_DEVICE_CPU;
    tensors[k].rank = 1;
    tensors[k].dtype = "f32";
    tensors[k].data = k ? y : x;
    tensors[k].shape = &shape;
  }
  fw_scalar a = {};
  a.struct_size = sizeof a;
  a.name = "a";
  a.value = 3;
  check(fw_launch(context, program, tensors, 2, &a, 1, nullptr));
  const bool right = y[3] == 12;
  fw_plan_group group = {};
  group.struct_size = sizeof group;
  group.program = program;
  group.tensors = tensors;
  group.tensor_count = 2;
  check(fw_plan_create(context, &group, 1, &plan));
  check(fw_plan_run(plan, nullptr, 0, nullptr, nullptr));
  fw_plan_destroy(plan);
  fw_program_destroy(program);
  fw_request_destroy(request);
  fw_op_destroy(op);
  fw_context_destroy(context);
  return right && y[3] == 4 ? 0 : 1;
}
