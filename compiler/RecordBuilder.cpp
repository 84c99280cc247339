#include "compiler/RecordBuilder.h"

#include "compiler/dialect/RowPhases.h"
#include "compiler/emit/ScalarCodes.h"
#include "templates/vocab/reduce_launch.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fw {
namespace {

using jit::ScalarCode;

/// The number that a constant stands for: a bool is 0 or 1.
double valueOf(Attribute constant) {
  if (auto real = dyn_cast<FloatAttr>(constant))
    return real.getValueAsDouble();
  auto integer = cast<IntegerAttr>(constant);
  return integer.getType().isInteger(1) ? double(integer.getValue().getZExtValue())
                                        : double(integer.getInt());
}

using Kind = jit::ScalarInput::Kind;

/// Numbers of the reductions of a program, by name, through all its kernels.
using ReductionNumbers = llvm::StringMap<uint32_t>;

/// Translates a `fuse.scalars` into the list that the host runs. Inputs come first, then constants,
/// then operations: the value numbers of jit::ScalarProgram.
class ScalarTranslator {
public:
  ScalarTranslator(const ResolvedRequest &request, const ReductionNumbers &reductions)
      : request(request), reductions(reductions) {}

  Result<jit::ScalarProgram> translate(fuse::ScalarsOp scalars) {
    for (Operation &op : scalars.getBody().front())
      if (std::optional<jit::ScalarInput> source = inputOf(op))
        numbers[op.getResult(0)] = program.input(source->kind, source->index);
    for (Operation &op : scalars.getBody().front())
      if (Attribute value; matchPattern(&op, m_Constant(&value)))
        numbers[op.getResult(0)] = program.constant(valueOf(value));
    for (Operation &op : scalars.getBody().front())
      if (auto error = visit(op); !error)
        return error.takeError();
    return std::move(program);
  }

private:
  std::optional<jit::ScalarInput> inputOf(Operation &op) const {
    using Input = std::optional<jit::ScalarInput>;
    return llvm::TypeSwitch<Operation *, Input>(&op)
        .Case([&](fuse::ScalarOp scalar) { return Input(scalarInput(scalar.getScalar())); })
        .Case([&](fuse::ReducedOp reduced) {
          return Input({Kind::Reduction, reductions.lookup(reduced.getName())});
        })
        .Case([&](fuse::ReadOp read) { return Input({Kind::Operand, place(read.getOperand())}); })
        .Case([&](fuse::SizeOp size) {
          if (ArrayAttr axes = size.getOf().getAxes())
            return Input({Kind::AxisSize, axisNumber(size, cast<StringAttr>(axes[0]))});
          const bool ofTensor = size.getOf().getLevel() == fuse::ScopeLevel::Tensor;
          return Input(jit::ScalarInput{ofTensor ? Kind::TensorSize : Kind::AllSize});
        })
        .Case([&](fuse::IndexOp) { return Input(jit::ScalarInput{Kind::TensorIndex}); })
        .Default([](Operation *) { return Input(); });
  }

  jit::ScalarInput scalarInput(StringRef name) const {
    uint32_t hyper = 0;
    for (const RequestScalar &scalar : request.scalars) {
      if (name == scalar.name)
        return scalar.isStep ? jit::ScalarInput{Kind::Step} : jit::ScalarInput{Kind::Hyper, hyper};
      hyper += !scalar.isStep;
    }
    llvm_unreachable("the verifier checks every scalar's name");
  }

  static uint32_t axisNumber(Operation *op, StringAttr axis) {
    auto axes = op->getParentOfType<fuse::ProgramOp>().getDomain()->axes();
    return uint32_t(llvm::find(axes, axis) - axes.begin());
  }

  uint32_t place(StringRef operand) const {
    for (uint32_t k = 0; k < request.operands.size(); ++k)
      if (operand == request.operands[k].name)
        return k;
    llvm_unreachable("the verifier checks every operand's name");
  }

  Result<void> visit(Operation &op) {
    if (numbers.contains(op.getNumResults() ? op.getResult(0) : Value()))
      return {};
    if (auto result = dyn_cast<fuse::ResultOp>(op)) {
      program.slot(numbers.lookup(result.getValue()), result.getSlot().str());
      return {};
    }
    if (auto write = dyn_cast<fuse::WriteOp>(op)) {
      const uint32_t operand = place(write.getOperand());
      program.results.push_back({numbers.lookup(write.getValue()), operand,
                                 /*always=*/request.operands[operand].role == "out"});
      return {};
    }
    if (auto skip = dyn_cast<fuse::SkipIfOp>(op)) {
      const uint32_t condition = numbers.lookup(skip.getCondition());
      program.skip =
          program.skip ? program.operation(ScalarCode::or_, *program.skip, condition) : condition;
      return {};
    }
    // Every value of the scalar program is an f64 already.
    if (isa<arith::SIToFPOp, fuse::CastOp>(op) && emit::scalarCode(&op).empty()) {
      numbers[op.getResult(0)] = numbers.lookup(op.getOperand(0));
      return {};
    }
    auto code = jit::findScalarCode(emit::scalarCode(&op));
    if (!code)
      return Error{Code::INTERNAL, "expected an operation of the scalar program, got '" +
                                       op.getName().getStringRef().str() + "'"};
    uint32_t operands[3] = {0, 0, 0};
    for (auto [k, operand] : llvm::enumerate(op.getOperands()))
      operands[k] = numbers.lookup(operand);
    numbers[op.getResult(0)] = program.operation(*code, operands[0], operands[1], operands[2]);
    return {};
  }

  const ResolvedRequest &request;
  const ReductionNumbers &reductions;
  jit::ScalarProgram program;
  DenseMap<Value, uint32_t> numbers;
};

jit::OperandRecord operandRecord(const RequestOperand &operand) {
  jit::OperandRecord record;
  record.name = operand.name;
  record.role = operand.role;
  record.dtype = operand.dtype;
  record.axes = operand.scope == "element" ? "" : operand.scope;
  record.read = operand.read;
  record.written = operand.written;
  record.optional = operand.optional;
  record.present = operand.present;
  record.neutral = operand.role == "state" ? operand.init : operand.neutral;
  return record;
}

jit::HyperRecord hyperRecord(const RequestScalar &scalar) {
  jit::HyperRecord record;
  record.name = scalar.name;
  record.type = scalar.kind;
  record.fallback = scalar.value.value_or(0);
  record.low = scalar.low;
  record.high = scalar.high;
  record.lowOpen = scalar.lowOpen;
  record.highOpen = scalar.highOpen;
  return record;
}

/// "chunk: chunk=8192 inflight=2 threads=512 vec=4"
std::string scheduleText(fuse::ScheduleAttr schedule) {
  std::string out = schedule.getSkeleton().str() + ":";
  for (NamedAttribute decision : schedule.getDecisions())
    out += " " + decision.getName().str() + "=" +
           std::to_string(cast<IntegerAttr>(decision.getValue()).getInt());
  return out;
}

/// A kernel's columns, as places in the request's operands, which hold absent ones too.
std::vector<uint32_t> pointerColumns(fuse::KernelOp kernel, const ResolvedRequest &request) {
  std::vector<uint32_t> places;
  for (fuse::OperandAttr operand : fuse::columnsOf(kernel))
    for (size_t k = 0; k < request.operands.size(); ++k)
      if (operand.getName() == request.operands[k].name)
        places.push_back(uint32_t(k));
  return places;
}

void addChunks(fuse::KernelOp kernel, fuse::ScheduleAttr schedule, jit::LaunchRecord &launch) {
  launch.gridRule = "chunk";
  launch.chunk = schedule.get("chunk");
  if (!kernel.getBody().getOps<fuse::ReductionOp>().empty())
    launch.sharedBytes = ReduceTail::SHARED_BYTES;
  launch.earlyLaunch = schedule.has("early_launch") && schedule.get("early_launch") != 0;
}

// Threads that exchange without shared memory.
constexpr int64_t kWarp = 32;

void addRows(fuse::KernelOp kernel, fuse::ScheduleAttr schedule, jit::LaunchRecord &launch) {
  const int64_t perRow = schedule.get("threads_per_row");
  launch.gridRule = "rows";
  launch.rowsPerBlock = schedule.get("threads") / perRow * schedule.get("rows_per_thread");
  launch.axes = int(fuse::launchAxes(kernel));
  const fuse::RowPhases phases(kernel);
  const int64_t warps = perRow / kWarp, sets = phases.exchanges().size() > 1 ? 2 : 1;
  if (warps > 1) // RowShared of templates/rows/row_exchange.cuh
    launch.sharedBytes = sets * launch.rowsPerBlock * phases.exchangedValues() * warps *
                         (kernel.getReal().isF64() ? 8 : 4);
}

jit::LaunchRecord launchRecord(fuse::KernelOp kernel, const ResolvedRequest &request,
                               size_t slots) {
  jit::LaunchRecord launch;
  launch.symbol = kernel.getSymName().str();
  launch.pattern = stringifyPattern(kernel.getPattern()).str();
  // A slot that is an int, or a number of the scalar program, needs more digits than f32 has.
  const bool isWide = llvm::any_of(kernel.getBody().getOps<fuse::SlotOp>(), [](fuse::SlotOp slot) {
    return slot.getType().isInteger(64) || slot.getType().isF64();
  });
  launch.real = kernel.getReal().isF64() || isWide ? "f64" : "f32";
  launch.slots = int(slots);
  launch.operands = pointerColumns(kernel, request);
  launch.gridRule = "range";
  launch.parameters = {"pointers", "begin", "end", "scalars"};
  if (fuse::ScheduleAttr schedule = kernel.getScheduleAttr()) {
    launch.skeleton = schedule.getSkeleton().str();
    launch.schedule = scheduleText(schedule);
    launch.parameters = {"launch"};
    launch.threads = int(schedule.get("threads"));
    launch.vec = int(schedule.get("vec"));
    if (kernel.getPattern() == fuse::Pattern::Rows)
      addRows(kernel, schedule, launch);
    else
      addChunks(kernel, schedule, launch);
  }
  return launch;
}

/// Fills stages and kernels of a record from what a program is a sequence of.
class StageBuilder {
public:
  StageBuilder(const ResolvedRequest &request, jit::ProgramRecord &record)
      : request(request), record(record) {}

  Result<void> begin(fuse::ScalarsOp scalars) {
    auto translated = ScalarTranslator(request, reductions).translate(scalars);
    if (!translated)
      return translated.takeError();
    record.stages.push_back({.scalars = std::move(*translated)});
    return {};
  }

  void add(fuse::KernelOp kernel) {
    jit::StageRecord &stage = record.stages.back();
    stage.kernel = int(record.kernels.size());
    record.kernels.push_back({launchRecord(kernel, request, stage.scalars.slots.size()), ""});
    for (auto reduction : kernel.getBody().getOps<fuse::ReductionOp>()) {
      reductions.try_emplace(reduction.getName(), uint32_t(reductions.size()));
      auto each = reduction.getValue().getDefiningOp<fuse::EachOp>();
      auto kind = cast<fuse::ReduceKindAttr>(
          (*each.getKinds())[cast<OpResult>(reduction.getValue()).getResultNumber()]);
      stage.reductions.push_back({reduction.getName().str(),
                                  stringifyReduceKind(kind.getValue()).str(),
                                  stringifyScopeLevel(reduction.getKeep().getLevel()).str()});
    }
  }

private:
  const ResolvedRequest &request;
  jit::ProgramRecord &record;
  ReductionNumbers reductions;
};

} // namespace

Result<jit::ProgramRecord> buildRecord(fuse::ProgramOp program, const ResolvedRequest &request) {
  jit::ProgramRecord record;
  record.op = program.getSymName().str();
  record.opHash = request.opHash;
  record.target = request.request.target;
  for (const RequestOperand &operand : request.operands)
    record.operands.push_back(operandRecord(operand));
  for (const RequestScalar &scalar : request.scalars) {
    if (scalar.isStep)
      record.usesStep = true;
    else
      record.hypers.push_back(hyperRecord(scalar));
  }
  StageBuilder stages(request, record);
  for (Operation &op : program.getBody().front())
    if (auto scalars = dyn_cast<fuse::ScalarsOp>(op)) {
      if (auto begun = stages.begin(scalars); !begun)
        return begun.takeError();
    } else if (auto kernel = dyn_cast<fuse::KernelOp>(op)) {
      stages.add(kernel);
    }
  return record;
}

} // namespace fw
