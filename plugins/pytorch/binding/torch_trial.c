/* The trial of torch's C functions, and of where things stand inside its tensors: on tensors of our
   own, whose numbers torch tells by other ways, too. A torch that answers otherwise is asked by
   Python's attributes instead. */
#include "torch_tensors.h"

#include <string.h>

/* Implementation of a tensor as torch's own list of handles tells it. */
static const void *implementation_of(PyObject *module, void *library, PyObject *tensor) {
  int32_t (*delete)(void *);
  const void *found = NULL;
  PyObject *c = PyObject_GetAttrString(module, "_C");
  PyObject *aoti = c ? PyObject_GetAttrString(c, "_aoti") : NULL;
  PyObject *handles =
      aoti ? PyObject_CallMethod(aoti, "unsafe_alloc_void_ptrs_from_tensors", "[O]", tensor) : NULL;
  PyObject *capsule = handles ? PyList_GetItem(handles, 0) : NULL;
  void *handle = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
  if (handle && find_function(library, "aoti_torch_delete_tensor_object", &delete)) {
    found = ((const torch_tensor *)handle)->implementation;
    delete(handle);
  }
  Py_XDECREF(handles);
  Py_XDECREF(aoti);
  Py_XDECREF(c);
  return found;
}

/* Where memory has a word, from `at` on; 0: nowhere. */
static size_t offset_of(uint64_t word, const void *memory, size_t at, size_t bytes) {
  for (; at + sizeof word <= bytes; at += sizeof word)
    if (memcmp((const char *)memory + at, &word, sizeof word) == 0)
      return at;
  return 0;
}

/* The set as torch tells it; 0 is none. */
static uint64_t keys_of(PyObject *module, PyObject *tensor) {
  PyObject *c = PyObject_GetAttrString(module, "_C");
  PyObject *set = c ? PyObject_CallMethod(c, "_dispatch_keys", "O", tensor) : NULL;
  PyObject *word = set ? PyObject_CallMethod(set, "raw_repr", NULL) : NULL;
  const uint64_t keys = word ? PyLong_AsUnsignedLongLong(word) : 0;
  Py_XDECREF(word);
  Py_XDECREF(set);
  Py_XDECREF(c);
  return PyErr_Occurred() ? 0 : keys;
}

static size_t bytes_of(PyObject *object) {
  PyObject *size = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__basicsize__");
  const size_t bytes = size ? PyLong_AsSize_t(size) : 0;
  Py_XDECREF(size);
  return PyErr_Occurred() ? 0 : bytes;
}

enum { MOST_OF_IMPLEMENTATION = 192 }; /* bytes, its least size so far */

static long long integer_of(PyObject *tensor, const char *name, int is_method) {
  PyObject *number =
      is_method ? PyObject_CallMethod(tensor, name, NULL) : PyObject_GetAttrString(tensor, name);
  const long long value = number ? PyLong_AsLongLong(number) : -1;
  Py_XDECREF(number);
  return value;
}

/* Numbers of a CPU tensor of 2 x 3. */
static int tells_layout(const torch_tensors *of, const torch_tensor *tensor, PyObject *object) {
  void *address;
  int64_t rank;
  const int64_t *sizes, *strides;
  int32_t dtype, device_id;
  return of->address(tensor, &address) == 0 && of->rank(tensor, &rank) == 0 &&
         of->sizes(tensor, &sizes) == 0 && of->strides(tensor, &strides) == 0 &&
         of->dtype(tensor, &dtype) == 0 && of->device_id(tensor, &device_id) == 0 &&
         (long long)(intptr_t)address == integer_of(object, "data_ptr", 1) && rank == 2 &&
         sizes[0] == 2 && sizes[1] == 3 && strides[0] == 3 && strides[1] == 1;
}

static int counts_versions(const torch_tensors *of, const torch_tensor *tensor, PyObject *object) {
  const long long before = integer_of(object, "_version", 0);
  of->raise_version(tensor);
  return before >= 0 && integer_of(object, "_version", 0) == before + 1;
}

/* Whatever the default dtype and device are. */
static PyObject *make_probe(PyObject *module, const char *dtype_name) {
  PyObject *zeros = PyObject_GetAttrString(module, "zeros");
  PyObject *shape = Py_BuildValue("((ii))", 2, 3);
  PyObject *options = PyDict_New(), *dtype = PyObject_GetAttrString(module, dtype_name);
  PyObject *made = NULL;
  if (zeros && shape && options && dtype && PyDict_SetItemString(options, "dtype", dtype) == 0 &&
      put(options, "device", PyUnicode_FromString("cpu")) == 0)
    made = PyObject_Call(zeros, shape, options);
  Py_XDECREF(dtype);
  Py_XDECREF(options);
  Py_XDECREF(shape);
  Py_XDECREF(zeros);
  return made;
}

/* A tensor that the functions are tried on. */
typedef struct {
  PyObject *object;
  const void *implementation;
  uint64_t keys;
  uint64_t storage; /* its address */
} probe;

static uint64_t storage_of(PyObject *tensor) {
  PyObject *storage = PyObject_CallMethod(tensor, "untyped_storage", NULL);
  const long long address = storage ? integer_of(storage, "_cdata", 0) : 0;
  Py_XDECREF(storage);
  return PyErr_Occurred() ? 0 : (uint64_t)address;
}

static int take_probe(probe *out, PyObject *module, void *library) {
  return (out->implementation = implementation_of(module, library, out->object)) &&
         (out->keys = keys_of(module, out->object)) && (out->storage = storage_of(out->object));
}

static const torch_tensor *inside(const torch_tensors *of, const probe *where) {
  return (const torch_tensor *)((const char *)where->object + of->offset);
}

/* Offset of what a function of torch's gives the address of, 0 where that is elsewhere. */
static size_t offset_by(int32_t (*function)(const torch_tensor *, const int64_t **),
                        const torch_tensor *tensor) {
  const int64_t *numbers;
  if (function(tensor, &numbers) != 0)
    return 0;
  const uintptr_t at = (uintptr_t)numbers - (uintptr_t)tensor->implementation;
  return at < MOST_OF_IMPLEMENTATION ? at : 0;
}

/* Sets the offsets, by one tensor. */
static int find_offsets(torch_tensors *of, const probe *one) {
  of->offset = offset_of((uint64_t)(uintptr_t)one->implementation, one->object, sizeof(PyObject),
                         bytes_of(one->object));
  of->keys_offset =
      offset_of(one->keys, one->implementation, sizeof(void *), MOST_OF_IMPLEMENTATION);
  of->storage_offset =
      offset_of(one->storage, one->implementation, sizeof(void *), MOST_OF_IMPLEMENTATION);
  if (!of->offset || !of->keys_offset || !of->storage_offset)
    return 0;
  of->sizes_offset = offset_by(of->sizes, inside(of, one));
  of->strides_offset = offset_by(of->strides, inside(of, one));
  of->rank_offset = of->sizes_offset - sizeof(int64_t);
  return of->sizes_offset &&
         of->strides_offset == of->sizes_offset + MOST_INLINE * sizeof(int64_t) &&
         of->keys_offset > of->strides_offset &&
         of->keys_offset + sizeof(uint64_t) - of->rank_offset <= MOST_SHAPE_BYTES;
}

/* Whether they hold for another tensor. */
static int has_offsets(const torch_tensors *of, const probe *other) {
  const torch_tensor *tensor = inside(of, other);
  int64_t rank;
  return tensor->implementation == other->implementation &&
         *(const uint64_t *)member_of(tensor, of->keys_offset) == other->keys &&
         *(const uint64_t *)member_of(tensor, of->storage_offset) == other->storage &&
         of->rank(tensor, &rank) == 0 &&
         *(const int64_t *)member_of(tensor, of->rank_offset) == rank &&
         offset_by(of->sizes, tensor) == of->sizes_offset &&
         offset_by(of->strides, tensor) == of->strides_offset;
}

/* Whether what is_unchanged() compares (plan_look_tensors.c) tells two tensors apart. */
static int has_other_shape(const torch_tensors *of, const probe *one, const probe *other) {
  const size_t bytes = of->keys_offset + sizeof(uint64_t) - of->rank_offset;
  return one->keys == other->keys &&
         memcmp(member_of(inside(of, one), of->rank_offset),
                member_of(inside(of, other), of->rank_offset), bytes) != 0;
}

enum { OWNER, GRADIENT, WIDE, FLAT, NEGATED, FIRST, SECOND, PROBES };

/* Tensors that differ from another in one thing: WIDE from OWNER in dtype, NEGATED from FLAT in
   keys, SECOND from FIRST in where it begins. 0: one could not be made. */
static int make_probes(PyObject *module, void *library, probe *out) {
  PyObject *made[PROBES] = {0};
  int good = (made[OWNER] = make_probe(module, "float32")) &&
             (made[GRADIENT] = make_probe(module, "float32")) &&
             (made[WIDE] = make_probe(module, "float64")) &&
             (made[FLAT] = PyObject_CallMethod(made[GRADIENT], "reshape", "i", 6)) &&
             (made[NEGATED] = PyObject_CallMethod(module, "_neg_view", "O", made[FLAT])) &&
             (made[FIRST] = PyObject_CallMethod(made[FLAT], "narrow", "iii", 0, 0, 2)) &&
             (made[SECOND] = PyObject_CallMethod(made[FLAT], "narrow", "iii", 0, 1, 2));
  for (int i = 0; i < PROBES; ++i) {
    out[i].object = made[i];
    good = good && take_probe(&out[i], module, library);
  }
  return good;
}

static int hold_offsets(torch_tensors *of, const probe *probes) {
  if (probes[NEGATED].keys == probes[FLAT].keys || !find_offsets(of, &probes[OWNER]))
    return 0;
  for (int i = GRADIENT; i < PROBES; ++i)
    if (!has_offsets(of, &probes[i]))
      return 0;
  return has_other_shape(of, &probes[OWNER], &probes[WIDE]) &&
         has_other_shape(of, &probes[FIRST], &probes[SECOND]);
}

static int finds_gradients(torch_tensors *of, const probe *probes) {
  const void *owner = probes[OWNER].implementation;
  of->undefined = of->gradient(owner)->implementation;
  return of->undefined != probes[GRADIENT].implementation &&
         PyObject_SetAttrString(probes[OWNER].object, "grad", probes[GRADIENT].object) == 0 &&
         of->gradient(owner)->implementation == probes[GRADIENT].implementation;
}

int try_tensors(torch_tensors *of, void *library) {
  PyObject *module = PyImport_ImportModule("torch");
  probe probes[PROBES];
  if (!module)
    return 0;
  int good = make_probes(module, library, probes) && hold_offsets(of, probes) &&
             finds_gradients(of, probes);
  if (good) {
    const torch_tensor *tensor = inside(of, &probes[OWNER]);
    good = tells_layout(of, tensor, probes[OWNER].object) && !of->is_inference(tensor) &&
           counts_versions(of, tensor, probes[OWNER].object);
  }
  for (int i = 0; i < PROBES; ++i)
    Py_XDECREF(probes[i].object);
  Py_DECREF(module);
  return good && !PyErr_Occurred();
}

int may_try_tensors(void) {
  PyObject *module = PyImport_ImportModule("torch");
  PyObject *answer = module ? PyObject_CallMethod(module, "is_inference_mode_enabled", NULL) : NULL;
  const int inside_inference = answer ? PyObject_IsTrue(answer) : 1;
  Py_XDECREF(answer);
  Py_XDECREF(module);
  PyErr_Clear();
  return !inside_inference;
}
