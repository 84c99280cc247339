/*
 * fusewright._C: the C API as Python objects. Limited API of CPython 3.9, no link to torch: what it
 * needs of torch it finds at run time (torch_roads.h,
 * torch_tensors.h).
 *
 * Functions that return PyObject * or int keep Python's rule: NULL or -1 is an exception that is
 * set.
 */
#ifndef FUSEWRIGHT_BINDING_H
#define FUSEWRIGHT_BINDING_H

#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "fusewright/fusewright.h"

/* The headers of 3.9 hide the flag in the limited API; the convention is that of 3.7 and later. */
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif
#define METH_FAST (METH_FASTCALL | METH_KEYWORDS)

typedef PyObject *(*fast_method)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);

/* A row of a method table for a fast_method or another signature that CPython casts. */
#define METHOD(name, function, flags, doc)                                                         \
  {name, (PyCFunction)(void (*)(void))(function), flags, doc}
#define SLOT(name, function) {name, (void *)(function)}

/* ---- Arguments (arguments.c) ---- */

/* Sorts the arguments of a fast_method into out[], as `names`, which ends with NULL, orders them;
   one that is not given stays NULL. The first `required` must be there. */
int take_arguments(const char *function, PyObject *const *args, Py_ssize_t count,
                   PyObject *keywords, const char *const *names, Py_ssize_t required,
                   PyObject **out);

/* UTF-8 text of a str without a NUL character, valid as long as *keep, a new reference. */
const char *text_of(PyObject *text, const char *what, PyObject **keep);
/* The same, faster, for names of operands and scalars. */
const char *name_of(PyObject *text, const char *what, PyObject **keep);
int take_integer(PyObject *number, long long *out);
/* An int that is not negative. */
int take_index(PyObject *number, const char *what, size_t *out);
int take_stream(PyObject *number, fw_stream *out);
/* Puts a value, whose reference it takes, into a dict. */
int put(PyObject *dict, const char *name, PyObject *value);

/* ---- Errors (error.c) ---- */

extern PyObject *error_type;

int add_error_type(PyObject *module);
/* 0, or -1 with the error of this thread's last call as _C.Error. */
int check(fw_status status);
/* Raises _C.Error: `format` gives the text. Returns NULL. */
PyObject *raise_error(fw_status code, const char *remedy, const char *format, ...);

/* ---- Types ---- */

typedef struct {
  PyObject ob_base; /* PyObject_HEAD */
  fw_context *handle;
} ContextObject;

typedef struct {
  PyObject ob_base; /* PyObject_HEAD */
  ContextObject *context;
  fw_op *handle;
} OpObject;

typedef struct {
  PyObject ob_base; /* PyObject_HEAD */
  ContextObject *context;
  fw_request *handle;
  int busy; /* a compile runs without the GIL, and a request belongs to one thread */
} RequestObject;

typedef struct {
  char *name;
  char *dtype;
  int of_all; /* scope all: stands behind the entries, once */
} operand;

typedef struct {
  PyObject ob_base; /* PyObject_HEAD */
  fw_program *handle;
  ContextObject *context;
  size_t operand_count;
  operand *operands;
} ProgramObject;

typedef struct {
  PyObject ob_base; /* PyObject_HEAD */
  fw_scaler *handle;
  int32_t device;
  int32_t device_id;
  int busy;
} ScalerObject;

typedef struct {
  PyObject ob_base; /* PyObject_HEAD */
  PyObject *tensor;
} CounterObject;

extern PyTypeObject *context_type, *op_type, *request_type, *program_type, *plan_type, *scaler_type,
    *counter_type;

int add_context_type(PyObject *module);
int add_op_type(PyObject *module);
int add_request_type(PyObject *module);
int add_program_type(PyObject *module);
int add_plan_type(PyObject *module);
int add_scaler_type(PyObject *module);
int add_counter_type(PyObject *module);

/* Adds a heap type to the module; NULL is an exception. */
PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, const char *name);
/* Memory of 0 for PyMem_Free(); NULL is an exception. The limited API of 3.9 has no calloc. */
void *zeroed(size_t count, size_t size);
/* A new object with all fields 0. */
void *new_object(PyTypeObject *type);
/* The end of every dealloc: frees the object and lets go of its type. */
void free_object(void *object);
/* tp_new of types whose objects only other objects make. */
PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *keywords);

/* Whether no other thread compiles the request; raises where one does. */
int request_is_free(const RequestObject *self);
/* A method of Request (evaluate.c). */
PyObject *request_evaluate(RequestObject *self, PyObject *const *args, Py_ssize_t count,
                           PyObject *keywords);

/* Both take over the handle, and destroy it where they fail. */
PyObject *wrap_op(ContextObject *context, fw_op *handle);
PyObject *wrap_program(ContextObject *context, const fw_request *request, fw_program *handle);

#endif
