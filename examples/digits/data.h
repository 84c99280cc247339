/* The images and their digits, split once into a training and a test part. */
#ifndef DIGITS_DATA_H
#define DIGITS_DATA_H

#include <stdint.h>

enum { PIXELS = 64, CLASSES = 10, MAX_PIXEL = 16 };

typedef struct {
  int count, train_count; /* images [0, train_count) train, the rest test */
  float *pixels;          /* [count][PIXELS], scaled to 0..1 */
  int *labels;            /* [count], 0..9 */
} dataset;

/* Reads a CSV file, gzip-compressed or plain, and shuffles it by `seed`; four fifths train. A
   damaged file ends the program with its line. */
dataset dataset_read(const char *path, uint64_t seed);

void dataset_free(dataset *data);

#endif
