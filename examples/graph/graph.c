/* Fused AdamW on a stream of the caller's, captured in a CUDA graph.

   Step count and learning rate live in device memory, so each replay counts one step further and
   follows the schedule, with nothing but cuGraphLaunch on the host. The same steps are then run on
   the CPU: the parameters agree in every bit. */
#include "cuda.h"

#include "fusewright/fusewright.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 3, OPERANDS = 4, STEPS = 100 };

static const char *const roles[OPERANDS] = {"param", "grad", "state", "state"};
static const int64_t sizes[LAYERS] = {4096, 64, 1000};

static void check(fw_status status) {
  if (status == FW_OK)
    return;
  const fw_error *error = fw_last_error();
  fprintf(stderr, "error: %s; %s\n", error->text, error->remedy);
  exit((int)status);
}

/* One copy of the training state on one device. */
typedef struct {
  fw_program *program;
  fw_buffer *tensors[LAYERS][OPERANDS];
  fw_buffer *step, *lr; /* one f32 each, on the device */
  fw_plan *plan;
} trainer;

static fw_program *compile(fw_context *context, const fw_op *adamw, const char *target) {
  fw_request *request;
  fw_program *program;
  size_t operands;
  check(fw_request_create(adamw, &request));
  check(fw_request_target(request, target));
  check(fw_request_operand_count(request, &operands));
  for (size_t i = 0; i < operands; ++i) {
    fw_operand_info info = {0};
    info.struct_size = sizeof info;
    check(fw_request_operand(request, i, &info));
    if (operands != OPERANDS || strcmp(info.role, roles[i]) != 0) {
      fprintf(stderr, "error: expected param, grad and two states, got other operands\n");
      exit(1);
    }
  }
  check(fw_compile(context, request, &program));
  fw_request_destroy(request);
  return program;
}

static fw_buffer *filled(fw_context *context, fw_device device, const float *values, size_t count) {
  fw_buffer *buffer;
  check(fw_buffer_create(context, device, 0, count * sizeof(float), &buffer));
  check(fw_buffer_copy_in(buffer, 0, values, count * sizeof(float), NULL));
  return buffer;
}

static void make_tensors(trainer *t, fw_context *context, fw_device device,
                         fw_tensor tensors[LAYERS][OPERANDS]) {
  for (int l = 0; l < LAYERS; ++l)
    for (int k = 0; k < OPERANDS; ++k) {
      size_t count = (size_t)sizes[l];
      float *values = calloc(count, sizeof(float)); /* states start at 0 */
      if (!values)
        exit(1);
      for (size_t i = 0; k < 2 && i < count; ++i)
        values[i] = (float)((int)(i * 37 + (size_t)k * 11) % 101 - 50) / 64.0f;
      t->tensors[l][k] = filled(context, device, values, count);
      free(values);
      fw_tensor tensor = {0};
      tensor.struct_size = sizeof tensor;
      tensor.device = device;
      tensor.rank = 1;
      tensor.dtype = "f32";
      tensor.data = fw_buffer_data(t->tensors[l][k]);
      tensor.shape = &sizes[l];
      tensors[l][k] = tensor;
    }
}

static fw_scalar device_scalar(const char *name, fw_buffer *number, int advance) {
  fw_scalar scalar = {0};
  scalar.struct_size = sizeof scalar;
  scalar.name = name;
  scalar.data = fw_buffer_data(number);
  scalar.dtype = "f32";
  scalar.count = 1;
  scalar.advance = advance;
  return scalar;
}

static trainer make_trainer(fw_context *context, const fw_op *adamw, fw_device device,
                            const char *target) {
  static const float zero = 0, first_lr = 0;
  trainer t;
  fw_tensor tensors[LAYERS][OPERANDS];
  t.program = compile(context, adamw, target);
  make_tensors(&t, context, device, tensors);
  t.step = filled(context, device, &zero, 1);
  t.lr = filled(context, device, &first_lr, 1);
  fw_scalar scalars[2];
  scalars[0] = device_scalar("t", t.step, 1);
  scalars[1] = device_scalar("lr", t.lr, 0);
  fw_plan_group group = {0};
  group.struct_size = sizeof group;
  group.program = t.program;
  group.tensors = &tensors[0][0];
  group.tensor_count = (size_t)LAYERS * OPERANDS;
  group.scalars = scalars;
  group.scalar_count = 2;
  check(fw_plan_create(context, &group, 1, &t.plan));
  return t;
}

static void free_trainer(trainer *t) {
  fw_plan_destroy(t->plan);
  for (int l = 0; l < LAYERS; ++l)
    for (int k = 0; k < OPERANDS; ++k)
      fw_buffer_destroy(t->tensors[l][k]);
  fw_buffer_destroy(t->step);
  fw_buffer_destroy(t->lr);
  fw_program_destroy(t->program);
}

/* Warm-up over 10 steps, then constant. */
static float schedule(int step) { return 1e-3f * (float)(step < 10 ? step + 1 : 10) / 10.0f; }

static void train_with_graph(trainer *t, const cuda *cu) {
  cu_handle stream, graph, executable;
  enum { NON_BLOCKING = 1, THREAD_LOCAL = 1 };
  cuda_check(cu->stream_create(&stream, NON_BLOCKING), "cuStreamCreate");
  cuda_check(cu->begin_capture(stream, THREAD_LOCAL), "cuStreamBeginCapture");
  check(fw_plan_run(t->plan, NULL, 0, stream, NULL));
  cuda_check(cu->end_capture(stream, &graph), "cuStreamEndCapture");
  cuda_check(cu->instantiate(&executable, graph, 0), "cuGraphInstantiate");
  for (int step = 0; step < STEPS; ++step) {
    float lr = schedule(step);
    check(fw_buffer_copy_in(t->lr, 0, &lr, sizeof lr, stream));
    cuda_check(cu->graph_launch(executable, stream), "cuGraphLaunch");
  }
  cuda_check(cu->stream_synchronize(stream), "cuStreamSynchronize");
  cu->executable_destroy(executable);
  cu->graph_destroy(graph);
  cu->stream_destroy(stream);
}

static void train_on_cpu(trainer *t) {
  for (int step = 0; step < STEPS; ++step) {
    float lr = schedule(step);
    check(fw_buffer_copy_in(t->lr, 0, &lr, sizeof lr, NULL));
    check(fw_plan_run(t->plan, NULL, 0, NULL, NULL));
  }
}

static long differing_bits(const trainer *a, const trainer *b) {
  long differing = 0;
  for (int l = 0; l < LAYERS; ++l)
    for (int k = 0; k < OPERANDS; ++k) {
      size_t count = (size_t)sizes[l];
      uint32_t *x = malloc(count * 4), *y = malloc(count * 4);
      if (!x || !y)
        exit(1);
      check(fw_buffer_copy_out(a->tensors[l][k], 0, x, count * 4, NULL));
      check(fw_buffer_copy_out(b->tensors[l][k], 0, y, count * 4, NULL));
      for (size_t i = 0; i < count; ++i)
        differing += x[i] != y[i];
      free(x);
      free(y);
    }
  return differing;
}

int main(void) {
  cuda cu = cuda_open();
  fw_context *context;
  fw_op *adamw;
  check(fw_context_create(NULL, &context));
  check(fw_op_find(context, "adamw", &adamw));
  trainer gpu = make_trainer(context, adamw, FW_DEVICE_CUDA, "cuda:0");
  trainer cpu = make_trainer(context, adamw, FW_DEVICE_CPU, "cpu");
  train_with_graph(&gpu, &cu);
  train_on_cpu(&cpu);
  long differing = differing_bits(&gpu, &cpu);
  printf("%d replays of one captured step against %d steps on the CPU: %ld words differ\n", STEPS,
         STEPS, differing);
  free_trainer(&gpu);
  free_trainer(&cpu);
  fw_op_destroy(adamw);
  fw_context_destroy(context);
  return differing != 0;
}
