#include "tensors.h"

/* ---- The reader ---- */

/* Raises with the place in front of `text`; `got` may be NULL. */
static int refuse(tensor_place place, const char *remedy, const char *text, PyObject *got) {
  PyObject *all = got ? PyUnicode_FromFormat("%s%S", text, got) : PyUnicode_FromString(text);
  if (all && place.entry >= 0)
    raise_error(FW_USAGE, remedy, "%s of entry %zd: %U", place.what, place.entry, all);
  else if (all)
    raise_error(FW_USAGE, remedy, "%s: %U", place.what, all);
  Py_XDECREF(all);
  return -1;
}

static int refuse_type(tensor_place place, PyObject *type) {
  PyObject *name = PyObject_GetAttrString(type, "__name__");
  if (!name)
    return -1;
  const char *remedy = "pass the plain torch.Tensor that holds its numbers";
  if (PyUnicode_CompareWithASCIIString(name, "DTensor") == 0)
    remedy = "pass its local tensor: tensor.to_local(), or tensor._local_tensor, which autograd "
             "does not see";
  else if (PyUnicode_CompareWithASCIIString(name, "FakeTensor") == 0)
    remedy = "run the step outside of FakeTensorMode, on tensors with memory";
  refuse(place, remedy, "expected a tensor with memory of its own, got a ", name);
  Py_DECREF(name);
  return -1;
}

int is_plain(PyObject *tensor) {
  static PyTypeObject *subclass; /* the last one that was plain: a model has many tensors of it */
  PyTypeObject *type = Py_TYPE(tensor);
  if (type == torch.tensor || type == torch.parameter || type == subclass)
    return 1;
  if (!PyType_IsSubtype(type, torch.tensor))
    return 0;
  PyObject *dispatch = PyObject_GetAttrString((PyObject *)type, "__torch_dispatch__");
  int plain = dispatch == torch.no_dispatch;
  Py_XDECREF(dispatch);
  PyErr_Clear();
  if (plain) {
    PyTypeObject *old = subclass;
    Py_INCREF(type);
    subclass = type;
    Py_XDECREF(old);
  }
  return plain;
}

int is_negated(PyObject *tensor) {
  PyObject *answer =
      torch.is_neg ? torch.is_neg(tensor, NULL) : PyObject_CallMethod(tensor, "is_neg", NULL);
  if (!answer)
    return -1;
  int negated = PyObject_IsTrue(answer);
  Py_DECREF(answer);
  return negated;
}

int lacks_memory(const void *data, int32_t rank, const int64_t *shape) {
  for (int32_t i = 0; i < rank; ++i)
    if (shape[i] == 0)
      return 0;
  return data == NULL;
}

/* DLPack's exchange API. 0: read; 1: ask by attributes, which says what is wrong. */
static int read_by_exchange(PyObject *tensor, tensor_view *out) {
  dl_tensor view;
  if (torch.view(tensor, &view) != 0) {
    PyErr_Clear();
    return 1;
  }
  const int32_t device = view.device.type == DL_CUDA_HOST ? FW_DEVICE_CPU : view.device.type;
  if ((device != FW_DEVICE_CPU && device != FW_DEVICE_CUDA) || view.ndim > MOST_DIMENSIONS ||
      !view.strides)
    return 1;
  out->data = (char *)view.data + view.byte_offset;
  out->device = device;
  out->device_id = device == FW_DEVICE_CPU ? 0 : view.device.id;
  out->dtype = view.dtype;
  out->rank = view.ndim;
  out->shape = view.shape;
  out->strides = view.strides;
  return lacks_memory(view.data, view.ndim, view.shape) || is_negated(tensor) != 0;
}

static int read_device(PyObject *tensor, tensor_place place, tensor_view *out) {
  PyObject *device = PyObject_GetAttrString(tensor, "device");
  PyObject *type = device ? PyObject_GetAttrString(device, "type") : NULL;
  PyObject *index = type ? PyObject_GetAttrString(device, "index") : NULL;
  int failed = -1;
  if (!index)
    goto done;
  if (PyUnicode_CompareWithASCIIString(type, "cpu") == 0)
    out->device = FW_DEVICE_CPU, out->device_id = 0, failed = 0;
  else if (PyUnicode_CompareWithASCIIString(type, "cuda") == 0)
    out->device = FW_DEVICE_CUDA,
    out->device_id = index == Py_None ? 0 : (int32_t)PyLong_AsLong(index),
    failed = PyErr_Occurred() ? -1 : 0;
  else if (PyUnicode_CompareWithASCIIString(type, "meta") == 0)
    refuse(place, "give it memory first: module.to_empty(device=...)",
           "expected a tensor with memory, got one on device ", device);
  else
    refuse(place, "move it to the CPU or to a CUDA device",
           "expected a tensor on the CPU or on a CUDA device, got one on ", device);
done:
  Py_XDECREF(index);
  Py_XDECREF(type);
  Py_XDECREF(device);
  return failed;
}

static int read_layout(PyObject *tensor, tensor_place place) {
  PyObject *layout = PyObject_GetAttrString(tensor, "layout");
  if (!layout)
    return -1;
  int is_strided = layout == torch.strided;
  if (!is_strided)
    refuse(place, "make it dense: tensor.to_dense()", "expected a strided tensor, got layout ",
           layout);
  Py_DECREF(layout);
  return is_strided ? 0 : -1;
}

static int read_dtype(PyObject *tensor, tensor_place place, tensor_view *out) {
  PyObject *dtype = PyObject_GetAttrString(tensor, "dtype");
  PyObject *index = dtype ? PyDict_GetItemWithError(torch.dtypes, dtype) : NULL;
  if (index)
    out->dtype = dtype_at(PyLong_AsSize_t(index))->dtype;
  else if (!PyErr_Occurred())
    refuse(place, "cast it to a dtype that Request.dtype() takes",
           "expected a dtype of kernels, got ", dtype);
  Py_XDECREF(dtype);
  return index ? 0 : -1;
}

/* Takes the tuple's reference. */
static int32_t read_sizes(PyObject *sizes, tensor_place place, int64_t *out) {
  Py_ssize_t rank = sizes ? PyTuple_Size(sizes) : -1;
  if (rank > MOST_DIMENSIONS)
    rank = refuse(place, "reshape it", "expected at most 64 dimensions", NULL);
  for (Py_ssize_t i = 0; i < rank; ++i)
    if ((out[i] = PyLong_AsLongLong(PyTuple_GetItem(sizes, i))) == -1 && PyErr_Occurred())
      rank = -1;
  Py_XDECREF(sizes);
  return (int32_t)rank;
}

static int read_address(PyObject *tensor, tensor_place place, tensor_view *out) {
  PyObject *address = PyObject_CallMethod(tensor, "data_ptr", NULL);
  if (!address)
    return -1;
  out->data = PyLong_AsVoidPtr(address);
  Py_DECREF(address);
  if (PyErr_Occurred())
    return -1;
  return lacks_memory(out->data, out->rank, out->shape)
             ? refuse(place, "give its storage memory before the step, or leave it out",
                      "expected a tensor with memory, got one with elements at address 0", NULL)
             : 0;
}

static int refuse_lazy_views(PyObject *tensor, tensor_place place) {
  int negated = is_negated(tensor);
  if (negated != 0)
    return negated < 0
               ? -1
               : refuse(
                     place, "pass tensor.resolve_neg()",
                     "expected a tensor whose memory holds its numbers, got a lazily negated view",
                     NULL);
  PyObject *conjugated = PyObject_CallMethod(tensor, "is_conj", NULL);
  int is_conjugated = conjugated ? PyObject_IsTrue(conjugated) : -1;
  Py_XDECREF(conjugated);
  return is_conjugated > 0
             ? refuse(
                   place, "pass tensor.resolve_conj()",
                   "expected a tensor whose memory holds its numbers, got a lazily conjugated view",
                   NULL)
             : is_conjugated;
}

static int read_by_attributes(PyObject *tensor, tensor_place place, tensor_view *out) {
  if (read_layout(tensor, place) < 0 || read_device(tensor, place, out) < 0 ||
      refuse_lazy_views(tensor, place) < 0 || read_dtype(tensor, place, out) < 0)
    return -1;
  out->shape = out->room;
  out->strides = out->room + MOST_DIMENSIONS;
  out->rank = read_sizes(PyObject_GetAttrString(tensor, "shape"), place, out->room);
  if (out->rank < 0 || read_sizes(PyObject_CallMethod(tensor, "stride", NULL), place,
                                  out->room + MOST_DIMENSIONS) < 0)
    return -1;
  return read_address(tensor, place, out);
}

int read_tensor(PyObject *tensor, tensor_place place, tensor_view *out) {
  if (find_torch() < 0)
    return -1;
  if (!is_plain(tensor)) {
    if (PyType_IsSubtype(Py_TYPE(tensor), torch.tensor))
      return refuse_type(place, (PyObject *)Py_TYPE(tensor));
    PyErr_Format(PyExc_TypeError, "expected %s to be a torch.Tensor, got %R", place.what, tensor);
    return -1;
  }
  if (torch.view && read_by_exchange(tensor, out) == 0)
    return 0;
  PyErr_Clear();
  return read_by_attributes(tensor, place, out);
}

/* ---- Tensors over memory ---- */

/* DLPack's struct without a version: every torch takes it. */
typedef struct managed_tensor {
  dl_tensor tensor;
  void *owner;
  void (*deleter)(struct managed_tensor *);
  int64_t count, stride;
} managed_tensor;

static void delete_managed(managed_tensor *managed) {
  if (!Py_IsInitialized()) /* torch lets go of it behind the interpreter's end */
    return;
  PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF((PyObject *)managed->owner);
  PyMem_Free(managed);
  PyGILState_Release(state);
}

/* torch renames a capsule that it has taken. */
static void delete_capsule(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor"))
    delete_managed(PyCapsule_GetPointer(capsule, "dltensor"));
}

PyObject *tensor_of_memory(void *data, dl_dtype dtype, dl_device device, int64_t count,
                           PyObject *owner) {
  managed_tensor *managed = zeroed(1, sizeof *managed);
  if (!managed)
    return NULL;
  managed->count = count;
  managed->stride = 1;
  managed->tensor =
      (dl_tensor){data, device, count < 0 ? 0 : 1, dtype, &managed->count, &managed->stride, 0};
  Py_INCREF(owner);
  managed->owner = owner;
  managed->deleter = delete_managed;
  PyObject *capsule = PyCapsule_New(managed, "dltensor", delete_capsule);
  if (!capsule) {
    delete_managed(managed);
    return NULL;
  }
  PyObject *tensor =
      find_torch() < 0 ? NULL : PyObject_CallFunctionObjArgs(torch.from_dlpack, capsule, NULL);
  Py_DECREF(capsule);
  return tensor;
}
