/* Runs of a plan. */
#include "plan.h"

#include "world.h"

int begin_use(PlanObject *self) {
  if (!self->busy)
    return self->busy = 1;
  raise_error(FW_USAGE, "make a plan for each thread, and use none inside its own all_reduce",
              "expected a plan that nobody else uses, got one inside a call");
  return 0;
}

/* Gradients of a run that lets other threads go on, which may replace them. */
typedef struct {
  torch_tensor **tensors;
  PyObject *objects; /* where torch cannot hold them by itself */
  size_t count;
} held_gradients;

static int hold_by_object(held_gradients *held, const plan_watch *watch, size_t i) {
  PyObject *gradient = gradient_of(watch->owners[i]);
  if (!held->objects && !(held->objects = PyList_New(0)))
    return -1;
  int failed = !gradient || PyList_Append(held->objects, gradient) < 0;
  Py_XDECREF(gradient);
  return failed ? -1 : 0;
}

static int hold_gradients(PlanObject *self, held_gradients *held) {
  size_t most = 0;
  for (size_t w = 0; w < self->watch_count; ++w)
    most += self->watches[w].of_gradients ? self->watches[w].count : 0;
  if (self->device == FW_DEVICE_CUDA || most == 0)
    return 0;
  held->tensors = zeroed(most, sizeof *held->tensors);
  if (!held->tensors)
    return -1;
  for (size_t w = 0; w < self->watch_count; ++w) {
    const plan_watch *watch = &self->watches[w];
    for (size_t i = 0; watch->of_gradients && i < watch->count; ++i) {
      if (watch->implementations && tensors.hold) {
        const torch_tensor *owner = tensor_in(watch->owners[i]);
        if (tensors.hold(tensors.gradient(owner->implementation), &held->tensors[held->count]) == 0)
          ++held->count;
      } else if (hold_by_object(held, watch, i) < 0) {
        return -1;
      }
    }
  }
  return 0;
}

static void let_go(held_gradients *held) {
  for (size_t i = 0; i < held->count; ++i)
    tensors.let_go(held->tensors[i]);
  PyMem_Free(held->tensors);
  Py_XDECREF(held->objects);
}

/* On the CPU a run is the work itself: other threads go on. On a GPU it is over before another
 * thread would be there. */
static fw_status queue(PlanObject *self, const scalar_list *scalars, fw_stream stream,
                       const fw_world *world) {
  if (self->device == FW_DEVICE_CUDA)
    return fw_plan_run(self->handle, scalars->items, scalars->count, stream, world);
  fw_status status;
  Py_BEGIN_ALLOW_THREADS status =
      fw_plan_run(self->handle, scalars->items, scalars->count, stream, world);
  Py_END_ALLOW_THREADS return status;
}

static int run(PlanObject *self, fw_stream stream, PyObject *scalars, PyObject *all_reduce) {
  scalar_list list;
  python_world world;
  if (read_scalars(scalars, &list) < 0)
    return -1;
  int failed = check_scalar_device(&list, self->device, self->device_id) < 0;
  if (!failed) {
    const fw_world *used =
        begin_world(&world, all_reduce, (PyObject *)self, self->device, self->device_id);
    fw_status status = queue(self, &list, stream, used);
    failed = end_world(&world) || check(status) < 0;
  }
  if (!failed && (list.held || self->run_held)) {
    PyObject *old = self->run_held;
    self->run_held = list.held;
    list.held = NULL;
    Py_XDECREF(old);
  }
  free_scalars(&list);
  return failed ? -1 : 0;
}

PyObject *plan_run(PlanObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"stream", "scalars", "world", NULL};
  PyObject *given[3];
  fw_stream stream;
  if (take_arguments("run", args, count, keywords, names, 1, given) < 0 ||
      take_stream(given[0], &stream) < 0 || !begin_use(self))
    return NULL;
  int failed = run(self, stream, given[1], given[2]) < 0;
  self->busy = 0;
  if (failed)
    return NULL;
  Py_RETURN_NONE;
}

PyObject *plan_step(PlanObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  static const char *const names[] = {"stream", "scalars", "world", "watches", NULL};
  PyObject *given[4];
  fw_stream stream;
  if (take_arguments("step", args, count, keywords, names, 1, given) < 0 ||
      take_stream(given[0], &stream) < 0)
    return NULL;
  long long mask = -1;
  if ((given[3] && take_integer(given[3], &mask) < 0) || !begin_use(self))
    return NULL;
  held_gradients held = {0};
  int result = look_at_watches(self, (unsigned long long)mask);
  if (result == 0)
    result = hold_gradients(self, &held);
  if (result == 0)
    result = run(self, stream, given[1], given[2]);
  let_go(&held);
  self->busy = 0;
  return result < 0 ? NULL : PyLong_FromLong(result);
}
