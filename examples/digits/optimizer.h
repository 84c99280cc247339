/* A fused optimizer step through the C API of Fusewright: any op with one parameter, one gradient
   and states steps all tensors of a model in one launch, on the CPU or a GPU. */
#ifndef DIGITS_OPTIMIZER_H
#define DIGITS_OPTIMIZER_H

#include "model.h"

typedef struct {
  const char *op;     /* name of a shipped op, or of the op in `file` */
  const char *file;   /* an op file of the user's; NULL: a shipped op */
  const char *device; /* "cpu" or "cuda" */
  double lr;          /* below 0: the op's own default */
} optimizer_options;

typedef struct optimizer optimizer;

/* Compiles the op for the model's tensors; what cannot be done ends the program with the reason. */
optimizer *optimizer_create(const optimizer_options *options, model *m);

/* p, states <- op(p, gradient, states) for every tensor. */
void optimizer_step(optimizer *o);

/* Prints the op, the device and where its program came from. */
void optimizer_describe(const optimizer *o);

void optimizer_destroy(optimizer *o);

#endif
