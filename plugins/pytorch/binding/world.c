#include "world.h"

#include "tensors.h"

static PyObject *call_python(python_world *self, void *data, size_t count, const char *kind) {
  const dl_dtype f64 = {2, 64, 1};
  const dl_device device = {self->device, self->device_id};
  PyObject *tensor = tensor_of_memory(data, f64, device, (int64_t)count, self->owner);
  PyObject *kind_text = tensor ? PyUnicode_FromString(kind) : NULL;
  PyObject *result =
      kind_text ? PyObject_CallFunctionObjArgs(self->all_reduce, tensor, kind_text, NULL) : NULL;
  Py_XDECREF(kind_text);
  Py_XDECREF(tensor);
  return result;
}

/* `dtype` is "f64" and the stream that of the run, which is torch's current one. */
static fw_status all_reduce(void *user_data, void *data, size_t count, const char *dtype,
                            const char *kind, fw_stream stream) {
  (void)dtype;
  (void)stream;
  python_world *self = user_data;
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *result = call_python(self, data, count, kind);
  if (!result)
    PyErr_Fetch(&self->error[0], &self->error[1], &self->error[2]);
  Py_XDECREF(result);
  PyGILState_Release(state);
  return result ? FW_OK : FW_DEVICE;
}

const fw_world *begin_world(python_world *self, PyObject *function, PyObject *owner, int32_t device,
                            int32_t device_id) {
  *self = (python_world){
      .all_reduce = function, .owner = owner, .device = device, .device_id = device_id};
  if (!function || function == Py_None)
    return NULL;
  self->world =
      (fw_world){.struct_size = sizeof self->world, .user_data = self, .all_reduce = all_reduce};
  return &self->world;
}

int end_world(python_world *self) {
  if (!self->error[0])
    return 0;
  PyErr_Restore(self->error[0], self->error[1], self->error[2]);
  self->error[0] = NULL;
  return 1;
}
