/* Ends the program with a message of the shape "expected ..., got ...; remedy". */
#ifndef DIGITS_FATAL_H
#define DIGITS_FATAL_H

/* The exit codes of the fusewright command line, as far as this program meets them. */
enum { EXIT_CHECK = 1, EXIT_USAGE = 2, EXIT_OP_TEXT = 3, EXIT_DEVICE = 4, EXIT_TOOLCHAIN = 5 };

void fatal(int code, const char *format, ...);

/* Memory of `count` objects set to zero; ends the program when there is none. */
void *allocate(unsigned long count, unsigned long size);

#endif
