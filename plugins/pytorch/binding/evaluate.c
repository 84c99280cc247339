/* Request.evaluate(): the reference in double precision, for tests of whatever is built on the
 * module. */
#include "plan.h"

#include <string.h>

static size_t elements_of(const PlanObject *plan, const tensor_layout *layout) {
  size_t elements = layout->rank < 0 ? 0 : 1;
  for (int32_t i = 0; i < layout->rank; ++i)
    elements *= (size_t)plan->dims[layout->dims + (size_t)i];
  return elements;
}

/* Numbers that fw_evaluate gives for a written operand. */
static size_t numbers_of(const PlanObject *plan, size_t operand) {
  const plan_group *group = &plan->groups[0];
  size_t numbers = 0;
  for (size_t i = 0, n = tensors_of_operand(group, operand); i < n; ++i)
    numbers += elements_of(plan, layout_of(group, operand, i));
  return numbers;
}

static PyObject *float_list(const double *numbers, size_t count) {
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; ++i) {
    PyObject *number = PyFloat_FromDouble(numbers[i]);
    if (!number || PyList_SetItem(list, (Py_ssize_t)i, number) < 0)
      Py_CLEAR(list);
  }
  return list;
}

static int is_written(const RequestObject *self, size_t operand) {
  fw_operand_info info = {.struct_size = sizeof info};
  return check(fw_request_operand(self->handle, operand, &info)) < 0 ? -1 : info.written;
}

static size_t count_written(const RequestObject *self, const PlanObject *plan) {
  size_t total = 0;
  for (size_t k = 0; k < plan->groups[0].program->operand_count; ++k)
    total += is_written(self, k) > 0 ? numbers_of(plan, k) : 0;
  return total;
}

/* name -> (values, bounds) of the written operands. */
static PyObject *result_dict(const RequestObject *self, const PlanObject *plan,
                             const double *values, const double *bounds) {
  PyObject *dict = PyDict_New();
  const ProgramObject *program = plan->groups[0].program;
  for (size_t k = 0, at = 0; dict && k < program->operand_count; ++k) {
    if (is_written(self, k) <= 0)
      continue;
    const size_t count = numbers_of(plan, k);
    PyObject *pair =
        Py_BuildValue("(NN)", float_list(values + at, count), float_list(bounds + at, count));
    if (put(dict, program->operands[k].name, pair) < 0)
      Py_CLEAR(dict);
    at += count;
  }
  return dict;
}

static PyObject *evaluate(RequestObject *self, const PlanObject *plan, const given_groups *given) {
  const fw_plan_group *group = &given->groups[0];
  const size_t count = count_written(self, plan);
  double *values = zeroed(2 * count + 1, sizeof *values);
  if (!values)
    return NULL;
  fw_status status;
  self->busy = 1;
  Py_BEGIN_ALLOW_THREADS status =
      fw_evaluate(self->handle, group->tensors, group->tensor_count, group->scalars,
                  group->scalar_count, values, values + count);
  Py_END_ALLOW_THREADS self->busy = 0;
  PyObject *result = check(status) < 0 ? NULL : result_dict(self, plan, values, values + count);
  PyMem_Free(values);
  return result;
}

/* A plan of one group that is never created reads the tensors. */
PyObject *request_evaluate(RequestObject *self, PyObject *const *args, Py_ssize_t count,
                           PyObject *keywords) {
  static const char *const names[] = {"tensors", "scalars", NULL};
  PyObject *given[2], *result = NULL;
  if (!request_is_free(self) ||
      take_arguments("evaluate", args, count, keywords, names, 1, given) < 0)
    return NULL;
  PyObject *program = wrap_program(self->context, self->handle, NULL);
  PlanObject *plan = program ? new_object(plan_type) : NULL;
  PyObject *groups =
      plan ? Py_BuildValue("((OOO))", program, given[0], given[1] ? given[1] : Py_None) : NULL;
  given_groups read = {0};
  if (groups && read_groups(plan, groups, &read) == 0)
    result = evaluate(self, plan, &read);
  free_given_groups(&read);
  Py_XDECREF(groups);
  Py_XDECREF(plan);
  Py_XDECREF(program);
  return result;
}
