#include "scalars.h"

#include <string.h>

PyTypeObject *counter_type;

/* ---- Reading ---- */

static int read_numbers(PyObject *sequence, const char *name, fw_scalar *out) {
  PyObject *tuple = PySequence_Tuple(sequence);
  if (!tuple)
    return -1;
  Py_ssize_t count = PyTuple_Size(tuple);
  double *values = PyMem_Malloc((count ? (size_t)count : 1) * sizeof *values);
  if (!values) {
    PyErr_NoMemory();
    count = -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i)
    values[i] = PyFloat_AsDouble(PyTuple_GetItem(tuple, i));
  Py_DECREF(tuple);
  out->values = values; /* free_scalars() */
  if (count < 0 || PyErr_Occurred())
    return -1;
  out->count = (size_t)count;
  return count ? 0
               : (raise_error(FW_USAGE, "pass one number for each entry, or one number",
                              "scalar '%s': expected numbers, got an empty list", name),
                  -1);
}

static int hold(scalar_list *list, PyObject *object) {
  if (!list->held && !(list->held = PyList_New(0)))
    return -1;
  return PyList_Append(list->held, object);
}

/* All numbers in memory of one list are on one device. */
static int note_device(scalar_list *list, const char *name, int32_t device, int32_t device_id) {
  if (list->device && (list->device != device || list->device_id != device_id)) {
    raise_error(FW_USAGE, "keep them on the plan's device",
                "scalar '%s': expected its numbers on the device of the others, got another", name);
    return -1;
  }
  list->device = device;
  list->device_id = device_id;
  return 0;
}

static int64_t elements_of(const tensor_view *view) {
  int64_t elements = 1;
  for (int32_t i = 0; i < view->rank; ++i)
    elements *= view->shape[i];
  return elements;
}

static int read_memory(PyObject *tensor, const char *name, scalar_list *list, fw_scalar *out) {
  tensor_view view;
  if (read_tensor(tensor, (tensor_place){name, -1}, &view) < 0)
    return -1;
  const dtype_row *row = find_dtype(view.dtype);
  const char *dtype = row ? row->name : "another";
  const int64_t elements = elements_of(&view);
  if (elements != 1 && !(view.rank == 1 && view.strides[0] == 1 && elements > 0)) {
    raise_error(FW_USAGE, "pass tensor.reshape(-1).contiguous()",
                "scalar '%s': expected one number, or a dense list of one per entry, got a tensor "
                "of %d dimensions",
                name, (int)view.rank);
    return -1;
  }
  if (strcmp(dtype, "f32") && strcmp(dtype, "f64") && strcmp(dtype, "i32") &&
      strcmp(dtype, "i64")) {
    raise_error(FW_USAGE, "cast it",
                "scalar '%s': expected dtype float32, float64, int32 or int64, got %s", name,
                row ? row->torch_name : "another");
    return -1;
  }
  out->data = view.data;
  out->dtype = dtype;
  out->count = (size_t)elements;
  return note_device(list, name, view.device, view.device_id) < 0 ? -1 : hold(list, tensor);
}

static int read_counter(CounterObject *counter, const char *name, scalar_list *list,
                        fw_scalar *out) {
  out->advance = 1;
  return read_memory(counter->tensor, name, list, out);
}

static int read_scaler(ScalerObject *scaler, const char *name, scalar_list *list, fw_scalar *out) {
  out->struct_size = sizeof *out;
  if (check(fw_scaler_scalar(scaler->handle, out)) < 0)
    return -1;
  out->name = name;
  return note_device(list, name, scaler->device, scaler->device_id) < 0
             ? -1
             : hold(list, (PyObject *)scaler);
}

static int read_scalar(PyObject *value, const char *name, scalar_list *list, fw_scalar *out) {
  out->struct_size = sizeof *out;
  out->name = name;
  if (PyFloat_Check(value) || PyLong_Check(value)) {
    out->value = PyFloat_AsDouble(value);
    return PyErr_Occurred() ? -1 : 0;
  }
  if (Py_TYPE(value) == counter_type)
    return read_counter((CounterObject *)value, name, list, out);
  if (Py_TYPE(value) == scaler_type)
    return read_scaler((ScalerObject *)value, name, list, out);
  if (PyList_Check(value) || PyTuple_Check(value))
    return read_numbers(value, name, out);
  if (find_torch() < 0)
    return -1;
  if (PyType_IsSubtype(Py_TYPE(value), torch.tensor))
    return read_memory(value, name, list, out);
  out->value = PyFloat_AsDouble(value); /* numbers of NumPy */
  return PyErr_Occurred() ? -1 : 0;
}

int read_scalars(PyObject *scalars, scalar_list *out) {
  *out = (scalar_list){0};
  if (!scalars || scalars == Py_None)
    return 0;
  if (!PyDict_Check(scalars)) {
    PyErr_Format(PyExc_TypeError, "expected scalars to be a dict of name -> value, got %R",
                 scalars);
    return -1;
  }
  Py_ssize_t count = PyDict_Size(scalars), at = 0;
  if (count == 0)
    return 0;
  out->items = zeroed((size_t)count, sizeof *out->items);
  out->names = zeroed((size_t)count, sizeof *out->names);
  if (!out->items || !out->names) {
    free_scalars(out);
    return -1;
  }
  PyObject *key, *value;
  for (; out->count < (size_t)count && PyDict_Next(scalars, &at, &key, &value); ++out->count) {
    Py_INCREF(value); /* a number's own conversion may change the dict */
    const char *name = name_of(key, "the name of a scalar", &out->names[out->count]);
    int failed = !name || read_scalar(value, name, out, &out->items[out->count]) < 0;
    Py_DECREF(value);
    if (failed) {
      ++out->count; /* it may have numbers to be freed */
      free_scalars(out);
      return -1;
    }
  }
  return 0;
}

void free_scalars(scalar_list *list) {
  for (size_t i = 0; i < list->count; ++i) {
    PyMem_Free((void *)list->items[i].values);
    Py_XDECREF(list->names[i]);
  }
  PyMem_Free(list->items);
  PyMem_Free(list->names);
  Py_XDECREF(list->held);
  *list = (scalar_list){0};
}

int check_scalar_device(const scalar_list *list, int32_t device, int32_t device_id) {
  if (!list->device || (list->device == device && list->device_id == device_id))
    return 0;
  const char *kinds[] = {"cpu", "cuda"};
  raise_error(FW_USAGE, "move the tensors of scalars to the plan's device",
              "expected numbers in memory of %s:%d, got some of %s:%d",
              kinds[device == FW_DEVICE_CUDA], (int)device_id,
              kinds[list->device == FW_DEVICE_CUDA], (int)list->device_id);
  return -1;
}

/* ---- Counter ---- */

static PyObject *counter_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static char *names[] = {"tensor", NULL};
  PyObject *tensor;
  tensor_view view;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:Counter", names, &tensor) ||
      read_tensor(tensor, (tensor_place){"tensor", -1}, &view) < 0)
    return NULL;
  CounterObject *self = new_object(type);
  if (self) {
    Py_INCREF(tensor);
    self->tensor = tensor;
  }
  return (PyObject *)self;
}

static int counter_traverse(CounterObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(self->tensor);
  return 0;
}

static int counter_clear(CounterObject *self) {
  Py_CLEAR(self->tensor);
  return 0;
}

static void counter_dealloc(CounterObject *self) {
  PyObject_GC_UnTrack(self);
  counter_clear(self);
  free_object(self);
}

static PyObject *counter_tensor(CounterObject *self, void *unused) {
  (void)unused;
  PyObject *tensor = self->tensor ? self->tensor : Py_None;
  Py_INCREF(tensor);
  return tensor;
}

static PyGetSetDef getters[] = {
    {"tensor", (getter)counter_tensor, NULL, "the tensor that holds the numbers", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    SLOT(Py_tp_new, counter_new),
    SLOT(Py_tp_dealloc, counter_dealloc),
    SLOT(Py_tp_traverse, counter_traverse),
    SLOT(Py_tp_clear, counter_clear),
    SLOT(Py_tp_getset, getters),
    SLOT(Py_tp_doc,
         "Counter(tensor)\n\nA scalar that is counted: a run reads one more than the tensor holds, "
         "and writes it back\n"
         "when the step is applied. tensor: one number, or one per entry; f32, f64, i32 or i64."),
    {0, NULL}};

static PyType_Spec spec = {"fusewright._C.Counter", sizeof(CounterObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

int add_counter_type(PyObject *module) {
  counter_type = add_type(module, &spec, "Counter");
  return counter_type ? 0 : -1;
}
