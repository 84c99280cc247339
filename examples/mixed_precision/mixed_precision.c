/* Trains a small network on handwritten digits in mixed precision: bf16 weights with f32 masters,
   f16 gradients under a dynamic loss scale, clipped by their norm. One step gets a gradient that
   overflows, and is skipped. */
#include "data.h"
#include "fatal.h"
#include "model.h"
#include "random.h"
#include "trainer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: mixed_precision [options]\n"
    "  --device cpu|cuda  where the optimizer runs (cpu)\n"
    "  --epochs N         passes over the training images (20)\n"
    "  --overflow-at N    the step with a gradient that overflows (100; 0: none)\n"
    "  --lr X             learning rate (0.002)\n"
    "  --max-norm X       of the gradients (1)\n"
    "  --expect PERCENT   exit with 1 when the test accuracy is lower\n";

enum { BATCH = 32, SEED = 1 };
static const char *const tensor_names[TENSORS] = {
    [W1] = "W1", [B1] = "b1", [W2] = "W2", [B2] = "b2"};

typedef struct {
  const char *device;
  long epochs, overflow_at;
  double lr, max_norm, expected_accuracy;
} options;

static double number(const char *option, const char *text, double high) {
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end || !(value >= 0 && value <= high))
    fatal(EXIT_USAGE, "expected %s as a number from 0 to %g, got '%s'; see mixed_precision --help",
          option, high, text);
  return value;
}

static void set(options *o, const char *option, const char *value) {
  if (!strcmp(option, "--device"))
    o->device = value;
  else if (!strcmp(option, "--epochs"))
    o->epochs = (long)number(option, value, 1e5);
  else if (!strcmp(option, "--overflow-at"))
    o->overflow_at = (long)number(option, value, 1e9);
  else if (!strcmp(option, "--lr"))
    o->lr = number(option, value, 1e3);
  else if (!strcmp(option, "--max-norm"))
    o->max_norm = number(option, value, 1e9);
  else if (!strcmp(option, "--expect"))
    o->expected_accuracy = number(option, value, 100);
  else
    fatal(EXIT_USAGE, "expected an option, got '%s'; see mixed_precision --help", option);
}

static options parse(int count, char **arguments) {
  options o = {"cpu", 20, 100, 2e-3, 1, 0};
  for (int i = 1; i < count; i += 2) {
    if (!strcmp(arguments[i], "--help") || !strcmp(arguments[i], "-h")) {
      fputs(usage, stdout);
      exit(0);
    }
    if (i + 1 == count)
      fatal(EXIT_USAGE,
            "expected a value after %s, got the end of the line; see mixed_precision --help",
            arguments[i]);
    set(&o, arguments[i], arguments[i + 1]);
  }
  return o;
}

static void tell(long step, const step_result *result) {
  if (result->applied)
    return;
  const char *name = result->tensor >= 0 ? tensor_names[result->tensor] : "all tensors";
  printf("step %ld skipped: a gradient of %s is not finite; loss scale %g to %g\n", step, name,
         result->scale_before, result->scale);
}

/* Returns the number of the last step. */
static long train_epoch(model *m, trainer *t, const dataset *data, const int *order, long step,
                        const options *run) {
  double loss = 0;
  int steps = 0;
  step_result last = {0};
  for (int first = 0; first < data->train_count; first += BATCH, ++steps) {
    int left = data->train_count - first;
    loss += model_gradients(m, data, order + first, left < BATCH ? left : BATCH);
    if (++step == run->overflow_at)
      m->gradient[W2][0] = 1e9F; /* times the loss scale it is more than f16 holds */
    last = trainer_step(t);
    tell(step, &last);
  }
  printf("loss %8.5f   gradient norm %7.4f   loss scale %g   test %6.2f %%\n", loss / steps,
         last.norm, last.scale, 100 * model_accuracy(m, data, data->train_count, data->count));
  fflush(stdout);
  return step;
}

int main(int count, char **arguments) {
  const options run = parse(count, arguments);
  uint64_t random = SEED;
  long step = 0;
  dataset data = dataset_read(DIGITS_DATA, SEED);
  model m = model_create(SEED);
  trainer *t = trainer_create(run.device, run.lr, run.max_norm, &m);
  int *order = allocate((unsigned long)data.train_count, sizeof(int));
  for (int i = 0; i < data.train_count; ++i)
    order[i] = i;
  for (long epoch = 0; epoch < run.epochs; ++epoch) {
    random_shuffle(&random, order, data.train_count);
    step = train_epoch(&m, t, &data, order, step, &run);
  }
  double accuracy = 100 * model_accuracy(&m, &data, data.train_count, data.count);
  printf("test accuracy %.2f %%\n", accuracy);
  trainer_destroy(t);
  model_free(&m);
  dataset_free(&data);
  free(order);
  if (accuracy < run.expected_accuracy)
    fatal(EXIT_CHECK, "expected a test accuracy of at least %g %%, got %.2f %%; train longer",
          run.expected_accuracy, accuracy);
  return 0;
}
