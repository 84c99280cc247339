/* Tensors as the C API takes them: read off a torch.Tensor, or made of memory. */
#ifndef FUSEWRIGHT_TENSORS_H
#define FUSEWRIGHT_TENSORS_H

#include "torch_roads.h"

enum { MOST_DIMENSIONS = 64 };

typedef struct {
  void *data;
  int32_t device; /* fw_device */
  int32_t device_id;
  dl_dtype dtype;
  int32_t rank;
  const int64_t *shape; /* valid as long as the tensor and this struct */
  const int64_t *strides;
  int64_t room[2 * MOST_DIMENSIONS];
} tensor_view;

/* What an error is about: "g of entry 3"; entry -1: `what` alone. */
typedef struct {
  const char *what;
  Py_ssize_t entry;
} tensor_place;

/* Reads a tensor by the fastest road. Refused, with what to do: other layouts than strided, meta,
   fake and other tensors without memory, lazily negated or conjugated views, subclasses with a
   behaviour of their own. */
int read_tensor(PyObject *tensor, tensor_place place, tensor_view *out);

/* Whether the type has memory that may be read behind its back. */
int is_plain(PyObject *tensor);
/* Whether memory holds the negated numbers; -1 is an exception. */
int is_negated(PyObject *tensor);

/* Whether a view has elements but no memory. */
int lacks_memory(const void *data, int32_t rank, const int64_t *shape);

/* A dense tensor over memory: 0-d for count -1. Keeps `owner` alive. */
PyObject *tensor_of_memory(void *data, dl_dtype dtype, dl_device device, int64_t count,
                           PyObject *owner);

#endif
