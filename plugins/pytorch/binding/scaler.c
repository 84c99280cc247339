/* Scaler: fw_scaler. */
#include "scaler_options.h"
#include "tensors.h"

#include <stdlib.h>
#include <string.h>

PyTypeObject *scaler_type;

enum { MOST_REPORTS = 8, MOST_NUMBERS = 64 };

/* "cuda" is "cuda:0"; the core has checked the text. */
static void note_device(ScalerObject *self, const char *device) {
  const char *number = device ? strchr(device, ':') : NULL;
  self->device = device && strncmp(device, "cuda", 4) == 0 ? FW_DEVICE_CUDA : FW_DEVICE_CPU;
  self->device_id = number ? (int32_t)strtol(number + 1, NULL, 10) : 0;
}

static PyObject *scaler_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  PyObject *context;
  given_options given = {0};
  if (!PyArg_ParseTuple(args, "O!:Scaler", context_type, &context))
    return NULL;
  fw_scaler_options_init(&given.options);
  given.options.struct_size = sizeof given.options;
  ScalerObject *self = set_scaler_options(&given, keywords) < 0 ? NULL : new_object(type);
  if (self) {
    fw_status status;
    Py_BEGIN_ALLOW_THREADS status =
        fw_scaler_create(((ContextObject *)context)->handle, &given.options, &self->handle);
    Py_END_ALLOW_THREADS if (check(status) < 0) Py_CLEAR(self);
    else note_device(self, given.options.device);
  }
  for (size_t i = 0; i < given.text_count; ++i)
    Py_DECREF(given.texts[i]);
  return (PyObject *)self;
}

static void scaler_dealloc(ScalerObject *self) {
  fw_scaler_destroy(self->handle);
  free_object(self);
}

/* ---- Methods ---- */

/* A wait runs without the GIL, and a scaler belongs to one thread at a time. */
static int is_free(const ScalerObject *self) {
  if (!self->busy)
    return 1;
  raise_error(FW_USAGE, "use a scaler in one thread",
              "expected a scaler that nobody else uses, got one that another thread waits for");
  return 0;
}

static PyObject *scaler_scalar(ScalerObject *self, PyObject *unused) {
  (void)unused;
  Py_INCREF(self);
  return (PyObject *)self;
}

static PyObject *scaler_scale_tensor(ScalerObject *self, PyObject *unused) {
  (void)unused;
  fw_scalar scalar = {.struct_size = sizeof scalar};
  if (check(fw_scaler_scalar(self->handle, &scalar)) < 0)
    return NULL;
  const dl_dtype f32 = {2, 32, 1};
  const dl_device device = {self->device, self->device_id};
  return tensor_of_memory(scalar.data, f32, device, -1, (PyObject *)self);
}

static PyObject *scaler_claim(ScalerObject *self, PyObject *owner) {
  if (!is_free(self) || check(fw_scaler_claim(self->handle, owner)) < 0)
    return NULL;
  Py_RETURN_NONE;
}

static PyObject *scaler_release(ScalerObject *self, PyObject *owner) {
  if (!is_free(self) || check(fw_scaler_release(self->handle, owner)) < 0)
    return NULL;
  Py_RETURN_NONE;
}

static int read_reports(const ScalerObject *self, PyObject *tensors, const void **out) {
  for (Py_ssize_t i = 0, n = PyTuple_Size(tensors); i < n; ++i) {
    tensor_view view;
    if (read_tensor(PyTuple_GetItem(tensors, i), (tensor_place){"skipped", i}, &view) < 0)
      return -1;
    int64_t elements = 1;
    for (int32_t d = 0; d < view.rank; ++d)
      elements *= view.shape[d];
    if (elements != 1 || view.dtype.code != 2 || view.dtype.bits != 32 ||
        view.device != self->device || view.device_id != self->device_id) {
      raise_error(
          FW_USAGE, "pass what the plan writes as all.skipped",
          "skipped[%zd]: expected one float32 number on the scaler's device, got another tensor",
          i);
      return -1;
    }
    out[i] = view.data;
  }
  return 0;
}

static PyObject *scaler_update(ScalerObject *self, PyObject *const *args, Py_ssize_t count,
                               PyObject *keywords) {
  static const char *const names[] = {"skipped", "stream", NULL};
  PyObject *given[2];
  const void *reports[MOST_REPORTS];
  fw_stream stream;
  if (!is_free(self) || take_arguments("update", args, count, keywords, names, 2, given) < 0 ||
      take_stream(given[1], &stream) < 0)
    return NULL;
  PyObject *tensors = PySequence_Tuple(given[0]);
  if (!tensors)
    return NULL;
  const Py_ssize_t length = PyTuple_Size(tensors);
  int failed = length > MOST_REPORTS;
  if (failed)
    raise_error(FW_USAGE, "add up reports of further optimizers first",
                "expected at most %d reports, got %zd", (int)MOST_REPORTS, length);
  failed = failed || read_reports(self, tensors, reports) < 0 ||
           check(fw_scaler_update(self->handle, reports, (size_t)length, stream)) < 0;
  Py_DECREF(tensors);
  if (failed)
    return NULL;
  Py_RETURN_NONE;
}

static const char *outcome_name(int32_t outcome) {
  static const char *const names[] = {"applied", "bad_gradient", "bad_norm", "left_out",
                                      "bad_number"};
  return outcome >= 0 && outcome <= FW_STEP_BAD_NUMBER ? names[outcome] : "unknown";
}

static PyObject *scaler_read(ScalerObject *self, PyObject *unused) {
  (void)unused;
  fw_scaler_state s = {.struct_size = sizeof s};
  if (!is_free(self) || check(fw_scaler_read(self->handle, &s)) < 0)
    return NULL;
  return Py_BuildValue(
      "{sssLsKsKsKsKsKsKsdsd}", "outcome", outcome_name(s.outcome), "tensor", (long long)s.tensor,
      "report", (unsigned long long)s.report, "updates", (unsigned long long)s.updates, "skips",
      (unsigned long long)s.skips, "skips_in_a_row", (unsigned long long)s.skips_in_a_row,
      "growth_count", (unsigned long long)s.growth_count, "hysteresis_left",
      (unsigned long long)s.hysteresis_left, "scale", s.scale, "previous_scale", s.previous_scale);
}

static PyObject *scaler_wait(ScalerObject *self, PyObject *given) {
  fw_stream stream;
  fw_status status;
  if (take_stream(given, &stream) < 0 || !is_free(self))
    return NULL;
  self->busy = 1;
  Py_BEGIN_ALLOW_THREADS status = fw_scaler_wait(self->handle, stream);
  Py_END_ALLOW_THREADS self->busy = 0;
  if (check(status) < 0)
    return NULL;
  Py_RETURN_NONE;
}

static PyObject *scaler_save(ScalerObject *self, PyObject *given) {
  fw_scalar numbers[MOST_NUMBERS];
  fw_stream stream;
  size_t count;
  if (take_stream(given, &stream) < 0 || !is_free(self))
    return NULL;
  for (size_t i = 0; i < MOST_NUMBERS; ++i)
    numbers[i] = (fw_scalar){.struct_size = sizeof *numbers};
  fw_status status;
  self->busy = 1;
  Py_BEGIN_ALLOW_THREADS status =
      fw_scaler_save(self->handle, numbers, MOST_NUMBERS, &count, stream);
  Py_END_ALLOW_THREADS self->busy = 0;
  if (check(status) < 0)
    return NULL;
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict && i < count; ++i)
    if (put(dict, numbers[i].name, PyFloat_FromDouble(numbers[i].value)) < 0)
      Py_CLEAR(dict);
  return dict;
}

static int load(ScalerObject *self, PyObject *dict, fw_stream stream) {
  fw_scalar numbers[MOST_NUMBERS];
  PyObject *keep[MOST_NUMBERS], *key, *value;
  size_t count = 0;
  Py_ssize_t at = 0;
  if (!PyDict_Check(dict)) {
    PyErr_Format(PyExc_TypeError, "expected the state to be a dict of name -> number, got %R",
                 dict);
    return -1;
  }
  if (PyDict_Size(dict) > MOST_NUMBERS) {
    raise_error(FW_USAGE, "pass what save() has given", "expected at most %d numbers",
                (int)MOST_NUMBERS);
    return -1;
  }
  int failed = 0;
  /* A number's own __float__ may change the dict. */
  for (; !failed && count < MOST_NUMBERS && PyDict_Next(dict, &at, &key, &value); ++count) {
    const char *name = name_of(key, "the name of a number", &keep[count]);
    Py_INCREF(value);
    numbers[count] = (fw_scalar){
        .struct_size = sizeof *numbers, .name = name, .value = name ? PyFloat_AsDouble(value) : 0};
    Py_DECREF(value);
    failed = PyErr_Occurred() != NULL;
  }
  failed = failed || !is_free(self);
  if (!failed) {
    fw_status status;
    self->busy = 1;
    Py_BEGIN_ALLOW_THREADS status = fw_scaler_load(self->handle, numbers, count, stream);
    Py_END_ALLOW_THREADS self->busy = 0;
    failed = check(status) < 0;
  }
  while (count)
    Py_XDECREF(keep[--count]);
  return failed ? -1 : 0;
}

static PyObject *scaler_load(ScalerObject *self, PyObject *const *args, Py_ssize_t count,
                             PyObject *keywords) {
  static const char *const names[] = {"state", "stream", NULL};
  PyObject *given[2];
  fw_stream stream;
  if (take_arguments("load", args, count, keywords, names, 2, given) < 0 ||
      take_stream(given[1], &stream) < 0 || load(self, given[0], stream) < 0)
    return NULL;
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    METHOD(
        "scalar", scaler_scalar, METH_NOARGS,
        "scalar() -> the scaler as a plan's scalar \"all.scale\": its memory is read by each run."),
    METHOD("scale_tensor", scaler_scale_tensor, METH_NOARGS,
           "scale_tensor() -> 0-d float32 tensor over the scale's memory, to be read alone."),
    METHOD("claim", scaler_claim, METH_O,
           "claim(owner): the owner's gradients are unscaled for this step; Error where they are "
           "already."),
    METHOD("release", scaler_release, METH_O,
           "release(owner): takes claim() back; the run that was to unscale was not made."),
    METHOD("update", scaler_update, METH_FAST,
           "update(skipped, stream): moves the scale by the reports of 1 to 8 optimizers."),
    METHOD("read", scaler_read, METH_NOARGS,
           "read() -> dict: the last state that has arrived at the host; does not wait."),
    METHOD("wait", scaler_wait, METH_O,
           "wait(stream): until read() gives what updates on the stream have left."),
    METHOD("save", scaler_save, METH_O,
           "save(stream) -> dict of name -> number; waits for the stream."),
    METHOD("load", scaler_load, METH_FAST,
           "load(state, stream): takes what save() gave; waits for the stream."),
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {SLOT(Py_tp_new, scaler_new),
                              SLOT(Py_tp_dealloc, scaler_dealloc),
                              SLOT(Py_tp_methods, methods),
                              SLOT(Py_tp_doc,
                                   "Scaler(context, *, device=\"cpu\", mode=\"dynamic\", "
                                   "refill=\"clean\", denormals=\"keep\", init_scale=65536,\n"
                                   "growth_factor=2, backoff_factor=0.5, min_scale=2**-16, "
                                   "max_scale, growth_interval=2000, hysteresis=1)\n\n"
                                   "A loss scale in a device's memory, with what decides about it. "
                                   "One thread at a time uses it."),
                              {0, NULL}};

static PyType_Spec spec = {"fusewright._C.Scaler", sizeof(ScalerObject), 0, Py_TPFLAGS_DEFAULT,
                           slots};

int add_scaler_type(PyObject *module) {
  scaler_type = add_type(module, &spec, "Scaler");
  return scaler_type ? 0 : -1;
}
