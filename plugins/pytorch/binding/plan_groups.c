/* Groups of a plan as Python gives them. */
#include "plan.h"

#include <string.h>

static const operand *operand_of(const plan_group *group, size_t tensor) {
  const int of_all = tensor >= group->entries * group->per_entry;
  size_t place = of_all ? tensor - group->entries * group->per_entry : tensor % group->per_entry;
  for (size_t k = 0;; ++k)
    if (group->program->operands[k].of_all == of_all && place-- == 0)
      return &group->program->operands[k];
}

/* Our name of the tensor's dtype, or the operand's where that is the same storage: "e4m3fn.sat". */
static const char *dtype_name(const operand *operand, dl_dtype dtype) {
  const dtype_row *row = find_dtype(dtype);
  if (!row)
    return "another";
  const size_t length = strlen(row->name);
  const int same = strncmp(operand->dtype, row->name, length) == 0 &&
                   (operand->dtype[length] == 0 || operand->dtype[length] == '.');
  return same ? operand->dtype : row->name;
}

/* One tensor: None, a tensor, or (tensor, number of its first element in the unsharded tensor). */
static int read_group_tensor(PlanObject *self, plan_group *group, size_t index, PyObject *given,
                             fw_tensor *out) {
  const operand *operand = operand_of(group, index);
  const int of_all = index >= group->entries * group->per_entry;
  const tensor_place place = {operand->name, of_all ? -1 : (Py_ssize_t)(index / group->per_entry)};
  tensor_view view;
  *out = (fw_tensor){.struct_size = sizeof *out,
                     .device = self->device,
                     .device_id = self->device_id,
                     .dtype = operand->dtype};
  group->layouts[index] = (tensor_layout){.rank = -1};
  if (given == Py_None)
    return 0;
  if (PyTuple_Check(given) && PyTuple_Size(given) == 2) {
    out->first_element = PyLong_AsUnsignedLongLong(PyTuple_GetItem(given, 1));
    if (PyErr_Occurred())
      return -1;
    given = PyTuple_GetItem(given, 0);
  }
  if (read_tensor(given, place, &view) < 0 || store_layout(self, &view, &group->layouts[index]) < 0)
    return -1;
  if (!self->device) {
    self->device = view.device;
    self->device_id = view.device_id;
  }
  out->device = view.device;
  out->device_id = view.device_id;
  out->rank = view.rank;
  out->dtype = dtype_name(operand, view.dtype);
  out->data = view.data;
  return 0;
}

/* The core tells what is wrong with a number of tensors that is no multiple; its layouts are never
 * asked. */
static int count_entries(plan_group *group) {
  size_t of_all = 0;
  for (size_t k = 0; k < group->program->operand_count; ++k)
    of_all += group->program->operands[k].of_all;
  group->per_entry = group->program->operand_count - of_all;
  const size_t rest = group->tensor_count < of_all ? 1 : group->tensor_count - of_all;
  if (group->per_entry ? rest % group->per_entry : rest) {
    raise_error(FW_USAGE,
                "pass the tensors of each entry in the order of Request.operands(), then those of "
                "all, once",
                "expected a multiple of %zu tensors and %zu of all, got %zu", group->per_entry,
                of_all, group->tensor_count);
    return -1;
  }
  group->entries = group->per_entry ? rest / group->per_entry : 0;
  return 0;
}

static int read_group_tensors(PlanObject *self, plan_group *group, PyObject *tensors,
                              fw_tensor *out) {
  group->tensor_count = (size_t)PyTuple_Size(tensors);
  if (count_entries(group) < 0)
    return -1;
  group->layouts = PyMem_Malloc((group->tensor_count + 1) * sizeof *group->layouts);
  if (!group->layouts) {
    PyErr_NoMemory();
    return -1;
  }
  for (size_t i = 0; i < group->tensor_count; ++i)
    if (read_group_tensor(self, group, i, PyTuple_GetItem(tensors, (Py_ssize_t)i), &out[i]) < 0)
      return -1;
  return 0;
}

/* Parts of one given group, as tuples; new references. */
typedef struct {
  PyObject *program, *tensors, *scalars;
} group_parts;

static int split_group(PyObject *group, group_parts *out) {
  if (!PyTuple_Check(group) || PyTuple_Size(group) != 3 ||
      Py_TYPE(PyTuple_GetItem(group, 0)) != program_type) {
    PyErr_Format(PyExc_TypeError,
                 "expected a group to be a tuple (Program, tensors, scalars), got %R", group);
    return -1;
  }
  out->tensors = PySequence_Tuple(PyTuple_GetItem(group, 1));
  if (!out->tensors)
    return -1;
  out->program = PyTuple_GetItem(group, 0);
  out->scalars = PyTuple_GetItem(group, 2);
  Py_INCREF(out->program);
  Py_INCREF(out->scalars);
  return 0;
}

static void free_parts(group_parts *parts, size_t count) {
  for (size_t i = 0; parts && i < count; ++i) {
    Py_XDECREF(parts[i].program);
    Py_XDECREF(parts[i].tensors);
    Py_XDECREF(parts[i].scalars);
  }
  PyMem_Free(parts);
}

static int allocate(PlanObject *self, given_groups *out, size_t groups, size_t tensors) {
  self->groups = zeroed(groups + 1, sizeof *self->groups);
  out->groups = zeroed(groups + 1, sizeof *out->groups);
  out->scalars = zeroed(groups + 1, sizeof *out->scalars);
  out->tensors = zeroed(tensors + 1, sizeof *out->tensors);
  return self->groups && out->groups && out->scalars && out->tensors ? 0 : -1;
}

static int read_group(PlanObject *self, const group_parts *parts, fw_tensor *tensors,
                      scalar_list *scalars, fw_plan_group *out) {
  plan_group *group = &self->groups[self->group_count++];
  Py_INCREF(parts->program);
  group->program = (ProgramObject *)parts->program;
  if (read_group_tensors(self, group, parts->tensors, tensors) < 0 ||
      read_scalars(parts->scalars, scalars) < 0)
    return -1;
  Py_XINCREF(scalars->held);
  group->held = scalars->held;
  *out = (fw_plan_group){.struct_size = sizeof *out,
                         .program = group->program->handle,
                         .tensors = tensors,
                         .tensor_count = group->tensor_count,
                         .scalars = scalars->items,
                         .scalar_count = scalars->count};
  return 0;
}

/* Sizes and strides move while they are collected, so they get their addresses at the end. Absent
   operands of groups before the first tensor get their device there too. */
static void finish_tensors(PlanObject *self, given_groups *given) {
  fw_tensor *tensor = given->tensors;
  for (size_t g = 0; g < self->group_count; ++g)
    for (size_t i = 0; i < self->groups[g].tensor_count; ++i, ++tensor) {
      const tensor_layout *layout = &self->groups[g].layouts[i];
      if (layout->rank < 0) {
        tensor->device = self->device;
        tensor->device_id = self->device_id;
        continue;
      }
      tensor->shape = self->dims + layout->dims;
      tensor->strides = tensor->shape + layout->rank;
    }
}

static int read_parts(PlanObject *self, const group_parts *parts, size_t count, given_groups *out) {
  size_t tensors = 0;
  for (size_t i = 0; i < count; ++i)
    tensors += (size_t)PyTuple_Size(parts[i].tensors);
  if (allocate(self, out, count, tensors) < 0)
    return -1;
  fw_tensor *at = out->tensors;
  for (; out->group_count < count; ++out->group_count) {
    const size_t i = out->group_count;
    if (read_group(self, &parts[i], at, &out->scalars[i], &out->groups[i]) < 0) {
      ++out->group_count; /* half of it is there to be freed */
      return -1;
    }
    at += self->groups[i].tensor_count;
  }
  finish_tensors(self, out);
  return 0;
}

int read_groups(PlanObject *self, PyObject *groups, given_groups *out) {
  PyObject *tuple = PySequence_Tuple(groups);
  if (!tuple)
    return -1;
  const size_t count = (size_t)PyTuple_Size(tuple);
  group_parts *parts = zeroed(count + 1, sizeof *parts);
  int failed = !parts;
  for (size_t i = 0; !failed && i < count; ++i)
    failed = split_group(PyTuple_GetItem(tuple, (Py_ssize_t)i), &parts[i]) < 0;
  failed = failed || read_parts(self, parts, count, out) < 0;
  free_parts(parts, count);
  Py_DECREF(tuple);
  return failed ? -1 : 0;
}

void free_given_groups(given_groups *given) {
  for (size_t i = 0; i < given->group_count; ++i)
    free_scalars(&given->scalars[i]);
  PyMem_Free(given->scalars);
  PyMem_Free(given->groups);
  PyMem_Free(given->tensors);
}

void free_groups(PlanObject *self) {
  for (size_t i = 0; i < self->group_count; ++i) {
    Py_XDECREF(self->groups[i].program);
    Py_XDECREF(self->groups[i].held);
    PyMem_Free(self->groups[i].layouts);
  }
  PyMem_Free(self->groups);
  PyMem_Free(self->dims);
  self->groups = NULL;
  self->dims = NULL;
  self->group_count = 0;
}
