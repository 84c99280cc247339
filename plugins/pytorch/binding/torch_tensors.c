#include "torch_tensors.h"

#include "tensors.h"

#include <dlfcn.h>
#include <string.h>

torch_tensors tensors;

/* ---- By name ---- */

/* ISO C has no cast between pointers to data and to functions. */
static int find_function(void *library, const char *name, void *out) {
  void *found = library ? dlsym(library, name) : NULL;
  memcpy(out, &found, sizeof found);
  return found != NULL;
}

static int find_functions(torch_tensors *out) {
  void *cpu = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  void *core = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD);
  const struct {
    void *library;
    const char *name;
    void *function;
  } rows[] = {
      {cpu, "aoti_torch_get_data_ptr", &out->address},
      {cpu, "aoti_torch_get_dim", &out->rank},
      {cpu, "aoti_torch_get_sizes", &out->sizes},
      {cpu, "aoti_torch_get_strides", &out->strides},
      {cpu, "aoti_torch_get_dtype", &out->dtype},
      {cpu, "aoti_torch_get_device_index", &out->device_id},
      {core, "_ZNK3c1010TensorImpl4gradEv", &out->gradient},
      {cpu, "_ZN2at6native12is_inferenceERKNS_6TensorE", &out->is_inference},
      {cpu, "_ZN5torch8autograd4impl12bump_versionERKN2at6TensorE", &out->raise_version},
  };
  int all = 1;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    all &= find_function(rows[i].library, rows[i].name, rows[i].function);
  /* torch keeps both. */
  if (cpu)
    dlclose(cpu);
  if (core)
    dlclose(core);
  return all;
}

/* ---- The trial ---- */

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

enum { MOST_OF_IMPLEMENTATION = 256, MOST_OF_STORAGE = 64 }; /* bytes; they have some 190 and 90 */

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
static PyObject *make_probe(PyObject *module) {
  PyObject *zeros = PyObject_GetAttrString(module, "zeros");
  PyObject *shape = Py_BuildValue("((ii))", 2, 3);
  PyObject *options = PyDict_New(), *dtype = PyObject_GetAttrString(module, "float32");
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

/* ---- Layouts ---- */

int read_shape(const torch_tensor *tensor, int64_t *rank, const int64_t **sizes,
               const int64_t **strides) {
  *rank = rank_in(tensor);
  if (*rank <= MOST_INLINE) {
    *sizes = member_of(tensor, tensors.sizes_offset);
    *strides = member_of(tensor, tensors.strides_offset);
    return 1;
  }
  return tensors.sizes(tensor, sizes) == 0 && tensors.strides(tensor, strides) == 0;
}

/* A tensor that the functions are tried on. */
typedef struct {
  PyObject *object;
  const void *implementation;
  uint64_t keys;
  uint64_t storage; /* its address */
  uint64_t data;    /* of the storage */
} probe;

static int read_storage(probe *out) {
  PyObject *storage = PyObject_CallMethod(out->object, "untyped_storage", NULL);
  out->storage = storage ? (uint64_t)integer_of(storage, "_cdata", 0) : 0;
  out->data = storage ? (uint64_t)integer_of(storage, "data_ptr", 1) : 0;
  Py_XDECREF(storage);
  return !PyErr_Occurred() && out->storage && out->data;
}

static int take_probe(probe *out, PyObject *object, PyObject *module, void *library) {
  out->object = object;
  out->implementation = object ? implementation_of(module, library, object) : NULL;
  out->keys = object ? keys_of(module, object) : 0;
  return out->implementation && out->keys && read_storage(out);
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
  of->data_offset =
      offset_of(one->data, (const void *)(uintptr_t)one->storage, sizeof(void *), MOST_OF_STORAGE);
  if (!of->offset || !of->keys_offset || !of->storage_offset || !of->data_offset)
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
         memcmp((const char *)(uintptr_t)other->storage + of->data_offset, &other->data,
                sizeof other->data) == 0 &&
         of->rank(tensor, &rank) == 0 &&
         *(const int64_t *)member_of(tensor, of->rank_offset) == rank &&
         offset_by(of->sizes, tensor) == of->sizes_offset &&
         offset_by(of->strides, tensor) == of->strides_offset;
}

/* Whether all functions do what they are taken for. */
static int try_tensors(torch_tensors *of, PyObject *module, void *library) {
  PyObject *owner = make_probe(module), *gradient = make_probe(module);
  PyObject *flat = gradient ? PyObject_CallMethod(gradient, "reshape", "i", 6) : NULL;
  PyObject *negated = flat ? PyObject_CallMethod(module, "_neg_view", "O", flat) : NULL;
  probe probes[3]; /* the last differs in rank and keys */
  int good = 0;
  if (!take_probe(&probes[0], owner, module, library) ||
      !take_probe(&probes[1], gradient, module, library) ||
      !take_probe(&probes[2], negated, module, library) || probes[0].keys == probes[2].keys ||
      !find_offsets(of, &probes[0]) || !has_offsets(of, &probes[1]) || !has_offsets(of, &probes[2]))
    goto done;
  const torch_tensor *tensor = inside(of, &probes[0]);
  of->undefined = of->gradient(probes[0].implementation)->implementation;
  good = PyObject_SetAttrString(owner, "grad", gradient) == 0 &&
         of->gradient(probes[0].implementation)->implementation == probes[1].implementation &&
         of->undefined != probes[1].implementation && tells_layout(of, tensor, owner) &&
         !of->is_inference(tensor) && counts_versions(of, tensor, owner);
done:
  Py_XDECREF(negated);
  Py_XDECREF(flat);
  Py_XDECREF(gradient);
  Py_XDECREF(owner);
  return good && !PyErr_Occurred();
}

enum { MOST_TRIALS = 10 };

void find_tensors(void) {
  static int trials; /* one inside of inference mode, say, fails, and the next one need not */
  torch_tensors found = {0};
  if (has_tensors() || trials == MOST_TRIALS)
    return;
  ++trials;
  if (!find_functions(&found))
    return;
  PyObject *module = PyImport_ImportModule("torch");
  void *library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (module && library && try_tensors(&found, module, library))
    tensors = found;
  if (library)
    dlclose(library);
  Py_XDECREF(module);
  PyErr_Clear();
}

/* ---- Versions ---- */

PyObject *raise_versions(PyObject *module, PyObject *list) {
  (void)module;
  if (find_torch() < 0)
    return NULL;
  if (!PyList_Check(list))
    return PyErr_Format(PyExc_TypeError, "expected a list of tensors, got %R", list);
  if (!has_tensors())
    Py_RETURN_FALSE;
  const Py_ssize_t count = PyList_Size(list);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *object = PyList_GetItem(list, i);
    if (!is_plain(object) && !PyType_IsSubtype(Py_TYPE(object), torch.tensor))
      return PyErr_Format(PyExc_TypeError, "expected a list of tensors, got %R in it", object);
    if (!tensors.is_inference(tensor_in(object)))
      tensors.raise_version(tensor_in(object));
  }
  Py_RETURN_TRUE;
}
