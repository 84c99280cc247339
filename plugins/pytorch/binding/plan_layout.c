/* Layouts of tensors that a plan was made for, and the operands that they belong to. */
#include "plan.h"

#include <string.h>

static int append_dims(PlanObject *self, const int64_t *numbers, int32_t count) {
  if (self->dim_count + (size_t)count > self->dim_room) {
    const size_t room = 2 * self->dim_room + 256;
    int64_t *grown = PyMem_Realloc(self->dims, room * sizeof *grown);
    if (!grown) {
      PyErr_NoMemory();
      return -1;
    }
    self->dims = grown;
    self->dim_room = room;
  }
  if (count)
    memcpy(self->dims + self->dim_count, numbers, (size_t)count * sizeof *numbers);
  self->dim_count += (size_t)count;
  return 0;
}

int store_layout(PlanObject *self, const tensor_view *view, tensor_layout *out) {
  *out = (tensor_layout){view->rank, view->dtype, self->dim_count};
  return append_dims(self, view->shape, view->rank) < 0
             ? -1
             : append_dims(self, view->strides, view->rank);
}

int fits(const PlanObject *self, const tensor_layout *layout, const tensor_view *view) {
  if (layout->rank != view->rank || layout->dtype.code != view->dtype.code ||
      layout->dtype.bits != view->dtype.bits || view->dtype.lanes != 1 ||
      view->device != self->device || view->device_id != self->device_id)
    return 0;
  const int64_t *sizes = self->dims + layout->dims, *strides = sizes + layout->rank;
  int is_empty = 0, same_strides = 1;
  for (int32_t i = 0; i < layout->rank; ++i) {
    if (sizes[i] != view->shape[i])
      return 0;
    is_empty |= sizes[i] == 0;
    same_strides &= sizes[i] == 1 || strides[i] == view->strides[i];
  }
  return same_strides || is_empty;
}

static size_t place_in_entry(const plan_group *group, size_t operand) {
  size_t place = 0;
  for (size_t i = 0; i < operand; ++i)
    place += group->program->operands[i].of_all == group->program->operands[operand].of_all;
  return place;
}

const tensor_layout *layout_of(const plan_group *group, size_t operand, size_t entry) {
  const size_t first = group->program->operands[operand].of_all ? group->entries : entry;
  return &group->layouts[first * group->per_entry + place_in_entry(group, operand)];
}

size_t tensors_of_operand(const plan_group *group, size_t operand) {
  return group->program->operands[operand].of_all ? 1 : group->entries;
}

int find_operand(const PlanObject *self, size_t group, PyObject *name, size_t *out) {
  if (group >= self->group_count) {
    raise_error(FW_USAGE, "groups are counted from 0", "expected a group below %zu, got %zu",
                self->group_count, group);
    return -1;
  }
  const ProgramObject *program = self->groups[group].program;
  PyObject *keep;
  const char *text = name_of(name, "operand", &keep);
  if (!text)
    return -1;
  for (*out = 0; *out < program->operand_count; ++*out)
    if (strcmp(program->operands[*out].name, text) == 0)
      break;
  const int found = *out < program->operand_count;
  if (!found)
    raise_error(FW_USAGE, "Request.operands() has the names",
                "expected an operand of group %zu, got '%s'", group, text);
  Py_DECREF(keep);
  return found ? 0 : -1;
}
