/* Request: fw_request. */
#include "binding.h"

PyTypeObject *request_type;

static void request_dealloc(RequestObject *self) {
  fw_request_destroy(self->handle);
  Py_XDECREF(self->context);
  free_object(self);
}

int request_is_free(const RequestObject *self) {
  if (!self->busy)
    return 1;
  raise_error(FW_USAGE, "make a request for each thread",
              "expected a request of one thread, got one that another thread compiles");
  return 0;
}

/* The calls that note two texts, or one. */
static PyObject *note_two(RequestObject *self, PyObject *const *args, Py_ssize_t count,
                          PyObject *keywords, const char *function, const char *const *names,
                          fw_status (*call)(fw_request *, const char *, const char *)) {
  PyObject *given[2], *keep[2] = {NULL, NULL};
  if (!request_is_free(self) ||
      take_arguments(function, args, count, keywords, names, 2, given) < 0)
    return NULL;
  const char *first = text_of(given[0], names[0], &keep[0]);
  const char *second = first ? text_of(given[1], names[1], &keep[1]) : NULL;
  int failed = !second || check(call(self->handle, first, second)) < 0;
  Py_XDECREF(keep[0]);
  Py_XDECREF(keep[1]);
  if (failed)
    return NULL;
  Py_RETURN_NONE;
}

static PyObject *note_one(RequestObject *self, PyObject *argument, const char *what,
                          fw_status (*call)(fw_request *, const char *)) {
  PyObject *keep;
  const char *text = request_is_free(self) ? text_of(argument, what, &keep) : NULL;
  if (!text)
    return NULL;
  int failed = check(call(self->handle, text)) < 0;
  Py_DECREF(keep);
  if (failed)
    return NULL;
  Py_RETURN_NONE;
}

static PyObject *request_dtype(RequestObject *self, PyObject *const *args, Py_ssize_t count,
                               PyObject *keywords) {
  static const char *const names[] = {"operand", "dtype", NULL};
  return note_two(self, args, count, keywords, "dtype", names, fw_request_dtype);
}

static PyObject *request_option(RequestObject *self, PyObject *const *args, Py_ssize_t count,
                                PyObject *keywords) {
  static const char *const names[] = {"name", "value", NULL};
  return note_two(self, args, count, keywords, "option", names, fw_request_option);
}

static PyObject *request_feature(RequestObject *self, PyObject *name) {
  return note_one(self, name, "name", fw_request_feature);
}

static PyObject *request_absent(RequestObject *self, PyObject *operand) {
  return note_one(self, operand, "operand", fw_request_absent);
}

static PyObject *request_target(RequestObject *self, PyObject *target) {
  return note_one(self, target, "target", fw_request_target);
}

static PyObject *request_schedule(RequestObject *self, PyObject *const *args, Py_ssize_t count,
                                  PyObject *keywords) {
  static const char *const names[] = {"name", "value", NULL};
  PyObject *given[2], *keep;
  long long value;
  if (!request_is_free(self) ||
      take_arguments("schedule", args, count, keywords, names, 2, given) < 0 ||
      take_integer(given[1], &value) < 0)
    return NULL;
  const char *name = text_of(given[0], "name", &keep);
  if (!name)
    return NULL;
  int failed = check(fw_request_schedule(self->handle, name, value)) < 0;
  Py_DECREF(keep);
  if (failed)
    return NULL;
  Py_RETURN_NONE;
}

static PyObject *operand_dict(const RequestObject *self, size_t index) {
  fw_operand_info info = {.struct_size = sizeof info};
  if (check(fw_request_operand(self->handle, index, &info)) < 0)
    return NULL;
  return Py_BuildValue("{sssssssssNsNsNsd}", "name", info.name, "role", info.role, "dtype",
                       info.dtype, "scope", info.scope, "read", PyBool_FromLong(info.read),
                       "written", PyBool_FromLong(info.written), "optional",
                       PyBool_FromLong(info.optional), "init", info.init);
}

static PyObject *scalar_dict(const RequestObject *self, size_t index) {
  fw_scalar_info info = {.struct_size = sizeof info};
  if (check(fw_request_scalar(self->handle, index, &info)) < 0)
    return NULL;
  return Py_BuildValue("{sssssssdsN}", "name", info.name, "kind", info.kind, "range", info.range,
                       "value", info.value, "is_step", PyBool_FromLong(info.is_step));
}

static PyObject *dict_list(const RequestObject *self,
                           fw_status (*count)(const fw_request *, size_t *),
                           PyObject *(*make)(const RequestObject *, size_t)) {
  size_t length;
  if (!request_is_free(self) || check(count(self->handle, &length)) < 0)
    return NULL;
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < length; ++i) {
    PyObject *item = make(self, i);
    if (!item || PyList_Append(list, item) < 0)
      Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

static PyObject *request_operands(RequestObject *self, PyObject *unused) {
  (void)unused;
  return dict_list(self, fw_request_operand_count, operand_dict);
}

static PyObject *request_scalars(RequestObject *self, PyObject *unused) {
  (void)unused;
  return dict_list(self, fw_request_scalar_count, scalar_dict);
}

static PyObject *request_compile(RequestObject *self, PyObject *unused) {
  (void)unused;
  fw_program *program;
  fw_status status;
  if (!request_is_free(self))
    return NULL;
  self->busy = 1;
  Py_BEGIN_ALLOW_THREADS status = fw_compile(self->context->handle, self->handle, &program);
  Py_END_ALLOW_THREADS self->busy = 0;
  return check(status) < 0 ? NULL : wrap_program(self->context, self->handle, program);
}

static PyObject *request_text(RequestObject *self, PyObject *stage) {
  PyObject *keep, *result = NULL;
  fw_text *text;
  fw_status status;
  const char *name = request_is_free(self) ? text_of(stage, "stage", &keep) : NULL;
  if (!name)
    return NULL;
  self->busy = 1;
  Py_BEGIN_ALLOW_THREADS status = fw_request_text(self->context->handle, self->handle, name, &text);
  Py_END_ALLOW_THREADS self->busy = 0;
  if (check(status) == 0) {
    result = PyUnicode_DecodeUTF8(fw_text_data(text), (Py_ssize_t)fw_text_length(text), "replace");
    fw_text_destroy(text);
  }
  Py_DECREF(keep);
  return result;
}

static PyMethodDef methods[] = {
    METHOD("dtype", request_dtype, METH_FAST,
           "dtype(operand, dtype): binds an operand, or all of a role, to \"f32\", \"bf16\" ..."),
    METHOD("option", request_option, METH_FAST, "option(name, value): one of Op.options."),
    METHOD("feature", request_feature, METH_O, "feature(name): one of Op.features."),
    METHOD("absent", request_absent, METH_O, "absent(operand): an optional operand is not passed."),
    METHOD("schedule", request_schedule, METH_FAST,
           "schedule(name, value): fixes a decision of the schedule."),
    METHOD("target", request_target, METH_O, "target(name): \"cpu\", \"cuda:0\", or an arch."),
    METHOD("operands", request_operands, METH_NOARGS,
           "operands() -> list of dicts (name role dtype scope read written optional init): the "
           "order of tensors."),
    METHOD("scalars", request_scalars, METH_NOARGS,
           "scalars() -> list of dicts (name kind range value is_step)."),
    METHOD("evaluate", request_evaluate, METH_FAST,
           "evaluate(tensors, scalars=None) -> dict: name of each written operand -> (values, "
           "bounds), the\n"
           "reference in double precision for tensors on the CPU: every right result is within "
           "values +- bounds."),
    METHOD("compile", request_compile, METH_NOARGS,
           "compile() -> Program. Other threads run meanwhile."),
    METHOD("text", request_text, METH_O,
           "text(stage) -> str: \"semantic\", \"phases\", \"cuda\", \"ptx\" or \"llvm\"."),
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    SLOT(Py_tp_new, refuse_new),
    SLOT(Py_tp_dealloc, request_dealloc),
    SLOT(Py_tp_methods, methods),
    SLOT(Py_tp_doc,
         "What an op is compiled for. Belongs to one thread at a time. A name that does not\n"
         "fit is told by operands(), scalars(), text() and compile()."),
    {0, NULL}};

static PyType_Spec spec = {"fusewright._C.Request", sizeof(RequestObject), 0, Py_TPFLAGS_DEFAULT,
                           slots};

int add_request_type(PyObject *module) {
  request_type = add_type(module, &spec, "Request");
  return request_type ? 0 : -1;
}
