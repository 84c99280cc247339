// write_sample SAMPLE OUT [FROM TO]...: a sample kernel as one self-contained text, in which each
// fragment FROM became TO: a mutant. It fails unless FROM stands there exactly once.
#include <cstdio>
#include <fstream>

#include "templates/Templates.h"

int main(int argc, char **argv) {
  if (argc < 3 || argc % 2 == 0)
    return fprintf(stderr, "usage: write_sample SAMPLE OUT [FROM TO]...\n"), 2;
  const std::string_view files[] = {argv[1]};
  fw::Result<std::string> text = fw::templates::assemble(files);
  if (!text)
    return fprintf(stderr, "%s\n", fw::render(text.error()).c_str()), 1;
  for (int k = 3; k < argc; k += 2) {
    const std::string from = argv[k];
    const size_t at = text->find(from);
    if (at == text->npos || text->find(from, at + 1) != text->npos)
      return fprintf(stderr, "expected '%s' exactly once in the sample\n", argv[k]), 1;
    text->replace(at, from.size(), argv[k + 1]);
  }
  return std::ofstream(argv[2]) << *text ? 0 : 1;
}
