/* Arguments of calls, and values of answers. */
#include "binding.h"

static Py_ssize_t place_of(PyObject *keyword, const char *const *names) {
  for (Py_ssize_t i = 0; names[i]; ++i)
    if (PyUnicode_CompareWithASCIIString(keyword, names[i]) == 0)
      return i;
  return -1;
}

static int take_keyword(const char *function, PyObject *keyword, PyObject *value,
                        const char *const *names, PyObject **out) {
  Py_ssize_t place = place_of(keyword, names);
  if (place < 0) {
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected argument '%U'", function, keyword);
    return -1;
  }
  if (out[place]) {
    PyErr_Format(PyExc_TypeError, "%s() got two values for '%U'", function, keyword);
    return -1;
  }
  out[place] = value;
  return 0;
}

int take_arguments(const char *function, PyObject *const *args, Py_ssize_t count,
                   PyObject *keywords, const char *const *names, Py_ssize_t required,
                   PyObject **out) {
  Py_ssize_t most = 0;
  for (; names[most]; ++most)
    out[most] = NULL;
  if (count > most) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %zd arguments, got %zd", function, most,
                 count);
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i)
    out[i] = args[i];
  for (Py_ssize_t i = 0, n = keywords ? PyTuple_Size(keywords) : 0; i < n; ++i)
    if (take_keyword(function, PyTuple_GetItem(keywords, i), args[count + i], names, out) < 0)
      return -1;
  for (Py_ssize_t i = 0; i < required; ++i)
    if (!out[i]) {
      PyErr_Format(PyExc_TypeError, "%s() misses the argument '%s'", function, names[i]);
      return -1;
    }
  return 0;
}

const char *text_of(PyObject *text, const char *what, PyObject **keep) {
  char *bytes;
  *keep = NULL;
  if (!PyUnicode_Check(text)) {
    PyErr_Format(PyExc_TypeError, "expected %s to be a str, got %R", what, text);
    return NULL;
  }
  *keep = PyUnicode_AsUTF8String(text);
  if (*keep && PyBytes_AsStringAndSize(*keep, &bytes, NULL) == 0) /* refuses NUL characters */
    return bytes;
  if (*keep)
    PyErr_Format(PyExc_ValueError, "expected %s without NUL characters, got one", what);
  Py_CLEAR(*keep);
  return NULL;
}

/* str -> bytes of names of operands and scalars, which are few and come again in each step. */
enum { MOST_NAMES = 1024 };
static PyObject *known_names;

const char *name_of(PyObject *text, const char *what, PyObject **keep) {
  *keep = NULL;
  if (!known_names && !(known_names = PyDict_New()))
    return NULL;
  PyObject *known = PyUnicode_Check(text) ? PyDict_GetItemWithError(known_names, text) : NULL;
  if (known) {
    Py_INCREF(known);
    *keep = known;
    return PyBytes_AsString(known);
  }
  const char *bytes = PyErr_Occurred() ? NULL : text_of(text, what, keep);
  if (!bytes)
    return NULL;
  if (PyDict_Size(known_names) >= MOST_NAMES) /* somebody invents names */
    PyDict_Clear(known_names);
  if (PyDict_SetItem(known_names, text, *keep) == 0)
    return bytes;
  Py_CLEAR(*keep);
  return NULL;
}

int take_integer(PyObject *number, long long *out) {
  PyObject *integer =
      PyNumber_Index(number); /* Python 3.9 would take the integer part of a float */
  *out = integer ? PyLong_AsLongLong(integer) : 0;
  Py_XDECREF(integer);
  return PyErr_Occurred() ? -1 : 0;
}

int take_index(PyObject *number, const char *what, size_t *out) {
  if (!PyLong_Check(number)) {
    PyErr_Format(PyExc_TypeError, "expected %s to be an int, got %R", what, number);
    return -1;
  }
  *out = PyLong_AsSize_t(number);
  if (*out != (size_t)-1 || !PyErr_Occurred())
    return 0;
  PyErr_Clear();
  PyErr_Format(PyExc_ValueError, "expected %s to be a number from 0, got %R", what, number);
  return -1;
}

int take_stream(PyObject *number, fw_stream *out) {
  size_t address;
  if (take_index(number, "stream", &address) < 0)
    return -1;
  *out = (fw_stream)address;
  return 0;
}

int put(PyObject *dict, const char *name, PyObject *value) {
  int failed = !value || PyDict_SetItemString(dict, name, value) < 0;
  Py_XDECREF(value);
  return failed ? -1 : 0;
}
