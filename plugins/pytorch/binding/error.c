/* _C.Error: an error of the C API with all that it says. */
#include "binding.h"

#include <stdarg.h>
#include <string.h>

PyObject *error_type;

static const char doc[] =
    "An error of Fusewright.\n\n"
    "str() is \"what was expected and got; what to do\". code: name of the status (\"USAGE\", "
    "\"OP_TEXT\", \"DEVICE\",\n"
    "\"TOOLCHAIN\", \"STRICT_MISS\", \"CACHE\", \"OUT_OF_MEMORY\", \"INTERNAL\"). remedy: what to "
    "do, may be \"\".\n"
    "file, line, column: the place that the error is about; \"\" and 0 where there is none.\n"
    "log: all diagnostics with their source lines, or a compiler's log; may be \"\".";

static const char *name_of_status(fw_status status) {
  switch (status) {
#define FW_STATUS(name, value, meaning)                                                            \
  case FW_##name:                                                                                  \
    return #name;
#include "fusewright/status.def"
#undef FW_STATUS
  default:
    return "INTERNAL";
  }
}

static PyObject *decode(const char *text) {
  return PyUnicode_DecodeUTF8(text ? text : "", (Py_ssize_t)(text ? strlen(text) : 0), "replace");
}

/* Fields that the class has too, for an Error that somebody else raises. */
static int fill(PyObject *dict, const fw_error *error) {
  if (put(dict, "code", decode(name_of_status(error->code))) < 0 ||
      put(dict, "remedy", decode(error->remedy)) < 0 ||
      put(dict, "file", decode(error->file)) < 0 ||
      put(dict, "line", PyLong_FromLong(error->line)) < 0 ||
      put(dict, "column", PyLong_FromLong(error->column)) < 0 ||
      put(dict, "log", decode(error->log)) < 0)
    return -1;
  return 0;
}

int add_error_type(PyObject *module) {
  const fw_error none = {.struct_size = sizeof none, .code = FW_INTERNAL};
  PyObject *fields = PyDict_New();
  if (fields && fill(fields, &none) == 0)
    error_type = PyErr_NewExceptionWithDoc("fusewright._C.Error", doc, PyExc_RuntimeError, fields);
  Py_XDECREF(fields);
  if (!error_type)
    return -1;
  Py_INCREF(error_type);
  if (PyModule_AddObject(module, "Error", error_type) == 0)
    return 0;
  Py_DECREF(error_type);
  return -1;
}

static int set_fields(PyObject *raised, PyObject *fields) {
  PyObject *name, *value;
  Py_ssize_t at = 0;
  while (PyDict_Next(fields, &at, &name, &value))
    if (PyObject_SetAttr(raised, name, value) < 0)
      return -1;
  return 0;
}

/* An error of an op's text: "file:line:column: text". */
static PyObject *with_place(const fw_error *error) {
  PyObject *text = decode(error->text), *file = decode(error->file), *all = NULL;
  if (text && file && error->line > 0)
    all = PyUnicode_FromFormat("%U:%d:%d: %U", file, (int)error->line, (int)error->column, text);
  Py_XDECREF(file);
  if (error->line <= 0)
    return text;
  Py_XDECREF(text);
  return all;
}

static void raise(PyObject *text, const fw_error *error) {
  PyObject *remedy = decode(error->remedy);
  PyObject *all =
      text && remedy
          ? PyUnicode_FromFormat(PyUnicode_GetLength(remedy) ? "%U; %U" : "%U", text, remedy)
          : NULL;
  PyObject *raised = all ? PyObject_CallFunctionObjArgs(error_type, all, NULL) : NULL;
  PyObject *fields = raised ? PyDict_New() : NULL;
  if (fields && fill(fields, error) == 0 && set_fields(raised, fields) == 0)
    PyErr_SetObject(error_type, raised);
  Py_XDECREF(fields);
  Py_XDECREF(raised);
  Py_XDECREF(all);
  Py_XDECREF(remedy);
}

int check(fw_status status) {
  if (status == FW_OK)
    return 0;
  const fw_error *error = fw_last_error();
  PyObject *text = with_place(error);
  raise(text, error);
  Py_XDECREF(text);
  return -1;
}

PyObject *raise_error(fw_status code, const char *remedy, const char *format, ...) {
  const fw_error error = {.struct_size = sizeof error, .code = code, .remedy = remedy};
  va_list arguments;
  va_start(arguments, format);
  PyObject *text = PyUnicode_FromFormatV(format, arguments);
  va_end(arguments);
  raise(text, &error);
  Py_XDECREF(text);
  return NULL;
}
