#include "tests/rows/Samples.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

#include "templates/Templates.h"

namespace fw::rows {
namespace {

struct Dtype {
  const char *name, *type;
  unsigned bytes;
};
constexpr Dtype dtypes[] = {{"bf16", "fw::bf16", 2},
                            {"f16", "fw::f16", 2},
                            {"f32", "float", 4},
                            {"f64", "double", 8},
                            {"e4m3fn", "fw::e4m3fn", 1}};

struct OpRow {
  const char *name;
  int loads; ///< streams that are read
  int shared, values, exchanges;
  bool isReduced = false; ///< reductions read operands of columns
};
constexpr OpRow ops[] = {{"rms_norm", 1, 1, 1, 1}, {"layer_norm", 1, 2, 3, 1},
                         {"softmax", 1, 0, 2, 1},  {"softmax_backward", 2, 0, 1, 1},
                         {"centred", 1, 0, 1, 2},  {"rms_norm_backward", 2, 1, 1, 1, true},
                         {"affine", 1, 1, 0, 0},   {"biased_softmax", 2, 0, 2, 1}};

Error usage(const std::string &expected, std::string_view got) {
  return {.code = Code::USAGE,
          .text = "expected " + expected + ", got '" + std::string(got) + "'",
          .remedy = "correct the line"};
}

template <class Row, size_t N> const Row *find(const Row (&rows)[N], std::string_view name) {
  const auto *row = std::ranges::find(rows, name, &Row::name);
  return row == std::end(rows) ? nullptr : row;
}

passes::RowsWork workOf(const Spec &spec) {
  const OpRow &op = *find(ops, spec.op);
  passes::RowsWork work;
  for (int k = 0; k < op.loads; ++k)
    work.streams.push_back({find(dtypes, spec.in)->bytes, true, false});
  work.streams.push_back({find(dtypes, spec.out)->bytes, false, true});
  work.shared.assign(static_cast<size_t>(op.shared),
                     {find(dtypes, spec.column)->bytes, op.isReduced});
  work.values = op.values;
  return work;
}

std::string flag(std::string_view name, bool value) {
  return std::string(name) + (value ? " = true" : " = false");
}

std::string schedulePart(const Spec &spec, const passes::RowsSchedule &s) {
  const auto number = [](std::string_view name, int64_t value) {
    return std::string(name) + " = " + std::to_string(value);
  };
  // Single elements are on boundaries of their own always.
  return "#define FW_ROWS_SCHEDULE " + number("V", s.vec) + ", " + number("VECTORS", s.vectors) +
         ", " + number("STEPS", s.steps) + ", " + number("THREADS", s.threads) + ", " +
         number("BLOCKS", s.blocksPerSm) + ", " + number("THREADS_PER_ROW", s.threadsPerRow) +
         ", " + number("ROWS_PER_THREAD", s.rowsPerThread) + ", " +
         number("COLUMNS", spec.facts.columns) + ", " + number("STAGES", s.ring) +
         "\n#define FW_ROWS_FLAGS " + flag("ALIGNED", spec.facts.aligned || s.vec == 1) + ", " +
         flag("HOLDS", s.keep == passes::Keep::registers) + ", " + flag("EARLY", s.weightEarly) +
         ", " + flag("FRESH", s.fresh) + ", " + flag("LINED", s.lined) + "\n";
}

std::string definesFor(const Spec &spec, const passes::RowsSchedule &schedule) {
  std::string text = schedulePart(spec, schedule);
  text +=
      std::string("#define FW_ROWS_SKELETON fw::") + (schedule.ring ? "smemRing" : "row") + "\n";
  text += std::string("#define FW_ROWS_INDEX fw::") + (spec.wideIndex ? "u64" : "u32") + "\n";
  text += std::string("#define FW_ROWS_REAL ") + (spec.isDouble() ? "double" : "float") + "\n";
  text += std::string("#define FW_ROWS_IN ") + find(dtypes, spec.in)->type + "\n";
  text += std::string("#define FW_ROWS_OUT ") + find(dtypes, spec.out)->type + "\n";
  text += std::string("#define FW_ROWS_COLUMN ") + find(dtypes, spec.column)->type + "\n";
  text += std::string("#define FW_ROWS_EXP fw::") + (spec.fast ? "fast" : "math") + "::exp\n";
  text += std::string("#define FW_ROWS_CAUSAL ") + (spec.causal ? "true" : "false") + "\n";
  return text;
}

std::string featuresFor(const std::string &text, const target::Arch &arch) {
  std::string defines;
  for (std::string name : templates::featuresAsked(text))
    if (target::has(arch, *target::findFeature(name))) {
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
      defines += "#define FW_HAS_" + name + " 1\n";
    }
  return defines;
}

Result<void> setField(Spec &spec, const std::string &key, const std::string &value) {
  for (auto [name, field] :
       {std::pair("in", &spec.in), std::pair("out", &spec.out), std::pair("column", &spec.column)})
    if (key == name) {
      if (!find(dtypes, value))
        return usage("a dtype (bf16, f16, f32, f64, e4m3fn)", value);
      *field = value;
      return {};
    }
  int64_t number = 0;
  const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (status != std::errc() || end != value.data() + value.size())
    return usage("a number for " + key, value);
  if (key == "columns")
    spec.facts.columns = number;
  else if (key == "aligned")
    spec.facts.aligned = number;
  else if (key == "together")
    spec.facts.together = number;
  else if (key == "fast")
    spec.fast = number;
  else if (key == "causal")
    spec.causal = spec.facts.bounded = number;
  else if (key == "wide_index")
    spec.wideIndex = number;
  else
    spec.overrides[key] = number;
  return {};
}

} // namespace

Result<Spec> parseSpec(std::string_view line) {
  std::istringstream words{std::string(line)};
  Spec spec;
  if (!(words >> spec.name >> spec.op) || !find(ops, spec.op))
    return usage("NAME and an op (rms_norm, layer_norm, softmax, softmax_backward, centred, "
                 "rms_norm_backward, affine, biased_softmax)",
                 line);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals == word.npos)
      return usage("key=value", word);
    if (auto done = setField(spec, word.substr(0, equals), word.substr(equals + 1)); !done)
      return done.takeError();
  }
  return spec;
}

Result<Sample> makeSample(const Spec &spec, const target::Arch &arch) {
  using target::Limit;
  const passes::RowsLimits limits{target::limit(arch, Limit::registers_per_sm),
                                  target::limit(arch, Limit::registers_per_thread),
                                  target::limit(arch, Limit::threads_per_sm),
                                  target::limit(arch, Limit::threads_per_block),
                                  target::limit(arch, Limit::blocks_per_sm),
                                  target::limit(arch, Limit::shared_bytes_per_sm)};
  const passes::RowsWork work = workOf(spec);
  Result<passes::RowsSchedule> schedule =
      passes::scheduleRows(work, spec.facts, limits, spec.overrides);
  if (!schedule)
    return schedule.takeError();
  Sample sample{.spec = spec,
                .schedule = *schedule,
                .registers = passes::estimateRegisters(work, spec.facts, *schedule),
                .sharedBytes = 0,
                .symbol = "fw_" + spec.op + "_sample",
                .text = definesFor(spec, *schedule)};
  if (schedule->threadsPerRow > 32)
    sample.sharedBytes = std::min(find(ops, spec.op)->exchanges, 2) * schedule->rowsPerBlock() *
                         work.values * (schedule->threadsPerRow / 32) * (spec.isDouble() ? 8 : 4);
  if (schedule->ring) {
    int64_t vector = 0; // bytes of the loaded streams
    for (const passes::OperandStream &stream : work.streams)
      vector += stream.loaded ? schedule->vec * stream.bytes : 0;
    sample.sharedBytes = schedule->ring * schedule->threads * schedule->vectors * vector +
                         2 * schedule->rowsPerBlock() * work.values *
                             std::max<int64_t>(schedule->threadsPerRow / 32, 1) *
                             (spec.isDouble() ? 8 : 4);
  }
  const std::string file = "rows/" + spec.op + "_sample.cuh";
  std::vector<std::string_view> files = {"vocab/bf16.h"};
  for (const std::string &dtype : {spec.in, spec.out, spec.column}) {
    if (dtype == "f16")
      files.push_back("vocab/f16.h");
    if (dtype == "e4m3fn")
      files.push_back("vocab/fp8.h");
  }
  if (spec.fast)
    files.push_back("vocab/math_fast.h");
  if (schedule->ring)
    files.push_back("rows/smem_ring.cuh");
  files.push_back(file);
  Result<std::string> text = templates::assemble(files);
  if (!text)
    return text.takeError();
  sample.text += featuresFor(*text, arch) + *text;
  return sample;
}

std::string describe(const Sample &sample) {
  const passes::RowsSchedule &s = sample.schedule;
  std::ostringstream out;
  out << "{\"name\": \"" << sample.spec.name << "\", \"op\": \"" << sample.spec.op
      << "\", \"symbol\": \"" << sample.symbol << "\", \"columns\": " << sample.spec.facts.columns
      << ", \"aligned\": " << sample.spec.facts.aligned << ", \"in\": \"" << sample.spec.in
      << "\", \"out\": \"" << sample.spec.out << "\", \"column\": \"" << sample.spec.column
      << "\", \"fast\": " << sample.spec.fast << ", \"causal\": " << sample.spec.causal
      << ", \"threads\": " << s.threads << ", \"rows_per_block\": " << s.rowsPerBlock()
      << ", \"ring\": " << s.ring << ", \"blocks_per_sm\": " << s.blocksPerSm
      << ", \"shared_bytes\": " << sample.sharedBytes << ", \"schedule\": \"T" << s.threadsPerRow
      << "x" << s.vectors << " L" << s.steps << " U" << s.rowsPerThread << " V" << s.vec << " b"
      << s.blocksPerSm << " t" << s.threads << (s.keep == passes::Keep::reread ? " reread" : "")
      << (s.ring ? " ring" + std::to_string(s.ring) : "") << (s.weightEarly ? " early" : "")
      << (s.fresh ? " fresh" : "") << (s.lined ? " lined" : "")
      << "\", \"estimated_registers\": " << sample.registers
      << ", \"fixed\": " << !sample.spec.overrides.empty();
  return out.str();
}

} // namespace fw::rows
