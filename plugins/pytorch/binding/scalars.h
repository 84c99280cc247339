/* Scalars of a plan, from a dict of name -> value. */
#ifndef FUSEWRIGHT_SCALARS_H
#define FUSEWRIGHT_SCALARS_H

#include "tensors.h"

typedef struct {
  fw_scalar *items;
  PyObject **names; /* bytes that the items' names point into */
  size_t count;
  /* Where the numbers in memory are; device 0: there are none. */
  int32_t device;
  int32_t device_id;
  PyObject *held; /* list of the tensors, counters and scalers that items read; NULL: none */
} scalar_list;

/* `scalars` may be NULL or None. A value is a number, a sequence of one number per entry, a tensor
   of one number or of one per entry, a Counter, or a Scaler. */
int read_scalars(PyObject *scalars, scalar_list *out);
void free_scalars(scalar_list *list);
/* Whether the numbers in memory are on a plan's device. */
int check_scalar_device(const scalar_list *list, int32_t device, int32_t device_id);

#endif
