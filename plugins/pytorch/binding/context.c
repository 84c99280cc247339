/* Context: fw_context. */
#include "binding.h"

PyTypeObject *context_type;

static PyObject *context_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static char *names[] = {"cache_dir", "strict", NULL};
  PyObject *folder = Py_None, *folder_bytes = NULL;
  fw_context_options options;
  fw_context_options_init(&options);
  options.struct_size = sizeof options;
  int strict = options.strict;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|Oi:Context", names, &folder, &strict))
    return NULL;
  options.strict = strict;
  if (folder != Py_None) {
    if (!PyUnicode_FSConverter(folder, &folder_bytes))
      return NULL;
    options.cache_dir = PyBytes_AsString(folder_bytes);
  }
  ContextObject *self = new_object(type);
  if (self && check(fw_context_create(&options, &self->handle)) < 0)
    Py_CLEAR(self);
  Py_XDECREF(folder_bytes);
  return (PyObject *)self;
}

static void context_dealloc(ContextObject *self) {
  fw_context_destroy(self->handle);
  free_object(self);
}

static PyObject *context_op(ContextObject *self, PyObject *name) {
  PyObject *keep;
  fw_op *op;
  const char *text = text_of(name, "name", &keep);
  int failed = !text || check(fw_op_find(self->handle, text, &op)) < 0;
  Py_XDECREF(keep);
  return failed ? NULL : wrap_op(self, op);
}

/* Text of an argument that may be None. */
static int optional_text(PyObject *argument, const char *what, const char **out, PyObject **keep) {
  *out = NULL;
  *keep = NULL;
  if (!argument || argument == Py_None)
    return 0;
  *out = text_of(argument, what, keep);
  return *out ? 0 : -1;
}

static PyObject *context_parse(ContextObject *self, PyObject *const *args, Py_ssize_t count,
                               PyObject *keywords) {
  static const char *const names[] = {"text", "file", "name", NULL};
  PyObject *given[3], *bytes, *keep_file = NULL, *keep_name = NULL;
  const char *file, *name;
  fw_op *op = NULL;
  if (take_arguments("parse", args, count, keywords, names, 1, given) < 0)
    return NULL;
  const char *text = text_of(given[0], "text", &bytes);
  if (text && optional_text(given[1], "file", &file, &keep_file) == 0 &&
      optional_text(given[2], "name", &name, &keep_name) == 0 &&
      check(fw_op_parse(self->handle, text, (size_t)PyBytes_Size(bytes), file, name, &op)) < 0)
    op = NULL;
  Py_XDECREF(keep_name);
  Py_XDECREF(keep_file);
  Py_XDECREF(bytes);
  return op ? wrap_op(self, op) : NULL;
}

static PyObject *context_counters(ContextObject *self, PyObject *unused) {
  (void)unused;
  fw_counters counters = {.struct_size = sizeof counters};
  if (check(fw_context_counters(self->handle, &counters)) < 0)
    return NULL;
  const struct {
    const char *name;
    uint64_t value;
  } rows[] = {{"memory_hits", counters.memory_hits},   {"disk_hits", counters.disk_hits},
              {"compiles", counters.compiles},         {"waits", counters.waits},
              {"cache_faults", counters.cache_faults}, {"launches", counters.launches},
              {"modules", counters.modules},           {"table_uploads", counters.table_uploads}};
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict && i < sizeof rows / sizeof *rows; ++i)
    if (put(dict, rows[i].name, PyLong_FromUnsignedLongLong(rows[i].value)) < 0)
      Py_CLEAR(dict);
  return dict;
}

static PyObject *device_dict(const fw_device_info *info) {
  return Py_BuildValue("{sisssssisisisisK}", "device", (int)info->device_id, "name", info->name,
                       "target", info->target, "compute_major", (int)info->compute_major,
                       "compute_minor", (int)info->compute_minor, "driver_version",
                       (int)info->driver_version, "multiprocessors", (int)info->multiprocessors,
                       "memory_bytes", (unsigned long long)info->memory_bytes);
}

static PyObject *context_devices(ContextObject *self, PyObject *unused) {
  (void)unused;
  int32_t count;
  if (check(fw_context_device_count(self->handle, &count)) < 0)
    return NULL;
  PyObject *list = PyList_New(0);
  for (int32_t i = 0; list && i < count; ++i) {
    fw_device_info info = {.struct_size = sizeof info};
    PyObject *device =
        check(fw_context_device(self->handle, i, &info)) < 0 ? NULL : device_dict(&info);
    if (!device || PyList_Append(list, device) < 0)
      Py_CLEAR(list);
    Py_XDECREF(device);
  }
  return list;
}

static PyMethodDef methods[] = {METHOD("op", context_op, METH_O, "op(name) -> Op: a shipped op."),
                                METHOD("parse", context_parse, METH_FAST,
                                       "parse(text, file=None, name=None) -> Op: the op called "
                                       "`name` of an op file's text; None where it has one."),
                                METHOD("counters", context_counters, METH_NOARGS,
                                       "counters() -> dict of what the context has done so far."),
                                METHOD("devices", context_devices, METH_NOARGS,
                                       "devices() -> list of dicts, one for each CUDA device; "
                                       "Error with code DEVICE where the driver is missing."),
                                {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {SLOT(Py_tp_new, context_new),
                              SLOT(Py_tp_dealloc, context_dealloc),
                              SLOT(Py_tp_methods, methods),
                              SLOT(Py_tp_doc,
                                   "Context(cache_dir=None, strict=-1)\n\nSettings and caches. "
                                   "cache_dir: folder of compiled kernels; None: "
                                   "FUSEWRIGHT_CACHE_DIR, then the\nuser's cache folder. strict: 1 "
                                   "never compiles, 0 compiles, -1 asks "
                                   "FUSEWRIGHT_STRICT. Any number of threads may use it."),
                              {0, NULL}};

static PyType_Spec spec = {"fusewright._C.Context", sizeof(ContextObject), 0, Py_TPFLAGS_DEFAULT,
                           slots};

int add_context_type(PyObject *module) {
  context_type = add_type(module, &spec, "Context");
  return context_type ? 0 : -1;
}
