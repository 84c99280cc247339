// write_sample OUT [FROM TO]: the sample kernel as one self-contained text, in which the fragment
// FROM became TO: a mutant. It fails unless FROM stands there exactly once.
#include <cstdio>
#include <fstream>

#include "templates/Templates.h"

int main(int argc, char **argv) {
  if (argc != 2 && argc != 4)
    return fprintf(stderr, "usage: write_sample OUT [FROM TO]\n"), 2;
  const std::string_view files[] = {"elements/chunk_sample.cuh"};
  fw::Result<std::string> text = fw::templates::assemble(files);
  if (!text)
    return fprintf(stderr, "%s\n", fw::render(text.error()).c_str()), 1;
  if (argc == 4) {
    const std::string from = argv[2];
    const size_t at = text->find(from);
    if (at == text->npos || text->find(from, at + 1) != text->npos)
      return fprintf(stderr, "expected '%s' exactly once in the sample\n", argv[2]), 1;
    text->replace(at, from.size(), argv[3]);
  }
  return std::ofstream(argv[1]) << *text ? 0 : 1;
}
