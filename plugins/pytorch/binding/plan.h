/* Plan: fw_plan, the layouts that it was made for, and tensors whose addresses are watched. */
#ifndef FUSEWRIGHT_PLAN_H
#define FUSEWRIGHT_PLAN_H

#include "scalars.h"
#include "torch_tensors.h"

typedef struct {
  int32_t rank; /* -1: the operand is absent */
  dl_dtype dtype;
  size_t dims; /* in PlanObject.dims: sizes, then strides */
} tensor_layout;

typedef struct {
  ProgramObject *program;
  size_t entries;
  size_t per_entry; /* operands; those of all stand behind the entries */
  tensor_layout *layouts;
  size_t tensor_count;
  PyObject *held; /* what scalars of the group read */
} plan_group;

/* The owners' own addresses or, `of_gradients`, those of their gradients. */
typedef struct {
  size_t group;
  size_t operand; /* of the program's */
  size_t count;
  int of_gradients;
  PyObject **owners;
  PyObject **seen;  /* tensors of the last look; never dereferenced */
  void **addresses; /* that the plan has */
  void **found;     /* by the look that is under way */

  /* By torch's C functions, where there are any; else NULL. */
  const void *
      *implementations; /* of the owners; another one is another tensor in the same object */
  struct owner_seen *owners_seen; /* of owners' own addresses: what was looked at last */
  uint64_t keys;                  /* of what is looked at, as those two: */
  int32_t dtype, device_id;       /* as torch numbers them */
} plan_watch;

typedef struct {
  PyObject ob_base; /* PyObject_HEAD */
  fw_plan *handle;
  ContextObject *context;
  plan_group *groups;
  size_t group_count;
  int64_t *dims;
  size_t dim_count, dim_room;
  plan_watch *watches;
  size_t watch_count;
  int32_t device, device_id;
  PyObject *run_held; /* what scalars of the last run read */
  int busy;           /* a plan belongs to one thread at a time, and a callback must not use it */
} PlanObject;

/* ---- plan_groups.c: groups of tensors ---- */

/* Reads (program, tensors, scalars) tuples into self->groups, self->dims, and the arrays of `out`.
 */
typedef struct {
  fw_plan_group *groups;
  fw_tensor *tensors; /* of all groups */
  scalar_list *scalars;
  size_t group_count;
} given_groups;

int read_groups(PlanObject *self, PyObject *groups, given_groups *out);
void free_given_groups(given_groups *given);
void free_groups(PlanObject *self);

/* ---- plan_layout.c ---- */

/* Copies a tensor's sizes and strides into self->dims. */
int store_layout(PlanObject *self, const tensor_view *view, tensor_layout *out);
/* The layout of one operand in an entry; of all: entry 0. */
const tensor_layout *layout_of(const plan_group *group, size_t operand, size_t entry);
/* Whether a tensor is what the plan was made for: dtype, device, sizes, and the strides that mean
 * something. */
int fits(const PlanObject *self, const tensor_layout *layout, const tensor_view *view);
/* Index of an operand of the group by its name. */
int find_operand(const PlanObject *self, size_t group, PyObject *name, size_t *out);
/* Tensors that the operand has in the group. */
size_t tensors_of_operand(const plan_group *group, size_t operand);

/* ---- plan_watch.c ---- */

PyObject *plan_add_watch(PlanObject *self, PyObject *const *args, Py_ssize_t count,
                         PyObject *keywords);
void free_watches(PlanObject *self);
int visit_watches(PlanObject *self, visitproc visit, void *arg);

/* ---- plan_look.c ---- */

enum { GONE = 1 }; /* a tensor is no more what the plan was made for */

/* Fills watch->found. 0, GONE, or -1 with an exception. */
int look(PlanObject *self, plan_watch *watch);
/* A new reference, or None. */
PyObject *gradient_of(PyObject *owner);
/* One of its tensors, by way of Python's object. */
int look_at_owner(PlanObject *self, plan_watch *watch, size_t i, const tensor_layout *layout);
/* Looks at the watches of the mask and gives the plan what has moved. 0, GONE or -1. */
int look_at_watches(PlanObject *self, unsigned long long mask);

/* ---- plan_look_tensors.c ---- */

/* As look(), by torch's C functions. */
int look_at_tensors(PlanObject *self, plan_watch *watch);
/* Behind the first look: later ones take this road, if there is one. */
int prepare_looks(plan_watch *watch);

/* ---- plan_run.c ---- */

PyObject *plan_run(PlanObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
PyObject *plan_step(PlanObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
/* Sets `busy`, behind the conversion of arguments, which may run Python code; 0 with an exception
   where somebody else uses the plan. */
int begin_use(PlanObject *self);

#endif
