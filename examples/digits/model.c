#include "model.h"

#include "fatal.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  int rows, columns;
} shapes[TENSORS] = {
    [W1] = {HIDDEN, PIXELS}, [B1] = {HIDDEN, 1}, [W2] = {CLASSES, HIDDEN}, [B2] = {CLASSES, 1}};

static void fill_uniform(float *values, size_t count, float limit, uint64_t *random) {
  for (size_t i = 0; i < count; ++i)
    values[i] = limit * random_signed(random);
}

model model_create(uint64_t seed) {
  model m;
  for (int t = 0; t < TENSORS; ++t) {
    m.count[t] = (size_t)shapes[t].rows * (size_t)shapes[t].columns;
    m.value[t] = allocate(m.count[t], sizeof(float));
    m.gradient[t] = allocate(m.count[t], sizeof(float));
  }
  fill_uniform(m.value[W1], m.count[W1], sqrtf(6.0F / PIXELS), &seed);
  fill_uniform(m.value[W2], m.count[W2], sqrtf(6.0F / HIDDEN), &seed);
  return m;
}

void model_free(model *m) {
  for (int t = 0; t < TENSORS; ++t) {
    free(m->value[t]);
    free(m->gradient[t]);
  }
}

/* y = W x + b */
static void affine(const float *weights, const float *bias, const float *x, float *y, int rows,
                   int columns) {
  for (int i = 0; i < rows; ++i) {
    float sum = bias[i];
    for (int j = 0; j < columns; ++j)
      sum += weights[i * columns + j] * x[j];
    y[i] = sum;
  }
}

static void forward(const model *m, const float *x, float *hidden, float *scores) {
  affine(m->value[W1], m->value[B1], x, hidden, HIDDEN, PIXELS);
  for (int i = 0; i < HIDDEN; ++i)
    hidden[i] = hidden[i] > 0 ? hidden[i] : 0;
  affine(m->value[W2], m->value[B2], hidden, scores, CLASSES, HIDDEN);
}

/* Replaces scores by d loss / d scores = softmax(scores) - onehot(label); returns the loss. */
static double softmax_gradient(float *scores, int label) {
  float largest = scores[0], sum = 0, own = scores[label];
  for (int i = 1; i < CLASSES; ++i)
    largest = scores[i] > largest ? scores[i] : largest;
  for (int i = 0; i < CLASSES; ++i)
    sum += scores[i] = expf(scores[i] - largest);
  for (int i = 0; i < CLASSES; ++i)
    scores[i] = scores[i] / sum - (i == label);
  return (double)logf(sum) + (double)largest - (double)own;
}

/* Adds scale * d x^T to the weights' gradient and scale * d to the bias's. */
static void accumulate(float *weights, float *bias, const float *d, const float *x, float scale,
                       int rows, int columns) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j)
      weights[i * columns + j] += scale * d[i] * x[j];
    bias[i] += scale * d[i];
  }
}

/* d hidden = W2^T d scores where the hidden unit was active */
static void backward_hidden(const float *weights, const float *d_scores, const float *hidden,
                            float *d_hidden) {
  for (int j = 0; j < HIDDEN; ++j) {
    float sum = 0;
    for (int i = 0; i < CLASSES; ++i)
      sum += weights[i * HIDDEN + j] * d_scores[i];
    d_hidden[j] = hidden[j] > 0 ? sum : 0;
  }
}

double model_gradients(model *m, const dataset *data, const int *indices, int count) {
  double loss = 0;
  float scale = 1.0F / (float)count;
  for (int t = 0; t < TENSORS; ++t)
    memset(m->gradient[t], 0, m->count[t] * sizeof(float));
  for (int n = 0; n < count; ++n) {
    float hidden[HIDDEN], scores[CLASSES], d_hidden[HIDDEN];
    const float *x = data->pixels + indices[n] * PIXELS;
    forward(m, x, hidden, scores);
    loss += softmax_gradient(scores, data->labels[indices[n]]);
    backward_hidden(m->value[W2], scores, hidden, d_hidden);
    accumulate(m->gradient[W2], m->gradient[B2], scores, hidden, scale, CLASSES, HIDDEN);
    accumulate(m->gradient[W1], m->gradient[B1], d_hidden, x, scale, HIDDEN, PIXELS);
  }
  return loss / count;
}

static int predict(const model *m, const float *x) {
  float hidden[HIDDEN], scores[CLASSES];
  int best = 0;
  forward(m, x, hidden, scores);
  for (int i = 1; i < CLASSES; ++i)
    best = scores[i] > scores[best] ? i : best;
  return best;
}

double model_accuracy(const model *m, const dataset *data, int first, int last) {
  int right = 0;
  for (int i = first; i < last; ++i)
    right += predict(m, data->pixels + i * PIXELS) == data->labels[i];
  return (double)right / (last - first);
}
