/* The optimizer side of mixed precision through the C API of Fusewright: bf16 weights with f32
   masters, f16 gradients under a loss scale, and one fused step that unscales, clips, checks and
   updates all tensors, or changes none of them. */
#ifndef MIXED_TRAINER_H
#define MIXED_TRAINER_H

#include "model.h"

typedef struct trainer trainer;

/* What became of a step. */
typedef struct {
  int applied;
  long tensor;                /* the first with a gradient that is not finite, or -1 */
  double norm;                /* of all gradients, before clipping */
  double scale_before, scale; /* of the loss, for this step and for the next */
} step_result;

/* On "cpu" or "cuda". The model's values become what bf16 makes of them. What cannot be done ends
   the program with the reason. */
trainer *trainer_create(const char *device, double lr, double max_norm, model *m);

/* Takes the model's gradients and gives it new values. */
step_result trainer_step(trainer *t);

void trainer_destroy(trainer *t);

#endif
