/* fw_world over a Python callable: all_reduce(tensor, kind). */
#ifndef FUSEWRIGHT_WORLD_H
#define FUSEWRIGHT_WORLD_H

#include "binding.h"

typedef struct {
  fw_world world;
  PyObject *all_reduce;
  PyObject *owner; /* of the memory that is reduced */
  int32_t device, device_id;
  PyObject *error[3]; /* what all_reduce raised: type, value, traceback */
} python_world;

/* What fw_plan_run takes; NULL where `all_reduce` is NULL or None. */
const fw_world *begin_world(python_world *self, PyObject *all_reduce, PyObject *owner,
                            int32_t device, int32_t device_id);
/* 1: all_reduce had raised, and its exception is set again. */
int end_world(python_world *self);

#endif
