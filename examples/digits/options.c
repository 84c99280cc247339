#include "options.h"

#include "fatal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "usage: digits [options]\n"
                            "  --device cpu|cuda  where the optimizer runs (cpu)\n"
                            "  --op NAME          a shipped op, or an op of the file (adamw)\n"
                            "  --optimizer FILE   an op file of your own\n"
                            "  --lr X             learning rate (the op's default)\n"
                            "  --epochs N         passes over the training images (20)\n"
                            "  --batch N          images a step (32)\n"
                            "  --seed N           of split, weights and order (1)\n"
                            "  --data FILE        images as CSV, gzip-compressed or plain\n"
                            "  --expect PERCENT   exit with 1 when the test accuracy is lower\n";

static double number(const char *option, const char *text, double low, double high) {
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end || !(value >= low && value <= high))
    fatal(EXIT_USAGE, "expected %s as a number from %g to %g, got '%s'; see digits --help", option,
          low, high, text);
  return value;
}

static long integer(const char *option, const char *text, long low, long high) {
  double value = number(option, text, (double)low, (double)high);
  if (value != floor(value))
    fatal(EXIT_USAGE, "expected %s as an integer, got '%s'; see digits --help", option, text);
  return (long)value;
}

static const char *device(const char *text) {
  if (strcmp(text, "cpu") != 0 && strcmp(text, "cuda") != 0)
    fatal(EXIT_USAGE, "expected --device cpu or cuda, got '%s'; see digits --help", text);
  return text;
}

static void set(options *o, const char *option, const char *value) {
  if (!strcmp(option, "--device"))
    o->optimizer.device = device(value);
  else if (!strcmp(option, "--op"))
    o->optimizer.op = value;
  else if (!strcmp(option, "--optimizer"))
    o->optimizer.file = value;
  else if (!strcmp(option, "--lr"))
    o->optimizer.lr = number(option, value, 0, 1e3);
  else if (!strcmp(option, "--epochs"))
    o->epochs = integer(option, value, 0, 100000);
  else if (!strcmp(option, "--batch"))
    o->batch = integer(option, value, 1, 100000);
  else if (!strcmp(option, "--seed"))
    o->seed = (uint64_t)integer(option, value, 1, 1L << 52);
  else if (!strcmp(option, "--data"))
    o->data = value;
  else if (!strcmp(option, "--expect"))
    o->expected_accuracy = number(option, value, 0, 100);
  else
    fatal(EXIT_USAGE, "expected an option, got '%s'; see digits --help", option);
}

options options_parse(int count, char **arguments) {
  options o = {{NULL, NULL, "cpu", -1}, DIGITS_DATA, 20, 32, 1, 0};
  for (int i = 1; i < count; i += 2) {
    if (!strcmp(arguments[i], "--help") || !strcmp(arguments[i], "-h")) {
      fputs(usage, stdout);
      exit(0);
    }
    if (strncmp(arguments[i], "--", 2) != 0)
      fatal(EXIT_USAGE, "expected an option, got '%s'; see digits --help", arguments[i]);
    if (i + 1 == count)
      fatal(EXIT_USAGE, "expected a value after %s, got the end of the line; see digits --help",
            arguments[i]);
    set(&o, arguments[i], arguments[i + 1]);
  }
  if (!o.optimizer.op && !o.optimizer.file)
    o.optimizer.op = "adamw";
  return o;
}
