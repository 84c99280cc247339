/* Looks at watched tensors by torch's own C functions. What costs time is memory that another
   thread has written (a backward pass) or that has left the cache: so tensors are looked at in
   blocks, and what a block will read is asked for before. */
#include "plan.h"

#include <string.h>

/* An owner when it was found as planned. Most are as they were: only the address is asked for then,
   which also gives a tensor whose memory is shared until it is written (torch._lazy_clone) its own.
 */
struct owner_seen {
  const void *storage; /* NULL: not known */
  unsigned char shape[MOST_SHAPE_BYTES];
};

enum { BLOCK = 32, LINE = 64, LINES_OF_IMPLEMENTATION = 3 };

static void fetch(const void *memory) { __builtin_prefetch(memory); }

static void fetch_implementation(const void *implementation) {
  for (int i = 0; i < LINES_OF_IMPLEMENTATION; ++i)
    fetch((const char *)implementation + LINE * i);
}

/* Whether a tensor is what the plan was made for, but for its address. */
static int is_as_planned(const PlanObject *self, const plan_watch *watch, size_t i,
                         const tensor_layout *layout, const torch_tensor *tensor) {
  int64_t rank;
  int32_t dtype, device_id;
  tensor_view view;
  if (keys_in(tensor) != watch->keys || tensors.address(tensor, &watch->found[i]) != 0 ||
      !watch->found[i] || tensors.dtype(tensor, &dtype) != 0 || dtype != watch->dtype)
    return 0;
  if (watch->found[i] != watch->addresses[i] && /* the same memory is on the same device */
      (tensors.device_id(tensor, &device_id) != 0 || device_id != watch->device_id))
    return 0;
  if (!read_shape(tensor, &rank, &view.shape, &view.strides))
    return 0;
  view.rank = (int32_t)rank;
  view.dtype = layout->dtype;
  view.device = self->device;
  view.device_id = self->device_id;
  return fits(self, layout, &view);
}

static void note(struct owner_seen *seen, const torch_tensor *tensor) {
  seen->storage = rank_in(tensor) <= MOST_INLINE ? storage_in(tensor) : NULL;
  memcpy(seen->shape, shape_in(tensor), shape_bytes());
}

/* Whether all but the address is as it was, which is written to `found`. */
static int is_unchanged(const struct owner_seen *seen, const torch_tensor *tensor, void **found) {
  const void *storage = storage_in(tensor);
  return storage && storage == seen->storage &&
         memcmp(seen->shape, shape_in(tensor), shape_bytes()) == 0 &&
         tensors.address(tensor, found) == 0 && *found;
}

static int look_at_one(PlanObject *self, plan_watch *watch, size_t i, const tensor_layout *layout,
                       const torch_tensor *tensor) {
  if (tensor->implementation == tensors.undefined) {
    watch->found[i] = NULL;
    return layout->rank < 0 ? 0 : GONE;
  }
  if (layout->rank < 0)
    return GONE;
  struct owner_seen *seen = watch->owners_seen ? &watch->owners_seen[i] : NULL;
  if (seen && is_unchanged(seen, tensor, &watch->found[i]))
    return 0;
  if (is_as_planned(self, watch, i, layout, tensor)) {
    if (seen)
      note(seen, tensor);
    return 0;
  }
  watch->seen[i] = NULL;
  return look_at_owner(self, watch, i, layout); /* which knows what else may be right */
}

int look_at_tensors(PlanObject *self, plan_watch *watch) {
  const plan_group *group = &self->groups[watch->group];
  const tensor_layout *layout = layout_of(group, watch->operand, 0);
  const torch_tensor *block[BLOCK];
  for (size_t first = 0; first < watch->count; first += BLOCK) {
    const size_t rest = watch->count - first, count = rest < BLOCK ? rest : BLOCK;
    for (size_t i = BLOCK; i < 2 * BLOCK && i < rest; ++i)
      fetch(tensor_in(watch->owners[first + i]));
    for (size_t i = 0; i < count; ++i) {
      const torch_tensor *owner = tensor_in(watch->owners[first + i]);
      if (owner->implementation != watch->implementations[first + i])
        return GONE; /* torch.utils.swap_tensors */
      block[i] = watch->of_gradients ? tensors.gradient(owner->implementation) : owner;
      fetch_implementation(block[i]->implementation);
    }
    for (size_t i = 0; i < count; ++i)
      fetch(storage_in(block[i]));
    for (size_t i = 0; i < count; ++i, layout += group->per_entry) {
      int gone = look_at_one(self, watch, first + i, layout, block[i]);
      if (gone)
        return gone;
    }
  }
  return 0;
}

/* Those of one tensor, which all have. */
static int read_numbers(plan_watch *watch, const torch_tensor *tensor) {
  watch->keys = keys_in(tensor);
  return tensors.dtype(tensor, &watch->dtype) == 0 &&
         tensors.device_id(tensor, &watch->device_id) == 0;
}

int prepare_looks(plan_watch *watch) {
  find_tensors();
  if (!has_tensors())
    return 0;
  watch->implementations = zeroed(watch->count + 1, sizeof *watch->implementations);
  if (!watch->of_gradients)
    watch->owners_seen = zeroed(watch->count + 1, sizeof *watch->owners_seen);
  if (!watch->implementations || (!watch->of_gradients && !watch->owners_seen))
    return -1;
  int are_known = 0; /* where no owner has a gradient, none may come */
  for (size_t i = 0; i < watch->count; ++i) {
    const torch_tensor *owner = tensor_in(watch->owners[i]), *looked_at = owner;
    watch->implementations[i] = owner->implementation;
    if (watch->of_gradients)
      looked_at = tensors.gradient(owner->implementation);
    if (!are_known && looked_at->implementation != tensors.undefined)
      are_known = read_numbers(watch, looked_at);
  }
  return 0;
}
