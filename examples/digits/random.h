/* xorshift64*: a small generator, so that a seed gives the same run everywhere. Vigna 2016. */
#ifndef DIGITS_RANDOM_H
#define DIGITS_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 0x2545F4914F6CDD1DU;
}

/* Uniform in [-1, 1). */
static inline float random_signed(uint64_t *state) {
  return (float)(random_next(state) >> 40) * (1.0F / 8388608.0F) - 1.0F;
}

static inline void random_shuffle(uint64_t *state, int *items, int count) {
  for (int i = count - 1; i > 0; --i) {
    int j = (int)(random_next(state) % (uint64_t)(i + 1));
    int kept = items[i];
    items[i] = items[j];
    items[j] = kept;
  }
}

#endif
