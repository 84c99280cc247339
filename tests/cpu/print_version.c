/* Prints what the CPU library calls its version. A program of its own: a library that was built
 * with AddressSanitizer opens in programs built with it alone, so not in Python. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef const char *version_function(void);

int main(int argc, char **argv) {
  version_function *version = NULL;
  void *library, *symbol;
  if (argc != 2)
    return 2;
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  symbol = library ? dlsym(library, "fw_cpu_version") : NULL;
  if (!symbol) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  memcpy(&version, &symbol, sizeof version); /* C has no cast from an object to a function */
  puts(version());
  return 0;
}
