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
  const char *device;
  fw_tensor *tensors; /* [TENSORS][operands] */
  int64_t *shapes;    /* [TENSORS]: each tensor is one dense axis */
  size_t operands;
  float **states; /* what this optimizer owns of the tensors' data; NULL elsewhere */
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
    fputs(error->log, stderr);
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

/* The memory behind one operand: the model's for parameter and gradient, ours for a state. */
static float *operand_data(optimizer *o, const fw_operand_info *info, model *m, int tensor,
                           size_t operand) {
  if (!strcmp(info->role, "param"))
    return m->value[tensor];
  if (!strcmp(info->role, "grad"))
    return m->gradient[tensor];
  if (strcmp(info->role, "state") != 0)
    fatal(EXIT_USAGE,
          "expected an optimizer with a param, a grad and states, got operand '%s' with role %s; "
          "choose another op",
          info->name, info->role);
  float *state = allocate(m->count[tensor], sizeof(float));
  for (size_t i = 0; i < m->count[tensor]; ++i)
    state[i] = (float)info->init;
  o->states[(size_t)tensor * o->operands + operand] = state;
  return state;
}

static void bind_operand(optimizer *o, size_t operand, model *m, int roles[2]) {
  fw_operand_info info = {0};
  info.struct_size = sizeof info;
  check(fw_request_operand(o->request, operand, &info));
  roles[0] += !strcmp(info.role, "param");
  roles[1] += !strcmp(info.role, "grad");
  for (int t = 0; t < TENSORS; ++t) {
    fw_tensor *tensor = &o->tensors[(size_t)t * o->operands + operand];
    tensor->struct_size = sizeof *tensor;
    tensor->device = FW_DEVICE_CPU;
    tensor->rank = 1;
    tensor->dtype = info.dtype;
    tensor->data = operand_data(o, &info, m, t, operand);
    tensor->shape = &o->shapes[t];
  }
}

static void bind_tensors(optimizer *o, model *m) {
  int roles[2] = {0, 0};
  check(fw_request_operand_count(o->request, &o->operands));
  o->tensors = allocate(TENSORS * o->operands, sizeof *o->tensors);
  o->states = allocate(TENSORS * o->operands, sizeof *o->states);
  o->shapes = allocate(TENSORS, sizeof *o->shapes);
  for (int t = 0; t < TENSORS; ++t)
    o->shapes[t] = (int64_t)m->count[t];
  for (size_t i = 0; i < o->operands; ++i)
    bind_operand(o, i, m, roles);
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

optimizer *optimizer_create(const optimizer_options *options, model *m) {
  if (strcmp(options->device, "cpu") != 0)
    fatal(
        EXIT_DEVICE,
        "expected a device that version %d.%d of the library launches on, got %s; use --device cpu",
        FW_VERSION_MAJOR, FW_VERSION_MINOR, options->device);
  optimizer *o = allocate(1, sizeof *o);
  o->device = options->device;
  check(fw_context_create(NULL, &o->context));
  if (options->file)
    o->op = parse_file(o->context, options->file, options->op);
  else
    check(fw_op_find(o->context, options->op, &o->op));
  check(fw_request_create(o->op, &o->request));
  check(fw_request_target(o->request, options->device));
  bind_tensors(o, m);
  bind_scalars(o, options->lr);
  check(fw_compile(o->context, o->request, &o->program));
  return o;
}

void optimizer_step(optimizer *o) {
  if (o->step)
    o->step->value += 1;
  check(fw_launch(o->context, o->program, o->tensors, TENSORS * o->operands, o->scalars,
                  o->scalar_count, NULL));
}

void optimizer_describe(const optimizer *o) {
  printf("optimizer %s on %s, program %.12s (%s, %.1f ms)\n", fw_op_name(o->op), o->device,
         fw_program_key(o->program), fw_program_origin(o->program),
         fw_program_compile_ms(o->program));
}

void optimizer_destroy(optimizer *o) {
  for (size_t i = 0; i < TENSORS * o->operands; ++i)
    free(o->states[i]);
  free(o->states);
  free(o->tensors);
  free(o->shapes);
  fw_program_destroy(o->program);
  fw_request_destroy(o->request);
  fw_op_destroy(o->op);
  fw_context_destroy(o->context);
  free(o);
}
