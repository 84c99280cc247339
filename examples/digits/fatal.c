#include "fatal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void fatal(int code, const char *format, ...) {
  va_list arguments;
  fflush(stdout);
  fputs("error: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(code);
}

void *allocate(unsigned long count, unsigned long size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory)
    fatal(EXIT_CHECK, "expected %lu x %lu bytes of memory, got none; free some memory", count,
          size);
  return memory;
}
