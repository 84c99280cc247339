#include "trainer.h"

#include "fatal.h"

#include "fusewright/fusewright.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERANDS = 8, MAX_BUFFERS = TENSORS * MAX_OPERANDS + 8 };

struct trainer {
  fw_context *context;
  fw_program *to_bf16, *to_f16; /* y = a*x on the host */
  fw_program *step_program;
  fw_plan *plan;
  fw_scaler *scaler;
  fw_device device;
  model *m;
  int64_t shapes[TENSORS];
  fw_buffer *buffers[MAX_BUFFERS]; /* all memory of the step, for the end */
  size_t buffer_count;
  fw_buffer *weights[TENSORS], *gradients[TENSORS]; /* bf16 and f16, on the device */
  fw_buffer *norm, *skipped, *count;                /* one number each, on the device */
  uint16_t *host[TENSORS];                          /* a tensor on its way to or from the device */
  fw_scalar scalars[4];
};

static void check(fw_status status) {
  if (status == FW_OK)
    return;
  const fw_error *error = fw_last_error();
  if (error->log && *error->log)
    fputs(error->log, stderr);
  fatal(status <= FW_CACHE ? (int)status : EXIT_CHECK, "%s%s%s", error->text,
        error->remedy && *error->remedy ? "; " : "", error->remedy ? error->remedy : "");
}

static fw_request *request_of(trainer *t, const char *name, const char *target) {
  fw_op *op;
  fw_request *request;
  check(fw_op_find(t->context, name, &op));
  check(fw_request_create(op, &request));
  check(fw_request_target(request, target));
  fw_op_destroy(op);
  return request;
}

/* The shipped op `scale` on the host, with 16-bit results: it narrows what the model computes. */
static fw_program *narrowing(trainer *t, const char *dtype) {
  fw_request *request = request_of(t, "scale", "cpu");
  fw_program *program;
  check(fw_request_dtype(request, "out", dtype));
  check(fw_compile(t->context, request, &program));
  fw_request_destroy(request);
  return program;
}

static fw_tensor tensor_of(trainer *t, fw_device device, int tensor, const char *dtype,
                           void *data) {
  fw_tensor out = {0};
  out.struct_size = sizeof out;
  out.device = device;
  out.rank = 1;
  out.dtype = dtype;
  out.data = data;
  out.shape = &t->shapes[tensor];
  return out;
}

static fw_scalar scalar_of(const char *name, double value) {
  fw_scalar out = {0};
  out.struct_size = sizeof out;
  out.name = name;
  out.value = value;
  return out;
}

/* host[i] = factor * values[i], rounded to 16 bits. */
static void narrow(trainer *t, fw_program *program, const char *dtype, float *const *values,
                   double factor) {
  fw_tensor tensors[2 * TENSORS];
  fw_scalar scalar = scalar_of("a", factor);
  for (int i = 0; i < TENSORS; ++i) {
    tensors[2 * i] = tensor_of(t, FW_DEVICE_CPU, i, "f32", values[i]);
    tensors[2 * i + 1] = tensor_of(t, FW_DEVICE_CPU, i, dtype, t->host[i]);
  }
  check(fw_launch(t->context, program, tensors, 2 * TENSORS, &scalar, 1, NULL));
}

/* The model computes with the weights as bf16 has them. */
static void widen_weights(trainer *t) {
  for (int i = 0; i < TENSORS; ++i)
    for (size_t k = 0; k < t->m->count[i]; ++k) {
      uint32_t bits = (uint32_t)t->host[i][k] << 16;
      memcpy(&t->m->value[i][k], &bits, sizeof bits);
    }
}

static fw_buffer *memory(trainer *t, const void *first, size_t bytes) {
  fw_buffer *buffer;
  void *zeros = NULL;
  check(fw_buffer_create(t->context, t->device, 0, bytes, &buffer));
  if (!first)
    first = zeros = allocate(bytes, 1);
  check(fw_buffer_copy_in(buffer, 0, first, bytes, NULL));
  free(zeros);
  return t->buffers[t->buffer_count++] = buffer;
}

/* Memory for one operand of one tensor: the masters start from the model's values in f32, the
   moments from 0. */
static void *operand_memory(trainer *t, const fw_operand_info *info, int tensor) {
  size_t count = t->m->count[tensor];
  if (!strcmp(info->role, "param"))
    return fw_buffer_data(t->weights[tensor] = memory(t, t->host[tensor], 2 * count));
  if (!strcmp(info->role, "grad"))
    return fw_buffer_data(t->gradients[tensor] = memory(t, NULL, 2 * count));
  int is_master = !strcmp(info->name, "p.master");
  return fw_buffer_data(memory(t, is_master ? t->m->value[tensor] : NULL, 4 * count));
}

/* One number in all: the norm, and what became of the step. */
static void *number_memory(trainer *t, const fw_operand_info *info) {
  fw_buffer *buffer = memory(t, NULL, sizeof(float));
  if (!strcmp(info->name, "all.norm"))
    t->norm = buffer;
  else if (!strcmp(info->name, "all.skipped"))
    t->skipped = buffer;
  return fw_buffer_data(buffer);
}

static fw_request *step_request(trainer *t, const char *device) {
  static const char *const features[] = {"unscale", "clip", "master", "guard"};
  fw_request *request = request_of(t, "adamw", device);
  for (size_t i = 0; i < sizeof features / sizeof *features; ++i)
    check(fw_request_feature(request, features[i]));
  check(fw_request_dtype(request, "param", "bf16"));
  check(fw_request_dtype(request, "grad", "f16"));
  return request;
}

/* Operands of elements come tensor by tensor, those of all once behind them. */
static size_t bind_tensors(trainer *t, fw_request *request, fw_tensor *tensors) {
  static const int64_t one = 1;
  fw_operand_info operands[MAX_OPERANDS];
  size_t count, elements = 0;
  check(fw_request_operand_count(request, &count));
  if (count > MAX_OPERANDS)
    fatal(EXIT_CHECK, "expected at most %d operands, got %zu; enlarge MAX_OPERANDS", MAX_OPERANDS,
          count);
  for (size_t i = 0; i < count; ++i) {
    memset(&operands[i], 0, sizeof operands[i]);
    operands[i].struct_size = sizeof operands[i];
    check(fw_request_operand(request, i, &operands[i]));
    elements += !strcmp(operands[i].scope, "element");
  }
  size_t all = TENSORS * elements, place = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!strcmp(operands[i].scope, "element")) {
      for (int k = 0; k < TENSORS; ++k)
        tensors[(size_t)k * elements + place] =
            tensor_of(t, t->device, k, operands[i].dtype, operand_memory(t, &operands[i], k));
      ++place;
    } else {
      tensors[all] = tensor_of(t, t->device, 0, operands[i].dtype, number_memory(t, &operands[i]));
      tensors[all++].shape = &one;
    }
  }
  return all;
}

static void make_plan(trainer *t, const char *device) {
  fw_tensor tensors[MAX_OPERANDS * TENSORS];
  fw_request *request = step_request(t, device);
  fw_plan_group group = {0};
  group.struct_size = sizeof group;
  group.tensor_count = bind_tensors(t, request, tensors);
  group.tensors = tensors;
  check(fw_compile(t->context, request, &t->step_program));
  group.program = t->step_program;
  check(fw_plan_create(t->context, &group, 1, &t->plan));
  fw_request_destroy(request);
}

/* The count of steps stands on the device, so that a skipped step is not counted. */
static void make_scalars(trainer *t, double lr, double max_norm) {
  int64_t none = 0;
  t->count = memory(t, &none, sizeof none);
  t->scalars[0] = scalar_of("t", 0);
  t->scalars[0].data = fw_buffer_data(t->count);
  t->scalars[0].dtype = "i64";
  t->scalars[0].count = 1;
  t->scalars[0].advance = 1;
  t->scalars[1] = scalar_of("lr", lr);
  t->scalars[2] = scalar_of("all.max_norm", max_norm);
  t->scalars[3].struct_size = sizeof t->scalars[3];
  check(fw_scaler_scalar(t->scaler, &t->scalars[3])); /* all.scale */
}

trainer *trainer_create(const char *device, double lr, double max_norm, model *m) {
  trainer *t = allocate(1, sizeof *t);
  fw_scaler_options options;
  t->device = strcmp(device, "cpu") ? FW_DEVICE_CUDA : FW_DEVICE_CPU;
  t->m = m;
  check(fw_context_create(NULL, &t->context));
  t->to_bf16 = narrowing(t, "bf16");
  t->to_f16 = narrowing(t, "f16");
  for (int i = 0; i < TENSORS; ++i) {
    t->shapes[i] = (int64_t)m->count[i];
    t->host[i] = allocate(m->count[i], sizeof(uint16_t));
  }
  narrow(t, t->to_bf16, "bf16", m->value, 1);
  fw_scaler_options_init(&options);
  options.device = device;
  options.growth_interval = 200;
  check(fw_scaler_create(t->context, &options, &t->scaler));
  make_plan(t, device);
  make_scalars(t, lr, max_norm);
  widen_weights(t);
  return t;
}

static fw_scaler_state state_of(trainer *t) {
  fw_scaler_state state = {0};
  state.struct_size = sizeof state;
  check(fw_scaler_read(t->scaler, &state));
  return state;
}

static void bring_weights(trainer *t) {
  for (int i = 0; i < TENSORS; ++i)
    check(fw_buffer_copy_out(t->weights[i], 0, t->host[i], fw_buffer_bytes(t->weights[i]), NULL));
  widen_weights(t);
}

/* A model on the GPU would multiply its loss there and never wait; this one computes on the host,
   so it asks for the scale and multiplies the gradients, which is the same. */
step_result trainer_step(trainer *t) {
  step_result result;
  float norm;
  result.scale_before = state_of(t).scale;
  narrow(t, t->to_f16, "f16", t->m->gradient, result.scale_before);
  for (int i = 0; i < TENSORS; ++i)
    check(
        fw_buffer_copy_in(t->gradients[i], 0, t->host[i], fw_buffer_bytes(t->gradients[i]), NULL));
  const void *skipped = fw_buffer_data(t->skipped);
  check(fw_scaler_claim(t->scaler, t->plan));
  check(fw_plan_run(t->plan, t->scalars, 4, NULL, NULL));
  check(fw_scaler_update(t->scaler, &skipped, 1, NULL));
  check(fw_scaler_wait(t->scaler, NULL));
  check(fw_buffer_copy_out(t->norm, 0, &norm, sizeof norm, NULL));
  const fw_scaler_state state = state_of(t);
  result.applied = state.outcome == FW_STEP_APPLIED;
  result.tensor = (long)state.tensor;
  result.norm = norm;
  result.scale = state.scale;
  bring_weights(t);
  return result;
}

void trainer_destroy(trainer *t) {
  fw_plan_destroy(t->plan);
  fw_scaler_destroy(t->scaler);
  for (size_t i = 0; i < t->buffer_count; ++i)
    fw_buffer_destroy(t->buffers[i]);
  for (int i = 0; i < TENSORS; ++i)
    free(t->host[i]);
  fw_program_destroy(t->step_program);
  fw_program_destroy(t->to_f16);
  fw_program_destroy(t->to_bf16);
  fw_context_destroy(t->context);
  free(t);
}
