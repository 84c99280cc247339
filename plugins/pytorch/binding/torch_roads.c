#include "torch_roads.h"

#include "torch_tensors.h"

#include <dlfcn.h>
#include <string.h>

torch_roads torch;

static const dtype_row dtype_rows[] = {{"float32", "f32", {2, 32, 1}},
                                       {"bfloat16", "bf16", {4, 16, 1}},
                                       {"float16", "f16", {2, 16, 1}},
                                       {"float64", "f64", {2, 64, 1}},
                                       {"float8_e4m3fn", "e4m3fn", {10, 8, 1}},
                                       {"float8_e5m2", "e5m2", {12, 8, 1}},
                                       {"int32", "i32", {0, 32, 1}},
                                       {"int64", "i64", {0, 64, 1}},
                                       {"int8", "i8", {0, 8, 1}},
                                       {"int16", "i16", {0, 16, 1}},
                                       {"uint8", "u8", {1, 8, 1}},
                                       {"bool", "bool", {6, 8, 1}},
                                       {"complex64", "complex64", {5, 64, 1}},
                                       {"complex128", "complex128", {5, 128, 1}}};
enum { DTYPE_ROWS = sizeof dtype_rows / sizeof *dtype_rows };

const dtype_row *dtype_at(size_t index) { return index < DTYPE_ROWS ? &dtype_rows[index] : NULL; }

const dtype_row *find_dtype(dl_dtype dtype) {
  for (size_t i = 0; i < DTYPE_ROWS; ++i)
    if (dtype_rows[i].dtype.code == dtype.code && dtype_rows[i].dtype.bits == dtype.bits &&
        dtype.lanes == 1)
      return &dtype_rows[i];
  return NULL;
}

/* An attribute that this torch may not have: NULL without an exception. */
static PyObject *optional_attribute(PyObject *owner, const char *name) {
  PyObject *found = owner ? PyObject_GetAttrString(owner, name) : NULL;
  if (!found)
    PyErr_Clear();
  return found;
}

static PyObject *make_dtypes(PyObject *module) {
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict && i < DTYPE_ROWS; ++i) {
    PyObject *dtype = optional_attribute(module, dtype_rows[i].torch_name);
    PyObject *index = PyLong_FromSize_t(i);
    if (!index || (dtype && PyDict_SetItem(dict, dtype, index) < 0))
      Py_CLEAR(dict);
    Py_XDECREF(index);
    Py_XDECREF(dtype);
  }
  return dict;
}

/* What every torch has. */
static int find_types(PyObject *module, torch_roads *out) {
  PyObject *c = PyObject_GetAttrString(module, "_C");
  PyObject *nn = c ? PyObject_GetAttrString(module, "nn") : NULL;
  if (nn) {
    out->tensor = (PyTypeObject *)PyObject_GetAttrString(module, "Tensor");
    out->parameter = (PyTypeObject *)PyObject_GetAttrString(nn, "Parameter");
    out->strided = PyObject_GetAttrString(module, "strided");
    out->from_dlpack = PyObject_GetAttrString(c, "_from_dlpack");
    out->dtypes = make_dtypes(module);
  }
  if (out->tensor)
    out->no_dispatch = PyObject_GetAttrString((PyObject *)out->tensor, "__torch_dispatch__");
  if (!PyErr_Occurred())
    out->raw_stream = optional_attribute(c, "_cuda_getCurrentRawStream");
  Py_XDECREF(nn);
  Py_XDECREF(c);
  return PyErr_Occurred() ? -1 : 0;
}

typedef struct exchange_api {
  uint32_t major, minor;
  struct exchange_api *older;
  void *allocate, *owned,
      *to_python; /* trap: tensors of its allocator keep a deleter that graph trees refuse */
  int (*view)(void *, dl_tensor *);
  int (*work_stream)(int32_t, int32_t, void **);
} exchange_api;

static void find_exchange_api(torch_roads *out) {
  PyObject *capsule = optional_attribute((PyObject *)out->tensor, "__dlpack_c_exchange_api__");
  exchange_api *api = capsule ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
  if (!api)
    PyErr_Clear();
  while (api && api->major != 1)
    api = api->older;
  if (api) {
    out->view = api->view;
    out->work_stream = api->work_stream;
  }
  Py_XDECREF(capsule); /* the struct is torch's, and lives as long as torch */
}

/* The C function of a method without arguments. */
static PyCFunction method_of(PyObject *sample, const char *name) {
  PyObject *method = optional_attribute(sample, name);
  PyCFunction function = NULL;
  if (method && PyCFunction_GetFlags(method) == METH_NOARGS)
    function = PyCFunction_GetFunction(method);
  PyErr_Clear();
  Py_XDECREF(method);
  return function;
}

static void find_methods(PyObject *module, torch_roads *out) {
  PyObject *sample = PyObject_CallMethod(module, "empty", "i", 0);
  if (!sample)
    PyErr_Clear();
  out->data_ptr = method_of(sample, "data_ptr");
  out->is_neg = method_of(sample, "is_neg");
  Py_XDECREF(sample);
  out->grad_descriptor = optional_attribute((PyObject *)out->tensor, "grad");
  if (out->grad_descriptor &&
      strncmp(Py_GetVersion(), "3.9.", 4) != 0) /* 3.9 asks heap types alone */
    out->get_grad = (descrgetfunc)PyType_GetSlot(Py_TYPE(out->grad_descriptor), Py_tp_descr_get);
  PyErr_Clear();
}

int find_torch(void) {
  if (torch.tensor)
    return 0;
  PyObject *module = PyImport_ImportModule("torch");
  if (!module)
    return -1;
  torch_roads found = {0};
  int failed = find_types(module, &found) < 0;
  if (!failed) {
    find_exchange_api(&found);
    find_methods(module, &found);
    torch = found;
  }
  Py_DECREF(module);
  return failed ? -1 : 0;
}

PyObject *describe_torch(void) {
  if (find_torch() < 0)
    return NULL;
  find_tensors();
  const struct {
    const char *name;
    int has;
  } rows[] = {{"exchange_api", torch.view != NULL},
              {"builtin_methods", torch.data_ptr && torch.is_neg},
              {"gradient_slot", torch.get_grad != NULL},
              {"c_functions", has_tensors()}};
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict && i < sizeof rows / sizeof *rows; ++i)
    if (put(dict, rows[i].name, PyBool_FromLong(rows[i].has)) < 0)
      Py_CLEAR(dict);
  return dict;
}

/* torch's functions for streams end the process where there is no such device. */
static int has_device(size_t index) {
  static size_t count;
  if (index < count)
    return 1;
  PyObject *cuda = PyImport_ImportModule("torch.cuda");
  PyObject *number = cuda ? PyObject_CallMethod(cuda, "device_count", NULL) : NULL;
  Py_XDECREF(cuda);
  if (number)
    count = PyLong_AsSize_t(number);
  Py_XDECREF(number);
  if (PyErr_Occurred()) {
    count = 0;
    return 0;
  }
  if (index >= count)
    raise_error(FW_DEVICE, "name a device that torch.cuda.device_count() counts",
                "expected a CUDA device of torch, got number %zu of %zu", index, count);
  return index < count;
}

PyObject *current_stream(PyObject *module, PyObject *device_index) {
  (void)module;
  size_t index;
  void *stream;
  if (take_index(device_index, "device_index", &index) < 0 || find_torch() < 0 ||
      !has_device(index))
    return NULL;
  if (torch.work_stream && torch.work_stream(FW_DEVICE_CUDA, (int32_t)index, &stream) == 0)
    return PyLong_FromVoidPtr(stream);
  PyErr_Clear();
  if (!torch.raw_stream)
    return raise_error(FW_DEVICE, "install a torch that is built with CUDA",
                       "expected a torch that knows CUDA streams, got one without");
  return PyObject_CallFunctionObjArgs(torch.raw_stream, device_index, NULL);
}
