/*
 * Tensors as torch's own C functions take them: `at::Tensor` is one pointer, and stands inside the
 * Python object. So the address of a tensor, and that of a gradient that no Python object belongs
 * to, are read without a call into Python and without a reference. The functions are found by name;
 * a torch that lacks one, or fails a trial on tensors of our own, has none of them.
 */
#ifndef FUSEWRIGHT_TORCH_TENSORS_H
#define FUSEWRIGHT_TORCH_TENSORS_H

#include "binding.h"

#include <stdbool.h>

/* at::Tensor: what AOTInductor's C functions call a handle points to one. */
typedef struct {
  const void *implementation; /* c10::TensorImpl */
} torch_tensor;

enum { MOST_INLINE = 5 };

typedef struct {
  size_t offset;         /* of the torch_tensor inside a Python tensor */
  const void *undefined; /* implementation of "no gradient" */

  /* Inside an implementation: the set of dispatch keys; the pointer to its storage; rank, and sizes
     and strides of ranks up to MOST_INLINE. */
  size_t keys_offset, storage_offset, rank_offset, sizes_offset, strides_offset;

  /* AOTInductor's C shim; not 0: an exception was caught. */
  int32_t (*address)(const torch_tensor *, void **out);
  int32_t (*rank)(const torch_tensor *, int64_t *out);
  int32_t (*sizes)(const torch_tensor *, const int64_t **out);
  int32_t (*strides)(const torch_tensor *, const int64_t **out);
  int32_t (*dtype)(const torch_tensor *, int32_t *out);
  int32_t (*device_id)(const torch_tensor *, int32_t *out);

  /* Members of the C++ API; none of them raises for a tensor with memory. */
  const torch_tensor *(*gradient)(const void *implementation);
  /* Newer than 2.5, and wanted for holding gradients alone. */
  int32_t (*hold)(const torch_tensor *, torch_tensor **out);
  int32_t (*let_go)(torch_tensor *);

  bool (*is_inference)(const torch_tensor *);
  void (*raise_version)(const torch_tensor *);
} torch_tensors;

extern torch_tensors tensors;

/* Fills `tensors`, unless this torch has no such road. Never raises. */
void find_tensors(void);
/* torch_trial.c: whether `of`, whose functions are found, does what it is taken for; sets the
   offsets. An exception may be set. */
int try_tensors(torch_tensors *of, void *library);
/* Not inside of inference mode, where tensors have no versions. */
int may_try_tensors(void);
/* 0: `library` has no such function. */
int find_function(void *library, const char *name, void *out);
static inline int has_tensors(void) { return tensors.offset != 0; }

static inline const torch_tensor *tensor_in(PyObject *object) {
  return (const torch_tensor *)((const char *)object + tensors.offset);
}

static inline const void *member_of(const torch_tensor *tensor, size_t offset) {
  return (const char *)tensor->implementation + offset;
}

/* The set of dispatch keys: device, sparse or not, lazily negated or conjugated, subclasses with a
   behaviour of their own. */
static inline uint64_t keys_in(const torch_tensor *tensor) {
  return *(const uint64_t *)member_of(tensor, tensors.keys_offset);
}

static inline const void *storage_in(const torch_tensor *tensor) {
  return *(const void *const *)member_of(tensor, tensors.storage_offset);
}

/* What all but the memory of a tensor is told by, ranks up to MOST_INLINE: rank, sizes, strides,
   offset, dtype, device, keys stand behind one another. */
enum { MOST_SHAPE_BYTES = 128 };
static inline const void *shape_in(const torch_tensor *tensor) {
  return member_of(tensor, tensors.rank_offset);
}
static inline size_t shape_bytes(void) {
  return tensors.keys_offset + sizeof(uint64_t) - tensors.rank_offset;
}
static inline int64_t rank_in(const torch_tensor *tensor) {
  return *(const int64_t *)shape_in(tensor);
}

/* Rank, sizes and strides; 0: an exception was caught. */
int read_shape(const torch_tensor *tensor, int64_t *rank, const int64_t **sizes,
               const int64_t **strides);

/* has_gradients(owners, gradients, flat) -> bool: whether each owner's gradient is that of the
   list, in the memory of `flat`, or none; None: no road. */
PyObject *has_gradients(PyObject *module, PyObject *const *args, Py_ssize_t count,
                        PyObject *keywords);
/* raise_versions(list of tensors) -> bool: tells autograd of changes in place; False: no road. */
PyObject *raise_versions(PyObject *module, PyObject *list);

#endif
