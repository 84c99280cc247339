#include "scaler_options.h"

static int set_text(given_options *given, const char **field, PyObject *value, const char *name) {
  PyObject **keep = &given->texts[given->text_count];
  *field = text_of(value, name, keep);
  given->text_count += *keep != NULL;
  return *field ? 0 : -1;
}

static int set_option(given_options *given, PyObject *name, PyObject *value) {
  fw_scaler_options *o = &given->options;
  const struct {
    const char *name;
    const char **text;
    double *real;
    int64_t *integer;
  } rows[] = {{"device", &o->device, NULL, NULL},
              {"mode", &o->mode, NULL, NULL},
              {"refill", &o->refill, NULL, NULL},
              {"denormals", &o->denormals, NULL, NULL},
              {"init_scale", NULL, &o->init_scale, NULL},
              {"growth_factor", NULL, &o->growth_factor, NULL},
              {"backoff_factor", NULL, &o->backoff_factor, NULL},
              {"min_scale", NULL, &o->min_scale, NULL},
              {"max_scale", NULL, &o->max_scale, NULL},
              {"growth_interval", NULL, NULL, &o->growth_interval},
              {"hysteresis", NULL, NULL, &o->hysteresis}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    if (PyUnicode_CompareWithASCIIString(name, rows[i].name) != 0)
      continue;
    if (rows[i].text)
      return set_text(given, rows[i].text, value, rows[i].name);
    if (rows[i].integer) {
      long long integer;
      int failed = take_integer(value, &integer);
      *rows[i].integer = integer;
      return failed;
    }
    *rows[i].real = PyFloat_AsDouble(value);
    return PyErr_Occurred() ? -1 : 0;
  }
  PyErr_Format(PyExc_TypeError, "Scaler() got an unexpected argument '%U'", name);
  return -1;
}

int set_scaler_options(given_options *given, PyObject *keywords) {
  PyObject *name, *value;
  Py_ssize_t at = 0;
  while (keywords && PyDict_Next(keywords, &at, &name, &value))
    if (set_option(given, name, value) < 0)
      return -1;
  return 0;
}
