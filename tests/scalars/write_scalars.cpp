// write-scalars OUT.cpp TARGET: the emitted kernel `fw_scalars` and its mutants as one file for the
// emulator, each in a namespace of its own.
#include "compiler/RuntimeKernels.h"

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

namespace {

/// An edit that a test must notice; `from` stands in the text exactly once.
struct Mutant {
  const char *name, *from, *to;
};
const Mutant mutants[] = {
    {"emitted", "", ""},
    // Operations that are not waited for would be read as any address.
    {"inputs_not_waited_for",
     "rows.read();\n"
     "    u32 begin = 0;\n"
     "    do {\n"
     "      const u32 left = program.operationCount - begin;\n"
     "      const u32 size = left < ScalarsLaunch::WINDOW ? left : ScalarsLaunch::WINDOW;\n"
     "      rows.stage(begin, size);\n"
     "      __syncthreads();",
     "u32 begin = 0;\n"
     "    do {\n"
     "      const u32 left = program.operationCount - begin;\n"
     "      const u32 size = left < ScalarsLaunch::WINDOW ? left : ScalarsLaunch::WINDOW;\n"
     "      rows.stage(begin, size);\n"
     "      __syncthreads();\n"
     "      if (begin == 0)\n"
     "        rows.read();"},
    {"values_not_waited_for", "__syncthreads(); // the values are there",
     "// the values are there"},
    {"readers_not_waited_for", "__syncthreads(); // the values are read", "// the values are read"},
    {"counter_twice", "program.counters[k], program.countBy);",
     "program.counters[k], 2 * program.countBy);"},
    {"counter_up_only", "program.counters[k], program.countBy);", "program.counters[k], 1);"},
    {"counter_missed", "k < program.counterCount;", "k + 1 < program.counterCount;"},
    {"counter_stride", "k < program.counterCount; k += THREADS",
     "k < program.counterCount; k += THREADS + 1"},
    {"counted_when_skipped", "counts = !isSkipped;", "counts = isSkipped || true;"},
    {"advance_ignored", "source.advance ? cell.plus(number, 1) : number", "number"},
    {"row_stride", "first += lanes", "first += lanes + 1"},
    {"row_missed", "first < program.rows;", "first + 1 < program.rows;"},
    {"source_of_row_0", "program.sources + static_cast<u64>(first) *", "program.sources + 0 *"},
    {"source_off", "values[k % inputs * lanes + k / inputs]",
     "values[k % inputs * lanes + k % lanes]"},
    {"staged_constant_off", "return spare | IS_CONSTANT;", "return (spare + 1) | IS_CONSTANT;"},
    {"window_missed", "begin += size;", "begin += size + 1;"},
    {"constant_off", "return program.constants[number - inputs]",
     "return program.constants[number - inputs + 1]"},
    {"constant_bound", "number - inputs < constants", "number - inputs <= constants"},
    {"slot_off", "[start + k] = static_cast<float>", "[start] = static_cast<float>"},
    {"store_missed", "k < count * program.storeCount;", "k + 1 < count * program.storeCount;"},
    {"store_skipped", "stores[k].always || ", ""},
    {"store_of_skipped", "!skips(lane)", "true"},
    {"stored_at_once", "stores[k].isDue = stores[k].address != 0 &&",
     "if (stores[k].address != 0 && !skips(lane))\n"
     "        writeScalar(stores[k].type, stores[k].address, stores[k].due);\n"
     "      stores[k].isDue = stores[k].address != 0 &&"},
};

std::set<std::string> macrosOf(const std::string &text) {
  std::set<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.rfind("#define ", 0) == 0)
      names.insert(line.substr(8, line.find_first_of(" (", 8) - 8));
  return names;
}

/// `text` in namespace `name`, with the macros of others before it gone.
void writeKernel(std::ostream &out, const std::string &name, const std::string &text) {
  for (const std::string &macro : macrosOf(text))
    out << "#undef " << macro << "\n";
  out << "#define fw_scalars fw_scalars_" << name << "\nnamespace " << name << " {\n"
      << text << "void enter(const void *launch) {\n"
      << "  fw::ScalarsLaunch copy;\n  std::memcpy(&copy, launch, sizeof copy);\n"
      << "  fw_scalars(copy);\n}\n}\n#undef fw_scalars\n";
}

int fail(const std::string &text) {
  std::fprintf(stderr, "write-scalars: %s\n", text.c_str());
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return fail("expected OUT.cpp TARGET");
  auto lowered = fw::lowerScalars(argv[2]);
  if (!lowered)
    return fail(render(lowered.error()));
  std::ofstream out(argv[1]);
  out << "#include \"tests/emulator/KernelText.h\"\n#include \"tests/scalars/Kernels.h\"\n\n";
  std::string table;
  for (const Mutant &mutant : mutants) {
    std::string text = lowered->sources[0];
    const std::string from = mutant.from;
    const size_t at = text.find(from);
    if (at == text.npos || (!from.empty() && text.find(from, at + 1) != text.npos))
      return fail("expected '" + from + "' exactly once in the kernel");
    writeKernel(out, mutant.name, text.replace(at, from.size(), mutant.to));
    table += std::string("    {\"") + mutant.name + "\", " + mutant.name + "::enter},\n";
  }
  out << "extern \"C\" const fw::scalars::EmulatedKernel fw_scalars_kernels[] = {\n"
      << table << "    {}};\n";
  return out ? 0 : 1;
}
