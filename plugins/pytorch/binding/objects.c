/* What all types of the module share. */
#include "binding.h"

#include <string.h>

PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, const char *name) {
  PyObject *type = PyType_FromSpec(spec);
  if (!type)
    return NULL;
  Py_INCREF(type);
  if (PyModule_AddObject(module, name, type) < 0) {
    Py_DECREF(type);
    Py_DECREF(type);
    return NULL;
  }
  return (PyTypeObject *)type;
}

void *zeroed(size_t count, size_t size) {
  void *memory = PyMem_Malloc(count * size);
  return memory ? memset(memory, 0, count * size) : PyErr_NoMemory();
}

void *new_object(PyTypeObject *type) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  return allocate(type, 0);
}

void free_object(void *object) {
  PyTypeObject *type = Py_TYPE((PyObject *)object);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(object);
  Py_DECREF(type);
}

PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  (void)args;
  (void)keywords;
  PyErr_Format(PyExc_TypeError,
               "%R is made by the methods of other objects alone; begin with Context()", type);
  return NULL;
}
