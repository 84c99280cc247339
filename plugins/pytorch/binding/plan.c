/* Plan: making, changing, describing. */
#include "plan.h"

PyTypeObject *plan_type;

static fw_status create(PlanObject *self, const given_groups *given) {
  fw_status status;
  Py_BEGIN_ALLOW_THREADS status =
      fw_plan_create(self->context->handle, given->groups, given->group_count, &self->handle);
  Py_END_ALLOW_THREADS return status;
}

static int check_devices(const PlanObject *self, const given_groups *given) {
  for (size_t i = 0; i < given->group_count; ++i)
    if (check_scalar_device(&given->scalars[i], self->device, self->device_id) < 0)
      return -1;
  return 0;
}

static int fill(PlanObject *self, PyObject *groups) {
  given_groups given = {0};
  fw_plan_info info = {.struct_size = sizeof info};
  int failed = read_groups(self, groups, &given) < 0 || check(create(self, &given)) < 0 ||
               check(fw_plan_describe(self->handle, &info)) < 0;
  if (!failed) {
    self->device = info.device;
    self->device_id = info.device_id;
    failed = check_devices(self, &given) < 0;
  }
  free_given_groups(&given);
  return failed ? -1 : 0;
}

static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static char *names[] = {"context", "groups", NULL};
  PyObject *context, *groups;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O:Plan", names, context_type, &context,
                                   &groups))
    return NULL;
  PlanObject *self = new_object(type);
  if (!self)
    return NULL;
  Py_INCREF(context);
  self->context = (ContextObject *)context;
  if (fill(self, groups) < 0)
    Py_CLEAR(self);
  return (PyObject *)self;
}

static int plan_traverse(PlanObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(self->run_held);
  for (size_t i = 0; i < self->group_count; ++i)
    Py_VISIT(self->groups[i].held);
  return visit_watches(self, visit, arg);
}

/* Only what may be part of a cycle; a plan that is cleared is never run again. */
static int plan_clear(PlanObject *self) {
  self->busy = 1;
  free_watches(self);
  Py_CLEAR(self->run_held);
  for (size_t i = 0; i < self->group_count; ++i)
    Py_CLEAR(self->groups[i].held);
  return 0;
}

static void plan_dealloc(PlanObject *self) {
  PyObject_GC_UnTrack(self);
  fw_plan_destroy(self->handle);
  plan_clear(self);
  free_groups(self);
  Py_XDECREF(self->context);
  free_object(self);
}

/* Addresses of tensors that must have the layouts that the plan was made for. */
static int read_pointers(PlanObject *self, size_t group, size_t operand, PyObject *tensors,
                         void **out) {
  const char *name = self->groups[group].program->operands[operand].name;
  for (Py_ssize_t i = 0, n = PyTuple_Size(tensors); i < n; ++i) {
    PyObject *tensor = PyTuple_GetItem(tensors, i);
    const tensor_layout *layout = layout_of(&self->groups[group], operand, (size_t)i);
    tensor_view view;
    out[i] = NULL;
    if (tensor == Py_None && layout->rank < 0)
      continue;
    if (read_tensor(tensor, (tensor_place){name, i}, &view) < 0)
      return -1;
    if (layout->rank < 0 || !fits(self, layout, &view)) {
      raise_error(FW_USAGE, "make a new plan",
                  "%s of entry %zd: expected the device, dtype, sizes and strides that the plan "
                  "was made for, got others",
                  name, i);
      return -1;
    }
    out[i] = view.data;
  }
  return 0;
}

static int set_pointers(PlanObject *self, size_t group, size_t operand, PyObject *tensors) {
  const char *name = self->groups[group].program->operands[operand].name;
  const size_t count = (size_t)PyTuple_Size(tensors),
               expected = tensors_of_operand(&self->groups[group], operand);
  if (count != expected) {
    raise_error(FW_USAGE, "pass the tensor of each entry, in their order",
                "expected %zu tensors for %s, got %zu", expected, name, count);
    return -1;
  }
  void **pointers = PyMem_Malloc((count + 1) * sizeof *pointers);
  if (!pointers) {
    PyErr_NoMemory();
    return -1;
  }
  int failed = read_pointers(self, group, operand, tensors, pointers) < 0 ||
               check(fw_plan_set_pointers(self->handle, group, name, pointers, count)) < 0;
  PyMem_Free(pointers);
  return failed ? -1 : 0;
}

static PyObject *plan_set_pointers(PlanObject *self, PyObject *const *args, Py_ssize_t count,
                                   PyObject *keywords) {
  static const char *const names[] = {"group", "operand", "tensors", NULL};
  PyObject *given[3];
  size_t group, operand;
  if (take_arguments("set_pointers", args, count, keywords, names, 3, given) < 0 ||
      take_index(given[0], "group", &group) < 0 ||
      find_operand(self, group, given[1], &operand) < 0)
    return NULL;
  PyObject *tensors = PySequence_Tuple(given[2]);
  if (!tensors)
    return NULL;
  if (!begin_use(self)) {
    Py_DECREF(tensors);
    return NULL;
  }
  int failed = set_pointers(self, group, operand, tensors) < 0;
  self->busy = 0;
  Py_DECREF(tensors);
  if (failed)
    return NULL;
  Py_RETURN_NONE;
}

static int set_scalars(PlanObject *self, size_t group, PyObject *scalars) {
  scalar_list list;
  if (read_scalars(scalars, &list) < 0)
    return -1;
  int failed = check_scalar_device(&list, self->device, self->device_id) < 0 ||
               check(fw_plan_set_scalars(self->handle, group, list.items, list.count)) < 0;
  if (!failed) {
    PyObject *old = self->groups[group].held;
    self->groups[group].held = list.held;
    list.held = NULL;
    Py_XDECREF(old);
  }
  free_scalars(&list);
  return failed ? -1 : 0;
}

static PyObject *plan_set_scalars(PlanObject *self, PyObject *const *args, Py_ssize_t count,
                                  PyObject *keywords) {
  static const char *const names[] = {"group", "scalars", NULL};
  PyObject *given[2];
  size_t group;
  if (take_arguments("set_scalars", args, count, keywords, names, 2, given) < 0 ||
      take_index(given[0], "group", &group) < 0)
    return NULL;
  if (group >= self->group_count)
    return raise_error(FW_USAGE, "groups are counted from 0", "expected a group below %zu, got %zu",
                       self->group_count, group);
  if (!begin_use(self))
    return NULL;
  int failed = set_scalars(self, group, given[1]) < 0;
  self->busy = 0;
  if (failed)
    return NULL;
  Py_RETURN_NONE;
}

static PyObject *device_text(const fw_plan_info *info) {
  return info->device == FW_DEVICE_CUDA ? PyUnicode_FromFormat("cuda:%d", (int)info->device_id)
                                        : PyUnicode_FromString("cpu");
}

static PyObject *plan_info(PlanObject *self, PyObject *unused) {
  (void)unused;
  fw_plan_info info = {.struct_size = sizeof info};
  if (check(fw_plan_describe(self->handle, &info)) < 0)
    return NULL;
  return Py_BuildValue(
      "{sNsIsKsKsKsKsKsI}", "device", device_text(&info), "launches", (unsigned)info.launches,
      "entries", (unsigned long long)info.entries, "elements", (unsigned long long)info.elements,
      "blocks", (unsigned long long)info.blocks, "streamed_bytes",
      (unsigned long long)info.streamed_bytes, "workspace_bytes",
      (unsigned long long)info.workspace_bytes, "exchanges", (unsigned)info.exchanges);
}

static PyMethodDef methods[] = {
    METHOD(
        "run", plan_run, METH_FAST,
        "run(stream, scalars=None, world=None): queues one run on `stream`, an int; 0 on the CPU."),
    METHOD("step", plan_step, METH_FAST,
           "step(stream, scalars=None, world=None, watches=-1) -> int: looks at the watches of the "
           "bit mask, then runs. 0: queued.\n"
           "1: nothing was run, since a watched tensor is no more what the plan was made for: make "
           "a new plan."),
    METHOD("watch", plan_add_watch, METH_FAST,
           "watch(group, operand, owners, attribute=None) -> int: step() takes the operand's "
           "addresses from owners[i], or with\n"
           "\"grad\" from owners[i].grad. Returns the watch's number, its bit in step()'s mask."),
    METHOD("set_pointers", plan_set_pointers, METH_FAST,
           "set_pointers(group, operand, tensors): new addresses of one operand."),
    METHOD("set_scalars", plan_set_scalars, METH_FAST,
           "set_scalars(group, scalars): replaces the scalars of a group."),
    METHOD("info", plan_info, METH_NOARGS, "info() -> dict of what a run does and holds."),
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    SLOT(Py_tp_new, plan_new),
    SLOT(Py_tp_dealloc, plan_dealloc),
    SLOT(Py_tp_traverse, plan_traverse),
    SLOT(Py_tp_clear, plan_clear),
    SLOT(Py_tp_methods, methods),
    SLOT(Py_tp_doc, "Plan(context, groups)\n\nTensors made ready once, for any number of runs. "
                    "groups: list of (Program, tensors, scalars). tensors: those of\n"
                    "each entry in the order of Request.operands(), then those of scope all, once; "
                    "None: absent; (tensor, number): the\n"
                    "shard's first element has that number in the whole tensor. scalars: dict of "
                    "name -> number, list of one per entry,\n"
                    "tensor on the plan's device, Counter or Scaler. The plan keeps programs and "
                    "scalars alive, and not the tensors."),
    {0, NULL}};

static PyType_Spec spec = {"fusewright._C.Plan", sizeof(PlanObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

int add_plan_type(PyObject *module) {
  plan_type = add_type(module, &spec, "Plan");
  return plan_type ? 0 : -1;
}
