/* Op: fw_op. */
#include "binding.h"

PyTypeObject *op_type;

PyObject *wrap_op(ContextObject *context, fw_op *handle) {
  OpObject *self = new_object(op_type);
  if (!self) {
    fw_op_destroy(handle);
    return NULL;
  }
  Py_INCREF(context);
  self->context = context;
  self->handle = handle;
  return (PyObject *)self;
}

static void op_dealloc(OpObject *self) {
  fw_op_destroy(self->handle);
  Py_XDECREF(self->context);
  free_object(self);
}

static PyObject *op_name(OpObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(fw_op_name(self->handle));
}

static PyObject *op_hash(OpObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(fw_op_hash(self->handle));
}

static PyObject *text_tuple(const char *const *texts, size_t count) {
  PyObject *tuple = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; tuple && i < count; ++i) {
    PyObject *text = PyUnicode_FromString(texts[i]);
    if (!text || PyTuple_SetItem(tuple, (Py_ssize_t)i, text) < 0)
      Py_CLEAR(tuple);
  }
  return tuple;
}

static PyObject *op_options(OpObject *self, void *unused) {
  (void)unused;
  PyObject *dict = PyDict_New();
  for (size_t i = 0, n = fw_op_option_count(self->handle); dict && i < n; ++i) {
    fw_option_info info = {.struct_size = sizeof info};
    if (check(fw_op_option(self->handle, i, &info)) < 0 ||
        put(dict, info.name, text_tuple(info.values, info.value_count)) < 0)
      Py_CLEAR(dict);
  }
  return dict;
}

static PyObject *op_features(OpObject *self, void *unused) {
  (void)unused;
  size_t count = fw_op_feature_count(self->handle);
  PyObject *tuple = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; tuple && i < count; ++i) {
    PyObject *text = PyUnicode_FromString(fw_op_feature(self->handle, i));
    if (!text || PyTuple_SetItem(tuple, (Py_ssize_t)i, text) < 0)
      Py_CLEAR(tuple);
  }
  return tuple;
}

static PyObject *op_request(OpObject *self, PyObject *unused) {
  (void)unused;
  RequestObject *request = new_object(request_type);
  if (!request)
    return NULL;
  Py_INCREF(self->context);
  request->context = self->context;
  if (check(fw_request_create(self->handle, &request->handle)) < 0)
    Py_CLEAR(request);
  return (PyObject *)request;
}

static PyGetSetDef getters[] = {
    {"name", (getter)op_name, NULL, "the op's name", NULL},
    {"hash", (getter)op_hash, NULL, "sha256 of the op's tokens, hex: its identity", NULL},
    {"options", (getter)op_options, NULL,
     "name of each option -> its values, the first being the default", NULL},
    {"features", (getter)op_features, NULL, "features that are valid for the op", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef methods[] = {
    METHOD("request", op_request, METH_NOARGS, "request() -> Request: what to compile the op for."),
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    SLOT(Py_tp_new, refuse_new),
    SLOT(Py_tp_dealloc, op_dealloc),
    SLOT(Py_tp_methods, methods),
    SLOT(Py_tp_getset, getters),
    SLOT(Py_tp_doc, "An op: equations by name. Of Context.op() and .parse()."),
    {0, NULL}};

static PyType_Spec spec = {"fusewright._C.Op", sizeof(OpObject), 0, Py_TPFLAGS_DEFAULT, slots};

int add_op_type(PyObject *module) {
  op_type = add_type(module, &spec, "Op");
  return op_type ? 0 : -1;
}
