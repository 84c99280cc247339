#include "optimizer.h"

#include "fatal.h"

#include "fusewright/fusewright.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OP_BYTES = 65536 };

struct optimizer {
  fw_context *context;
  fw_op *op;
  fw_request *request;
  fw_program *program;
  fw_plan *plan;
  const char *device_name;
  fw_device device;
  model *m;
  fw_tensor *tensors;           /* [TENSORS][operands] */
  int64_t *shapes;              /* [TENSORS]: each tensor is one dense axis */
  size_t operands, param, grad; /* number of operands; places of param and grad among them */
  fw_buffer **buffers;          /* what this optimizer owns of the tensors' data; NULL elsewhere */
  fw_scalar scalars[2];
  size_t scalar_count;
  fw_scalar *step; /* the op's step among the scalars, or NULL */
};

/* Ends the program with the library's message, and its listing of the op text where it has one. */
static void check(fw_status status) {
  if (status == FW_OK)
    return;
  const fw_error *error = fw_last_error();
  if (error->log && *error->log)
    fprintf(stderr, "%s%s", error->log, error->log[strlen(error->log) - 1] == '\n' ? "" : "\n");
  fatal(status <= FW_CACHE ? (int)status : EXIT_CHECK, "%s%s%s", error->text,
        error->remedy && *error->remedy ? "; " : "", error->remedy ? error->remedy : "");
}

static fw_op *parse_file(fw_context *context, const char *path, const char *name) {
  fw_op *op = NULL;
  FILE *file = fopen(path, "rb");
  if (!file)
    fatal(EXIT_USAGE, "expected a readable op file, got '%s' (%s); give --optimizer FILE", path,
          strerror(errno));
  char *text = allocate(MAX_OP_BYTES + 1, 1);
  size_t length = fread(text, 1, MAX_OP_BYTES + 1, file);
  fclose(file);
  check(fw_op_parse(context, text, length, path, name, &op));
  free(text);
  return op;
}

/* Memory of the optimizer's own on its device, holding the tensor's first values. */
static void *own_memory(optimizer *o, int tensor, size_t operand, const float *values) {
  size_t bytes = o->m->count[tensor] * sizeof(float);
  fw_buffer **buffer = &o->buffers[(size_t)tensor * o->operands + operand];
  check(fw_buffer_create(o->context, o->device, 0, bytes, buffer));
  check(fw_buffer_copy_in(*buffer, 0, values, bytes, NULL));
  return fw_buffer_data(*buffer);
}

static void *new_state(optimizer *o, int tensor, size_t operand, double init) {
  float *values = allocate(o->m->count[tensor], sizeof(float));
  for (size_t i = 0; i < o->m->count[tensor]; ++i)
    values[i] = (float)init;
  void *data = own_memory(o, tensor, operand, values);
  free(values);
  return data;
}

/* The memory behind one operand: on the CPU the model's own for parameter and gradient. */
static void *operand_data(optimizer *o, const fw_operand_info *info, int tensor, size_t operand) {
  if (!strcmp(info->role, "state"))
    return new_state(o, tensor, operand, info->init);
  int is_param = !strcmp(info->role, "param");
  if (!is_param && strcmp(info->role, "grad") != 0)
    fatal(EXIT_USAGE,
          "expected an optimizer with a param, a grad and states, got operand '%s' with role %s; "
          "choose another op",
          info->name, info->role);
  *(is_param ? &o->param : &o->grad) = operand;
  float *values = is_param ? o->m->value[tensor] : o->m->gradient[tensor];
  return o->device == FW_DEVICE_CPU ? values : own_memory(o, tensor, operand, values);
}

static void bind_operand(optimizer *o, size_t operand, int roles[2]) {
  fw_operand_info info = {0};
  info.struct_size = sizeof info;
  check(fw_request_operand(o->request, operand, &info));
  roles[0] += !strcmp(info.role, "param");
  roles[1] += !strcmp(info.role, "grad");
  for (int t = 0; t < TENSORS; ++t) {
    fw_tensor *tensor = &o->tensors[(size_t)t * o->operands + operand];
    tensor->struct_size = sizeof *tensor;
    tensor->device = o->device;
    tensor->rank = 1;
    tensor->dtype = info.dtype;
    tensor->data = operand_data(o, &info, t, operand);
    tensor->shape = &o->shapes[t];
  }
}

static void bind_tensors(optimizer *o) {
  int roles[2] = {0, 0};
  check(fw_request_operand_count(o->request, &o->operands));
  o->tensors = allocate(TENSORS * o->operands, sizeof *o->tensors);
  o->buffers = allocate(TENSORS * o->operands, sizeof(fw_buffer *));
  o->shapes = allocate(TENSORS, sizeof *o->shapes);
  for (int t = 0; t < TENSORS; ++t)
    o->shapes[t] = (int64_t)o->m->count[t];
  for (size_t i = 0; i < o->operands; ++i)
    bind_operand(o, i, roles);
  if (roles[0] != 1 || roles[1] != 1)
    fatal(EXIT_USAGE,
          "expected an optimizer with one param and one grad, got %d and %d in op '%s'; choose "
          "another op",
          roles[0], roles[1], fw_op_name(o->op));
}

static fw_scalar *add_scalar(optimizer *o, const char *name, double value) {
  fw_scalar *scalar = &o->scalars[o->scalar_count++];
  scalar->struct_size = sizeof *scalar;
  scalar->name = name;
  scalar->value = value;
  return scalar;
}

/* Every hyper-parameter keeps the op's default but the learning rate, where one is given. */
static void bind_scalars(optimizer *o, double lr) {
  size_t count;
  int has_lr = lr < 0;
  check(fw_request_scalar_count(o->request, &count));
  for (size_t i = 0; i < count; ++i) {
    fw_scalar_info info = {0};
    info.struct_size = sizeof info;
    check(fw_request_scalar(o->request, i, &info));
    if (info.is_step && !o->step)
      o->step = add_scalar(o, info.name, 0);
    else if (lr >= 0 && !strcmp(info.name, "lr")) {
      add_scalar(o, info.name, lr);
      has_lr = 1;
    }
  }
  if (!has_lr)
    fatal(EXIT_USAGE,
          "expected an op with a hyper-parameter lr for --lr, got op '%s' without; leave --lr out",
          fw_op_name(o->op));
}

static void make_plan(optimizer *o) {
  fw_plan_group group = {0};
  group.struct_size = sizeof group;
  group.program = o->program;
  group.tensors = o->tensors;
  group.tensor_count = TENSORS * o->operands;
  check(fw_plan_create(o->context, &group, 1, &o->plan));
}

optimizer *optimizer_create(const optimizer_options *options, model *m) {
  optimizer *o = allocate(1, sizeof *o);
  o->device_name = options->device;
  o->device = strcmp(options->device, "cpu") ? FW_DEVICE_CUDA : FW_DEVICE_CPU;
  o->m = m;
  check(fw_context_create(NULL, &o->context));
  if (options->file)
    o->op = parse_file(o->context, options->file, options->op);
  else
    check(fw_op_find(o->context, options->op, &o->op));
  check(fw_request_create(o->op, &o->request));
  check(fw_request_target(o->request, options->device));
  bind_tensors(o);
  bind_scalars(o, options->lr);
  check(fw_compile(o->context, o->request, &o->program));
  make_plan(o);
  return o;
}

/* On a GPU the gradients go there and the parameters come back: the model computes on the CPU. */
void optimizer_step(optimizer *o) {
  if (o->step)
    o->step->value += 1;
  for (int t = 0; t < TENSORS; ++t) {
    fw_buffer *grad = o->buffers[(size_t)t * o->operands + o->grad];
    if (grad)
      check(fw_buffer_copy_in(grad, 0, o->m->gradient[t], fw_buffer_bytes(grad), NULL));
  }
  check(fw_plan_run(o->plan, o->scalars, o->scalar_count, NULL, NULL));
  for (int t = 0; t < TENSORS; ++t) {
    fw_buffer *param = o->buffers[(size_t)t * o->operands + o->param];
    if (param)
      check(fw_buffer_copy_out(param, 0, o->m->value[t], fw_buffer_bytes(param), NULL));
  }
}

void optimizer_describe(const optimizer *o) {
  printf("optimizer %s on %s, program %.12s (%s, %.1f ms)\n", fw_op_name(o->op), o->device_name,
         fw_program_key(o->program), fw_program_origin(o->program),
         fw_program_compile_ms(o->program));
}

void optimizer_destroy(optimizer *o) {
  fw_plan_destroy(o->plan);
  for (size_t i = 0; i < TENSORS * o->operands; ++i)
    fw_buffer_destroy(o->buffers[i]);
  free(o->buffers);
  free(o->tensors);
  free(o->shapes);
  fw_program_destroy(o->program);
  fw_request_destroy(o->request);
  fw_op_destroy(o->op);
  fw_context_destroy(o->context);
  free(o);
}
