#include "compiler/jit/ProgramRecord.h"

#include "compiler/jit/Hash.h"
#include "compiler/jit/RecordArchive.h"

#include <algorithm>

// The fields of each record. Found by the archives where their arguments are.
namespace fw::jit::archive {

template <class A> void fields(A &archive, Of<A, LaunchRecord> &r) {
  archive.field("symbol", r.symbol);
  archive.field("pattern", r.pattern);
  archive.field("skeleton", r.skeleton);
  archive.field("schedule", r.schedule);
  archive.field("grid", r.gridRule);
  archive.field("threads", r.threads);
  archive.field("cluster", r.cluster);
  archive.field("shared", r.sharedBytes);
  archive.rare("early_launch", r.earlyLaunch, false);
  archive.field("chunk", r.chunk);
  archive.rare("rows_per_block", r.rowsPerBlock, int64_t(0));
  archive.rare("axes", r.axes, 0);
  archive.field("vec", r.vec);
  archive.field("slots", r.slots);
  archive.field("real", r.real);
  archive.field("workspace", r.workspaceBytes);
  archive.field("parameters", r.parameters);
  archive.field("operands", r.operands);
  archive.field("registers", r.registers);
  archive.field("spills", r.spillBytes);
  archive.field("stack", r.stackBytes);
  archive.field("static_shared", r.staticSharedBytes);
}

template <class A> void fields(A &archive, Of<A, KernelRecord> &r) {
  archive.part("launch", r.launch);
  archive.field("key", r.key);
}

template <class A> void fields(A &archive, Of<A, OperandRecord> &r) {
  archive.field("name", r.name);
  archive.field("role", r.role);
  archive.field("dtype", r.dtype);
  archive.rare("axes", r.axes, std::string());
  archive.rare("read", r.read, false);
  archive.rare("written", r.written, false);
  archive.rare("optional", r.optional, false);
  archive.rare("present", r.present, true);
  archive.rare("neutral", r.neutral, 0.0);
}

template <class A> void fields(A &archive, Of<A, HyperRecord> &r) {
  archive.field("name", r.name);
  archive.field("type", r.type);
  archive.field("default", r.fallback);
  archive.rare("low", r.low, -std::numeric_limits<double>::infinity());
  archive.rare("high", r.high, std::numeric_limits<double>::infinity());
  archive.rare("low_open", r.lowOpen, false);
  archive.rare("high_open", r.highOpen, false);
}

template <class A> void fields(A &archive, Of<A, ReductionRecord> &r) {
  archive.field("name", r.name);
  archive.field("kind", r.kind);
  archive.field("keep", r.keep);
}

template <class A> void fields(A &archive, Of<A, ScalarResult> &r) {
  archive.field("value", r.value);
  archive.field("operand", r.operand);
  archive.field("always", r.always);
}

namespace {

/// A scalar program as lists. Operations are named, which stays the same when the table grows, with
/// three operands for each.
struct ScalarLists {
  std::vector<std::string> names, inputKinds;
  std::vector<uint32_t> operands, inputIndices;
  std::vector<uint32_t> skip; ///< at most one value number
};

/// In the order of ScalarInput::Kind.
/// As many as an op's header may have.
constexpr size_t maxAxes = 8;

constexpr std::string_view inputKinds[] = {"hyper",    "step",         "reduction", "tensor_size",
                                           "all_size", "tensor_index", "operand",   "axis_size"};

ScalarLists listsOf(const ScalarProgram &program) {
  ScalarLists lists;
  for (const ScalarInput &input : program.inputs) {
    lists.inputKinds.emplace_back(inputKinds[size_t(input.kind)]);
    lists.inputIndices.push_back(input.index);
  }
  for (const ScalarOperation &op : program.operations) {
    lists.names.push_back(scalarName(op.code));
    lists.operands.insert(lists.operands.end(), {op.a, op.b, op.c});
  }
  if (program.skip)
    lists.skip.push_back(*program.skip);
  return lists;
}

void takeInputs(ScalarProgram &program, const ScalarLists &lists) {
  if (lists.inputKinds.size() != lists.inputIndices.size())
    throw std::runtime_error("lists of different length");
  for (size_t i = 0; i < lists.inputKinds.size(); ++i) {
    const auto *kind = std::ranges::find(inputKinds, lists.inputKinds[i]);
    if (kind == std::end(inputKinds))
      throw std::runtime_error("an input of kind '" + lists.inputKinds[i] + "'");
    program.inputs.push_back(
        {ScalarInput::Kind(kind - std::begin(inputKinds)), lists.inputIndices[i]});
  }
}

void takeOperations(ScalarProgram &program, const ScalarLists &lists) {
  if (lists.operands.size() != 3 * lists.names.size())
    throw std::runtime_error("lists of different length");
  for (size_t i = 0; i < lists.names.size(); ++i) {
    std::optional<ScalarCode> code = findScalarCode(lists.names[i]);
    if (!code)
      throw std::runtime_error("an unknown operation '" + lists.names[i] + "'");
    const uint32_t *operands = &lists.operands[3 * i];
    program.operations.push_back({*code, operands[0], operands[1], operands[2]});
  }
}

} // namespace

template <class A> void fields(A &archive, Of<A, ScalarProgram> &r) {
  ScalarLists lists;
  if constexpr (!A::fills)
    lists = listsOf(r);
  archive.field("kinds", lists.inputKinds);
  archive.field("indices", lists.inputIndices);
  archive.field("constants", r.constants);
  archive.field("names", lists.names);
  archive.field("operands", lists.operands);
  archive.field("slots", r.slots);
  archive.field("labels", r.labels);
  archive.list("results", r.results);
  archive.field("skip", lists.skip);
  if constexpr (A::fills) {
    takeInputs(r, lists);
    takeOperations(r, lists);
    if (!lists.skip.empty())
      r.skip = lists.skip.front();
  }
}

template <class A> void fields(A &archive, Of<A, StageRecord> &r) {
  archive.part("scalars", r.scalars);
  archive.field("kernel", r.kernel);
  archive.list("reductions", r.reductions);
}

template <class A> void fields(A &archive, Of<A, ProgramRecord> &r) {
  archive.field("op", r.op);
  archive.field("op_hash", r.opHash);
  archive.field("target", r.target);
  archive.field("mode", r.mode);
  archive.list("kernels", r.kernels);
  archive.list("operands", r.operands);
  archive.list("hypers", r.hypers);
  archive.list("stages", r.stages);
  archive.field("uses_step", r.usesStep);
}

} // namespace fw::jit::archive

namespace fw::jit {
namespace {

using archive::json;

Error damaged(const std::string &what) {
  return {.code = Code::CACHE,
          .text = "expected a record of format " + std::to_string(recordFormat) + ", got " + what,
          .remedy = "the entry is made anew"};
}

template <class T> std::string encodeRecord(const T &record) {
  archive::Writer writer;
  writer.field("format", recordFormat);
  fields(writer, record);
  std::string bytes;
  json::to_cbor(writer.object(), nlohmann::detail::output_adapter<char>(bytes));
  return bytes;
}

template <class T> Result<T> decodeRecord(std::string_view bytes) {
  if (bytes.size() > archive::maxBytes)
    return damaged(std::to_string(bytes.size()) + " bytes");
  try {
    archive::Tree root;
    archive::BoundedReader parser(root.value);
    if (!json::sax_parse(bytes, &parser, json::input_format_t::cbor))
      return damaged("bytes that are not CBOR");
    archive::Reader reader(root.value);
    int format = 0;
    reader.field("format", format);
    if (format != recordFormat)
      return damaged("format " + std::to_string(format));
    T record;
    fields(reader, record);
    return record;
  } catch (const json::exception &fault) {
    return damaged(std::string("a field that is missing or of another type (") + fault.what() +
                   ")");
  } catch (const std::runtime_error &fault) {
    return damaged(fault.what());
  }
}

/// Places that refer to other tables of the record.
class PlaceCheck {
public:
  explicit PlaceCheck(const ProgramRecord &record) : record(record) {}

  Result<void> run() {
    for (const KernelRecord &kernel : record.kernels) {
      if (!isKey(kernel.key))
        return damaged("a kernel without a key");
      if (kernel.launch.gridRule == "rows" &&
          (kernel.launch.rowsPerBlock < 1 || kernel.launch.axes < 1))
        return damaged("a kernel over rows whose blocks have none");
      for (uint32_t operand : kernel.launch.operands)
        if (operand >= record.operands.size())
          return damaged("a kernel operand out of range");
    }
    for (const StageRecord &stage : record.stages) {
      if (auto sound = checkStage(stage); !sound)
        return sound;
      reductions += stage.reductions.size();
    }
    return {};
  }

private:
  Result<void> checkStage(const StageRecord &stage) const {
    const bool hasKernel = stage.kernel != StageRecord::NO_KERNEL;
    if (hasKernel && (stage.kernel < 0 || size_t(stage.kernel) >= record.kernels.size()))
      return damaged("a stage with a kernel out of range");
    if (hasKernel &&
        record.kernels[size_t(stage.kernel)].launch.slots != int(stage.scalars.slots.size()))
      return damaged("a kernel with other scalars than its scalar program has");
    if (!hasKernel && !stage.reductions.empty())
      return damaged("reductions without a kernel");
    for (const ScalarInput &input : stage.scalars.inputs)
      if (input.index >= sizeOf(input.kind))
        return damaged("a scalar input out of range");
    for (const ScalarResult &result : stage.scalars.results)
      if (result.operand >= record.operands.size())
        return damaged("a scalar result out of range");
    return check(stage.scalars);
  }

  /// Of the table that inputs of the kind have their index in.
  size_t sizeOf(ScalarInput::Kind kind) const {
    switch (kind) {
    case ScalarInput::Kind::Hyper:
      return record.hypers.size();
    case ScalarInput::Kind::Reduction:
      return reductions;
    case ScalarInput::Kind::Operand:
      return record.operands.size();
    case ScalarInput::Kind::AxisSize:
      return archive::maxAxes;
    default:
      return 1;
    }
  }

  const ProgramRecord &record;
  size_t reductions = 0; ///< of the stages before
};

} // namespace

std::string encode(const ProgramRecord &record) { return encodeRecord(record); }
std::string encode(const LaunchRecord &record) { return encodeRecord(record); }

Result<LaunchRecord> decodeLaunchRecord(std::string_view bytes) {
  return decodeRecord<LaunchRecord>(bytes);
}

Result<ProgramRecord> decodeProgramRecord(std::string_view bytes) {
  Result<ProgramRecord> record = decodeRecord<ProgramRecord>(bytes);
  if (!record)
    return record;
  if (Result<void> sound = PlaceCheck(*record).run(); !sound)
    return sound.takeError();
  return record;
}

} // namespace fw::jit
