/* Looks at watched tensors: whether any address has moved since the last step, at as few
   nanoseconds as torch allows. */
#include "plan.h"

#include <string.h>

/* By a road that says what is wrong, or why the fast one is not to be taken. */
static int look_at_new(PlanObject *self, const tensor_layout *layout, PyObject *tensor,
                       void **out) {
  tensor_view view;
  if (read_tensor(tensor, (tensor_place){"tensor", -1}, &view) < 0) {
    PyErr_Clear(); /* the plan that the caller makes instead tells it by the tensor's name */
    return GONE;
  }
  *out = view.data;
  return !fits(self, layout, &view);
}

static int look_by_exchange(PlanObject *self, plan_watch *watch, size_t i,
                            const tensor_layout *layout, PyObject *tensor) {
  dl_tensor dl;
  if (torch.view(tensor, &dl) != 0) {
    PyErr_Clear();
    return look_at_new(self, layout, tensor, &watch->found[i]);
  }
  if (dl.byte_offset || !dl.strides || !dl.data)
    return look_at_new(self, layout, tensor, &watch->found[i]);
  /* Of what is new since the last look: a lazily negated view says nothing by its layout. */
  if ((tensor != watch->seen[i] || dl.data != watch->addresses[i]) && is_negated(tensor) != 0)
    return look_at_new(self, layout, tensor, &watch->found[i]);
  tensor_view view;
  view.device = dl.device.type == DL_CUDA_HOST ? FW_DEVICE_CPU : dl.device.type;
  view.device_id = view.device == FW_DEVICE_CPU ? 0 : dl.device.id;
  view.dtype = dl.dtype;
  view.rank = dl.ndim;
  view.shape = dl.shape;
  view.strides = dl.strides;
  watch->found[i] = dl.data;
  return !fits(self, layout, &view);
}

/* Another gradient may have the object and the memory of one that is gone: sizes are its
   parameter's, strides need not be. */
static int has_strides(PlanObject *self, const tensor_layout *layout, PyObject *tensor) {
  const int64_t *sizes = self->dims + layout->dims, *strides = sizes + layout->rank;
  PyObject *found = PyObject_CallMethod(tensor, "stride", NULL);
  int same = found && PyTuple_Size(found) == layout->rank;
  for (int32_t i = 0; same && i < layout->rank; ++i)
    same = sizes[i] == 1 || PyLong_AsLongLong(PyTuple_GetItem(found, i)) == strides[i];
  Py_XDECREF(found);
  return same;
}

static int look_by_method(PlanObject *self, plan_watch *watch, size_t i,
                          const tensor_layout *layout, PyObject *tensor) {
  PyObject *address = torch.data_ptr(tensor, NULL);
  void *data = address ? PyLong_AsVoidPtr(address) : NULL;
  Py_XDECREF(address);
  if (!PyErr_Occurred() && tensor == watch->seen[i] && data == watch->addresses[i] &&
      has_strides(self, layout, tensor)) {
    watch->found[i] = data;
    return 0;
  }
  PyErr_Clear();
  return look_at_new(self, layout, tensor, &watch->found[i]);
}

static int look_at_tensor(PlanObject *self, plan_watch *watch, size_t i,
                          const tensor_layout *layout, PyObject *tensor) {
  if (tensor == Py_None) {
    watch->found[i] = NULL;
    return layout->rank < 0 ? 0 : GONE;
  }
  if (layout->rank < 0)
    return GONE;
  int gone;
  if (!is_plain(tensor) || (!torch.view && !torch.data_ptr))
    gone = look_at_new(self, layout, tensor, &watch->found[i]);
  else
    gone = torch.view ? look_by_exchange(self, watch, i, layout, tensor)
                      : look_by_method(self, watch, i, layout, tensor);
  watch->seen[i] = tensor;
  return gone;
}

PyObject *gradient_of(PyObject *owner) {
  static PyObject *name;
  if (torch.get_grad)
    return torch.get_grad(torch.grad_descriptor, owner, (PyObject *)Py_TYPE(owner));
  if (!name && !(name = PyUnicode_InternFromString("grad")))
    return NULL;
  return PyObject_GetAttr(owner, name);
}

int look_at_owner(PlanObject *self, plan_watch *watch, size_t i, const tensor_layout *layout) {
  if (!watch->of_gradients)
    return look_at_tensor(self, watch, i, layout, watch->owners[i]);
  PyObject *gradient = gradient_of(watch->owners[i]);
  if (!gradient)
    return -1;
  int gone = look_at_tensor(self, watch, i, layout, gradient);
  Py_DECREF(gradient);
  return gone;
}

int look(PlanObject *self, plan_watch *watch) {
  if (watch->implementations)
    return look_at_tensors(self, watch);
  const plan_group *group = &self->groups[watch->group];
  const tensor_layout *layout = layout_of(group, watch->operand, 0);
  for (size_t i = 0; i < watch->count; ++i, layout += group->per_entry) {
    int gone = look_at_owner(self, watch, i, layout);
    if (gone)
      return gone;
  }
  return 0;
}

static int give(PlanObject *self, plan_watch *watch) {
  if (memcmp(watch->found, watch->addresses, watch->count * sizeof *watch->found) == 0)
    return 0;
  const char *operand = self->groups[watch->group].program->operands[watch->operand].name;
  if (check(fw_plan_set_pointers(self->handle, watch->group, operand, watch->found, watch->count)) <
      0)
    return -1;
  void **swap = watch->addresses;
  watch->addresses = watch->found;
  watch->found = swap;
  return 0;
}

int look_at_watches(PlanObject *self, unsigned long long mask) {
  for (size_t i = 0; i < self->watch_count; ++i) {
    int gone = mask >> i & 1 ? look(self, &self->watches[i]) : 0;
    if (gone)
      return gone;
  }
  for (size_t i = 0; i < self->watch_count; ++i)
    if (mask >> i & 1 && give(self, &self->watches[i]) < 0)
      return -1;
  return 0;
}
