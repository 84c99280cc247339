/*
 * What the module takes of torch, found once by name in the torch that Python has loaded. A road
 * that this torch does not have is NULL, and the next slower one is taken.
 */
#ifndef FUSEWRIGHT_TORCH_ROADS_H
#define FUSEWRIGHT_TORCH_ROADS_H

#include "binding.h"

/* DLPack's structs, as far as they are used (dlpack.h 1.2). */
typedef struct {
  int32_t type; /* fw_device has the numbers */
  int32_t id;
} dl_device;

typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} dl_dtype;

typedef struct {
  void *data;
  dl_device device;
  int32_t ndim;
  dl_dtype dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} dl_tensor;

enum { DL_CUDA_HOST = 3 };

typedef struct {
  PyTypeObject *tensor;
  PyTypeObject *parameter;
  PyObject *no_dispatch; /* __torch_dispatch__ of tensors that are no subclass with a behaviour of
                            its own */
  PyObject *strided;     /* layout */
  PyObject *dtypes;      /* torch.dtype -> index of a row of dtype_row() */
  PyObject *from_dlpack; /* capsule -> tensor */

  /* DLPack's exchange API, torch >= 2.10: no reference is taken. */
  int (*view)(void *tensor, dl_tensor *out);
  int (*work_stream)(int32_t device_type, int32_t device_id, void **out);
  PyObject *raw_stream; /* device index -> stream */

  /* torch's own methods behind tensor.data_ptr() and .is_neg(). */
  PyCFunction data_ptr;
  PyCFunction is_neg;
  /* The getter behind tensor.grad; Python >= 3.10. */
  descrgetfunc get_grad;
  PyObject *grad_descriptor;
} torch_roads;

extern torch_roads torch;

/* Imports torch on the first call. */
int find_torch(void);
/* dict: road -> whether this torch has it. */
PyObject *describe_torch(void);
/* Stream that torch queues on for a device. */
PyObject *current_stream(PyObject *module, PyObject *device_index);

typedef struct {
  const char *torch_name;
  const char *name; /* ours; of integers too, for scalars in memory and for errors */
  dl_dtype dtype;
} dtype_row;

/* NULL behind the last row. */
const dtype_row *dtype_at(size_t index);
const dtype_row *find_dtype(dl_dtype dtype);

#endif
