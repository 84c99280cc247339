/* The module fusewright._C. */
#include "torch_roads.h"
#include "torch_tensors.h"

static PyObject *shipped_ops(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  PyObject *list = PyList_New(0);
  for (size_t i = 0, n = fw_shipped_op_count(); list && i < n; ++i) {
    PyObject *name = PyUnicode_FromString(fw_shipped_op_name(i));
    if (!name || PyList_Append(list, name) < 0)
      Py_CLEAR(list);
    Py_XDECREF(name);
  }
  return list;
}

static PyObject *versions(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  const uint32_t loaded = fw_api_version();
  return Py_BuildValue(
      "{sNsN}", "fusewright",
      PyUnicode_FromFormat("%d.%d.%d", FW_VERSION_MAJOR, FW_VERSION_MINOR, FW_VERSION_PATCH), "api",
      PyUnicode_FromFormat("%u.%u", loaded >> 16, loaded & 0xffff));
}

static PyObject *torch_roads_dict(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return describe_torch();
}

static PyMethodDef functions[] = {
    METHOD("shipped_ops", shipped_ops, METH_NOARGS,
           "shipped_ops() -> list of names for Context.op(), sorted."),
    METHOD("versions", versions, METH_NOARGS,
           "versions() -> dict: \"fusewright\" of this module, \"api\" of the library that is "
           "loaded."),
    METHOD("torch_roads", torch_roads_dict, METH_NOARGS,
           "torch_roads() -> dict: which ways into torch this torch has."),
    METHOD(
        "has_gradients", has_gradients, METH_FAST,
        "has_gradients(owners, gradients, flat) -> bool: whether owners[i].grad is gradients[i], "
        "with memory of the tensor `flat`, or None, for all i. None: this torch, or a tensor "
        "among them, has no such road."),
    METHOD("raise_versions", raise_versions, METH_O,
           "raise_versions(tensors) -> bool: tells autograd that a list of tensors has changed in "
           "place. False: this torch has no such road, and nothing was done."),
    METHOD("current_stream", current_stream, METH_O,
           "current_stream(device_index) -> int: the stream that torch queues on."),
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "fusewright._C",
                                        .m_doc = "Fusewright's C API as Python objects.",
                                        .m_size = -1,
                                        .m_methods = functions};

PyMODINIT_FUNC PyInit__C(void) {
  PyObject *module = PyModule_Create(&definition);
  if (!module)
    return NULL;
  if (add_error_type(module) < 0 || add_context_type(module) < 0 || add_op_type(module) < 0 ||
      add_request_type(module) < 0 || add_program_type(module) < 0 || add_plan_type(module) < 0 ||
      add_scaler_type(module) < 0 || add_counter_type(module) < 0)
    Py_CLEAR(module);
  return module;
}
