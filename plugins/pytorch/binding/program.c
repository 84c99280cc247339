/* Program: fw_program, with the operands that it was compiled for. */
#include "binding.h"

#include <string.h>

PyTypeObject *program_type;

static char *copy_text(const char *text) {
  size_t bytes = strlen(text) + 1;
  char *copy = PyMem_Malloc(bytes);
  return copy ? memcpy(copy, text, bytes) : (char *)PyErr_NoMemory();
}

static int read_operand(const fw_request *request, size_t index, operand *out) {
  fw_operand_info info = {.struct_size = sizeof info};
  if (check(fw_request_operand(request, index, &info)) < 0)
    return -1;
  out->name = copy_text(info.name);
  out->dtype = out->name ? copy_text(info.dtype) : NULL;
  out->of_all = strcmp(info.scope, "all") == 0;
  return out->dtype ? 0 : -1;
}

static int read_operands(ProgramObject *self, const fw_request *request) {
  size_t count;
  if (check(fw_request_operand_count(request, &count)) < 0)
    return -1;
  self->operands = zeroed(count ? count : 1, sizeof *self->operands);
  if (!self->operands)
    return -1;
  for (; self->operand_count < count; ++self->operand_count)
    if (read_operand(request, self->operand_count, &self->operands[self->operand_count]) < 0) {
      ++self->operand_count; /* half of it is there to be freed */
      return -1;
    }
  return 0;
}

PyObject *wrap_program(ContextObject *context, const fw_request *request, fw_program *handle) {
  ProgramObject *self = new_object(program_type);
  if (!self) {
    fw_program_destroy(handle);
    return NULL;
  }
  self->handle = handle;
  Py_INCREF(context);
  self->context = context;
  if (read_operands(self, request) < 0)
    Py_CLEAR(self);
  return (PyObject *)self;
}

static void program_dealloc(ProgramObject *self) {
  for (size_t i = 0; i < self->operand_count; ++i) {
    PyMem_Free(self->operands[i].name);
    PyMem_Free(self->operands[i].dtype);
  }
  PyMem_Free(self->operands);
  fw_program_destroy(self->handle);
  Py_XDECREF(self->context);
  free_object(self);
}

static PyObject *program_key(ProgramObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(fw_program_key(self->handle));
}

static PyObject *program_origin(ProgramObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(fw_program_origin(self->handle));
}

static PyObject *program_compile_ms(ProgramObject *self, void *unused) {
  (void)unused;
  return PyFloat_FromDouble(fw_program_compile_ms(self->handle));
}

static PyObject *kernel_dict(const ProgramObject *self, size_t index) {
  fw_kernel_info info = {.struct_size = sizeof info};
  if (check(fw_program_kernel(self->handle, index, &info)) < 0)
    return NULL;
  return Py_BuildValue("{sssssssisisisIsIsn}", "symbol", info.symbol, "target", info.target,
                       "schedule", info.schedule, "threads", (int)info.threads, "registers",
                       (int)info.registers, "spill_bytes", (int)info.spill_bytes, "chunk",
                       (unsigned)info.chunk, "slots", (unsigned)info.slots, "image_bytes",
                       (Py_ssize_t)info.image_bytes);
}

static PyObject *program_kernels(ProgramObject *self, PyObject *unused) {
  (void)unused;
  PyObject *list = PyList_New(0);
  for (size_t i = 0, n = fw_program_kernel_count(self->handle); list && i < n; ++i) {
    PyObject *kernel = kernel_dict(self, i);
    if (!kernel || PyList_Append(list, kernel) < 0)
      Py_CLEAR(list);
    Py_XDECREF(kernel);
  }
  return list;
}

static PyObject *program_preload(ProgramObject *self, PyObject *device) {
  size_t index;
  fw_status status;
  if (take_index(device, "device", &index) < 0)
    return NULL;
  Py_BEGIN_ALLOW_THREADS status = fw_preload(self->context->handle, self->handle,
                                             index > INT32_MAX ? INT32_MAX : (int32_t)index);
  Py_END_ALLOW_THREADS if (check(status) < 0) return NULL;
  Py_RETURN_NONE;
}

static PyGetSetDef getters[] = {
    {"key", (getter)program_key, NULL,
     "sha256 of the canonical request, the op and the compiler's build", NULL},
    {"origin", (getter)program_origin, NULL,
     "\"memory\", \"disk\" or \"compiled\": where it came from", NULL},
    {"compile_ms", (getter)program_compile_ms, NULL, "milliseconds that compiling took", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef methods[] = {
    METHOD("kernels", program_kernels, METH_NOARGS,
           "kernels() -> list of dicts (symbol target schedule threads registers spill_bytes chunk "
           "slots image_bytes)."),
    METHOD("preload", program_preload, METH_O,
           "preload(device): loads it into the driver for CUDA device number `device`."),
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    SLOT(Py_tp_new, refuse_new),
    SLOT(Py_tp_dealloc, program_dealloc),
    SLOT(Py_tp_methods, methods),
    SLOT(Py_tp_getset, getters),
    SLOT(Py_tp_doc, "Compiled kernels of a request. Of Request.compile()."),
    {0, NULL}};

static PyType_Spec spec = {"fusewright._C.Program", sizeof(ProgramObject), 0, Py_TPFLAGS_DEFAULT,
                           slots};

int add_program_type(PyObject *module) {
  program_type = add_type(module, &spec, "Program");
  return program_type ? 0 : -1;
}
