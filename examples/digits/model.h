/* A perceptron with one hidden layer, 64 -> 64 -> 10, with its gradients, in plain C:
     h = relu(W1 x + b1),  s = W2 h + b2,  loss = -log softmax(s)[label]. */
#ifndef DIGITS_MODEL_H
#define DIGITS_MODEL_H

#include "data.h"

#include <stddef.h>
#include <stdint.h>

enum { HIDDEN = 64, TENSORS = 4 };
enum { W1, B1, W2, B2 };

typedef struct {
  size_t count[TENSORS];    /* elements of W1 [HIDDEN][PIXELS], b1, W2 [CLASSES][HIDDEN], b2 */
  float *value[TENSORS];    /* parameters */
  float *gradient[TENSORS]; /* of the mean loss over the last batch */
} model;

/* Weights uniform in +-sqrt(6 / inputs) (He 2015), biases zero. */
model model_create(uint64_t seed);
void model_free(model *m);

/* Mean loss over images[indices[0..count)]; fills the gradients. */
double model_gradients(model *m, const dataset *data, const int *indices, int count);

/* The share of images [first, last) whose largest score is their digit. */
double model_accuracy(const model *m, const dataset *data, int first, int last);

#endif
