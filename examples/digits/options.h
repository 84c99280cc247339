#ifndef DIGITS_OPTIONS_H
#define DIGITS_OPTIONS_H

#include "optimizer.h"

#include <stdint.h>

typedef struct {
  optimizer_options optimizer;
  const char *data;
  long epochs, batch;
  uint64_t seed;
  double expected_accuracy; /* percent; 0: any */
} options;

/* Ends the program on --help (0) and on a bad argument (2). */
options options_parse(int count, char **arguments);

#endif
