#include "data.h"

#include "fatal.h"
#include "random.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LINE_BYTES = 1024, FIRST_CAPACITY = 2048 };

/* Reads one integer in [0, limit] and the separator after it. */
static int read_number(const char *path, int line, char **cursor, long limit, char separator) {
  char *end;
  long value = strtol(*cursor, &end, 10);
  if (end == *cursor || value < 0 || value > limit)
    fatal(EXIT_USAGE,
          "%s:%d: expected a number from 0 to %ld, got '%.8s'; give a file of the digits data",
          path, line, limit, *cursor);
  if (*end != separator && !(separator == '\n' && (*end == '\r' || *end == '\0')))
    fatal(EXIT_USAGE,
          "%s:%d: expected %d numbers separated by commas, got another layout; give a file of the "
          "digits data",
          path, line, PIXELS + 1);
  *cursor = end + 1;
  return (int)value;
}

static void read_line(const char *path, int line, char *text, float *pixels, int *label) {
  char *cursor = text;
  for (int i = 0; i < PIXELS; ++i)
    pixels[i] = (float)read_number(path, line, &cursor, MAX_PIXEL, ',') / MAX_PIXEL;
  *label = read_number(path, line, &cursor, CLASSES - 1, '\n');
}

static void grow(dataset *data, int capacity) {
  data->pixels = realloc(data->pixels, sizeof(float) * PIXELS * (size_t)capacity);
  data->labels = realloc(data->labels, sizeof(int) * (size_t)capacity);
  if (!data->pixels || !data->labels)
    fatal(EXIT_CHECK, "expected memory for %d images, got none; free some memory", capacity);
}

static dataset read_all(const char *path) {
  dataset data = {0, 0, NULL, NULL};
  char text[LINE_BYTES];
  int capacity = 0, status = Z_OK;
  gzFile file = gzopen(path, "rb");
  if (!file)
    fatal(EXIT_USAGE, "expected a readable data file, got '%s' (%s); give --data FILE", path,
          strerror(errno));
  while (gzgets(file, text, sizeof text)) {
    if (data.count == capacity)
      grow(&data, capacity = capacity ? 2 * capacity : FIRST_CAPACITY);
    read_line(path, data.count + 1, text, data.pixels + (size_t)PIXELS * (size_t)data.count,
              data.labels + data.count);
    ++data.count;
  }
  gzerror(file, &status);
  if (gzclose(file) != Z_OK || status != Z_OK)
    fatal(EXIT_USAGE, "expected a whole data file, got '%s' damaged after image %d; fetch it again",
          path, data.count);
  return data;
}

dataset dataset_read(const char *path, uint64_t seed) {
  dataset read = read_all(path), data = read;
  if (read.count < CLASSES)
    fatal(EXIT_USAGE, "expected at least %d images, got %d in '%s'; give a file of the digits data",
          CLASSES, read.count, path);
  int *order = allocate((unsigned long)read.count, sizeof(int));
  for (int i = 0; i < read.count; ++i)
    order[i] = i;
  random_shuffle(&seed, order, read.count);
  data.train_count = read.count - read.count / 5;
  data.pixels = allocate((unsigned long)read.count * PIXELS, sizeof(float));
  data.labels = allocate((unsigned long)read.count, sizeof(int));
  for (int i = 0; i < read.count; ++i) {
    memcpy(data.pixels + i * PIXELS, read.pixels + order[i] * PIXELS, sizeof(float) * PIXELS);
    data.labels[i] = read.labels[order[i]];
  }
  dataset_free(&read);
  free(order);
  return data;
}

void dataset_free(dataset *data) {
  free(data->pixels);
  free(data->labels);
}
