/* Trains a small network on handwritten digits; the optimizer is a fused kernel that is compiled
   when the program starts. */
#include "data.h"
#include "fatal.h"
#include "model.h"
#include "optimizer.h"
#include "options.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One pass over the training images in a new order; returns the mean loss of its steps. */
static double train_epoch(model *m, optimizer *o, const dataset *data, int *order, long batch,
                          double *step_seconds) {
  double loss = 0;
  int steps = 0;
  for (int first = 0; first < data->train_count; first += (int)batch, ++steps) {
    int left = data->train_count - first;
    loss += model_gradients(m, data, order + first, left < batch ? left : (int)batch);
    double start = seconds();
    optimizer_step(o);
    *step_seconds += seconds() - start;
  }
  return loss / steps;
}

static double train(model *m, optimizer *o, const dataset *data, const options *run) {
  uint64_t random = run->seed;
  double step_seconds = 0, start = seconds();
  long steps = run->epochs * ((data->train_count + run->batch - 1) / run->batch);
  int *order = allocate((unsigned long)data->train_count, sizeof(int));
  for (int i = 0; i < data->train_count; ++i)
    order[i] = i;
  for (long epoch = 1; epoch <= run->epochs; ++epoch) {
    random_shuffle(&random, order, data->train_count);
    double loss = train_epoch(m, o, data, order, run->batch, &step_seconds);
    printf("epoch %3ld/%ld   loss %8.5f   train %6.2f %%   test %6.2f %%\n", epoch, run->epochs,
           loss, 100 * model_accuracy(m, data, 0, data->train_count),
           100 * model_accuracy(m, data, data->train_count, data->count));
    fflush(stdout);
  }
  free(order);
  if (steps)
    printf("%ld steps in %.2f s, optimizer %.1f us a step\n", steps, seconds() - start,
           1e6 * step_seconds / (double)steps);
  return 100 * model_accuracy(m, data, data->train_count, data->count);
}

int main(int count, char **arguments) {
  options run = options_parse(count, arguments);
  dataset data = dataset_read(run.data, run.seed);
  model m = model_create(run.seed);
  optimizer *o = optimizer_create(&run.optimizer, &m);
  printf("%d images train, %d test\n", data.train_count, data.count - data.train_count);
  optimizer_describe(o);
  double accuracy = train(&m, o, &data, &run);
  printf("test accuracy %.2f %%\n", accuracy);
  optimizer_destroy(o);
  model_free(&m);
  dataset_free(&data);
  if (accuracy < run.expected_accuracy)
    fatal(EXIT_CHECK,
          "expected a test accuracy of at least %g %%, got %.2f %%; train longer or change --lr",
          run.expected_accuracy, accuracy);
  return 0;
}
