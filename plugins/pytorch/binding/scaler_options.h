/* Options of a scaler, from keywords. */
#ifndef FUSEWRIGHT_SCALER_OPTIONS_H
#define FUSEWRIGHT_SCALER_OPTIONS_H

#include "binding.h"

typedef struct {
  fw_scaler_options options;
  PyObject *texts[4]; /* what its texts point into */
  size_t text_count;
} given_options;

/* `keywords` may be NULL. The caller lets go of given->texts. */
int set_scaler_options(given_options *given, PyObject *keywords);

#endif
