/* Watched tensors: making and ending watches. */
#include "plan.h"

enum { MOST_WATCHES = 63 };

static void free_watch(plan_watch *watch) {
  for (size_t i = 0; i < watch->count; ++i) {
    if (watch->owners)
      Py_XDECREF(watch->owners[i]);
  }
  PyMem_Free(watch->implementations);
  PyMem_Free(watch->owners_seen);
  PyMem_Free(watch->owners);
  PyMem_Free(watch->seen);
  PyMem_Free(watch->addresses);
  PyMem_Free(watch->found);
}

void free_watches(PlanObject *self) {
  const size_t count = self->watch_count;
  self->watch_count = 0; /* letting go of an owner may run Python code */
  for (size_t i = 0; i < count; ++i)
    free_watch(&self->watches[i]);
  PyMem_Free(self->watches);
  self->watches = NULL;
}

int visit_watches(PlanObject *self, visitproc visit, void *arg) {
  for (size_t i = 0; i < self->watch_count; ++i)
    for (size_t k = 0; k < self->watches[i].count; ++k)
      Py_VISIT(self->watches[i].owners[k]);
  return 0;
}

static int allocate(plan_watch *watch, size_t count) {
  watch->owners = zeroed(count + 1, sizeof *watch->owners);
  watch->seen = zeroed(count + 1, sizeof *watch->seen);
  watch->addresses = zeroed(count + 1, sizeof *watch->addresses);
  watch->found = zeroed(count + 1, sizeof *watch->found);
  return watch->owners && watch->seen && watch->addresses && watch->found ? 0 : -1;
}

/* Room for one watch more; what is there stays where it is until the new one is whole. */
static plan_watch *next_watch(PlanObject *self) {
  plan_watch *grown = PyMem_Realloc(self->watches, (self->watch_count + 1) * sizeof *grown);
  if (!grown)
    return (plan_watch *)PyErr_NoMemory();
  self->watches = grown;
  grown[self->watch_count] = (plan_watch){0};
  return &grown[self->watch_count];
}

static int fill_owners(plan_watch *watch, PyObject *owners, const plan_group *group) {
  const size_t expected = tensors_of_operand(group, watch->operand);
  if ((size_t)PyTuple_Size(owners) != expected) {
    raise_error(FW_USAGE, "pass the tensor of each entry, in their order",
                "expected %zu owners of %s, got %zd", expected,
                group->program->operands[watch->operand].name, PyTuple_Size(owners));
    return -1;
  }
  if (allocate(watch, expected) < 0)
    return -1;
  for (; watch->count < expected; ++watch->count) {
    PyObject *owner = PyTuple_GetItem(owners, (Py_ssize_t)watch->count);
    if (!is_plain(owner)) {
      tensor_view view;
      const tensor_place place = {"owner", (Py_ssize_t)watch->count};
      read_tensor(owner, place, &view); /* says what it is instead */
      return -1;
    }
    Py_INCREF(owner);
    watch->owners[watch->count] = owner;
  }
  return 0;
}

static int take_attribute(PyObject *attribute, int *of_gradients) {
  *of_gradients = attribute && attribute != Py_None;
  if (!*of_gradients ||
      (PyUnicode_Check(attribute) && PyUnicode_CompareWithASCIIString(attribute, "grad") == 0))
    return 0;
  PyErr_Format(PyExc_ValueError, "expected attribute to be None or 'grad', got %R", attribute);
  return -1;
}

/* The first look fills in what later ones compare with; tensors that the plan was not made of are
 * refused. */
static int begin_watch(PlanObject *self, plan_watch *watch, PyObject *owners) {
  if (fill_owners(watch, owners, &self->groups[watch->group]) < 0)
    return -1;
  int gone = look(self, watch);
  if (gone == 0)
    return check(
        fw_plan_set_pointers(self->handle, watch->group,
                             self->groups[watch->group].program->operands[watch->operand].name,
                             watch->found, watch->count));
  if (gone == GONE)
    raise_error(FW_USAGE, "watch what the plan was made of",
                "expected tensors of the plan's dtypes, sizes and strides for %s, got others",
                self->groups[watch->group].program->operands[watch->operand].name);
  return -1;
}

PyObject *plan_add_watch(PlanObject *self, PyObject *const *args, Py_ssize_t count,
                         PyObject *keywords) {
  static const char *const names[] = {"group", "operand", "owners", "attribute", NULL};
  PyObject *given[4];
  plan_watch watch = {0};
  if (take_arguments("watch", args, count, keywords, names, 3, given) < 0 ||
      take_index(given[0], "group", &watch.group) < 0 ||
      find_operand(self, watch.group, given[1], &watch.operand) < 0 ||
      take_attribute(given[3], &watch.of_gradients) < 0 || find_torch() < 0)
    return NULL;
  if (self->watch_count == MOST_WATCHES)
    return raise_error(FW_USAGE, "make a new plan instead of watching again",
                       "expected at most %d watches of a plan", (int)MOST_WATCHES);
  PyObject *owners = PySequence_Tuple(given[2]);
  if (!owners)
    return NULL;
  if (!begin_use(self)) {
    Py_DECREF(owners);
    return NULL;
  }
  plan_watch *place = next_watch(self);
  int failed = !place || begin_watch(self, &watch, owners) < 0 || prepare_looks(&watch) < 0;
  self->busy = 0;
  Py_DECREF(owners);
  if (failed) {
    free_watch(&watch);
    return NULL;
  }
  void **swap = watch.addresses;
  watch.addresses = watch.found;
  watch.found = swap;
  *place = watch;
  return PyLong_FromSize_t(self->watch_count++);
}
