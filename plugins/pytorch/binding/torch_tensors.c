#include "torch_tensors.h"

#include "tensors.h"

#include <dlfcn.h>
#include <string.h>

torch_tensors tensors;

/* ---- By name ---- */

/* ISO C has no cast between pointers to data and to functions. */
int find_function(void *library, const char *name, void *out) {
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
  if (!find_function(cpu, "aoti_torch_new_tensor_handle", &out->hold) ||
      !find_function(cpu, "aoti_torch_delete_tensor_object", &out->let_go))
    out->hold = NULL;
  /* torch keeps both. */
  if (cpu)
    dlclose(cpu);
  if (core)
    dlclose(core);
  return all;
}

void find_tensors(void) {
  enum { MOST_TRIALS = 10 }; /* one under FakeTensorMode, say, fails, and the next one need not */
  static int trials;
  torch_tensors found = {0};
  if (has_tensors() || trials == MOST_TRIALS || !may_try_tensors())
    return;
  ++trials;
  void *library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (library && find_functions(&found) && try_tensors(&found, library))
    tensors = found;
  if (library)
    dlclose(library);
  PyErr_Clear();
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

/* ---- Versions ---- */

PyObject *has_gradients(PyObject *module, PyObject *const *args, Py_ssize_t count,
                        PyObject *keywords) {
  static const char *const names[] = {"owners", "gradients", "flat", NULL};
  PyObject *given[3];
  (void)module;
  if (take_arguments("has_gradients", args, count, keywords, names, 3, given) < 0 ||
      find_torch() < 0)
    return NULL;
  if (!PyList_Check(given[0]) || !PyList_Check(given[1]) || !is_plain(given[2]) ||
      PyList_Size(given[0]) != PyList_Size(given[1]))
    return PyErr_Format(PyExc_TypeError, "expected two lists of equal length and a tensor");
  find_tensors();
  if (!has_tensors())
    Py_RETURN_NONE;
  const void *storage = storage_in(tensor_in(given[2]));
  for (Py_ssize_t i = 0, n = PyList_Size(given[0]); i < n; ++i) {
    PyObject *owner = PyList_GetItem(given[0], i), *gradient = PyList_GetItem(given[1], i);
    if (!is_plain(owner) || !is_plain(gradient))
      Py_RETURN_NONE;
    const void *own = tensors.gradient(tensor_in(owner)->implementation)->implementation;
    if (own != tensors.undefined &&
        (own != tensor_in(gradient)->implementation || storage_in(tensor_in(gradient)) != storage))
      Py_RETURN_FALSE;
  }
  Py_RETURN_TRUE;
}

PyObject *raise_versions(PyObject *module, PyObject *list) {
  (void)module;
  if (find_torch() < 0)
    return NULL;
  if (!PyList_Check(list))
    return PyErr_Format(PyExc_TypeError, "expected a list of tensors, got %R", list);
  const Py_ssize_t count = PyList_Size(list);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *object = PyList_GetItem(list, i);
    if (!is_plain(object) && !PyType_IsSubtype(Py_TYPE(object), torch.tensor))
      return PyErr_Format(PyExc_TypeError, "expected a list of tensors, got %R in it", object);
    if (has_tensors() && !tensors.is_inference(tensor_in(object)))
      tensors.raise_version(tensor_in(object));
  }
  return PyBool_FromLong(has_tensors());
}
