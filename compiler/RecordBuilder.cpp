#include "compiler/RecordBuilder.h"

#include "compiler/dialect/Dtypes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace fw {
namespace {

using jit::ScalarCode;

/// Operations whose operands become those of a scalar operation as they stand.
struct Row {
  StringLiteral op;
  ScalarCode code;
};
constexpr Row kRows[] = {
    {"arith.addf", ScalarCode::add},         {"arith.subf", ScalarCode::sub},
    {"arith.mulf", ScalarCode::mul},         {"arith.divf", ScalarCode::div},
    {"arith.negf", ScalarCode::neg},         {"arith.maximumf", ScalarCode::max},
    {"arith.minimumf", ScalarCode::min},     {"arith.select", ScalarCode::select},
    {"arith.andi", ScalarCode::and_},        {"arith.ori", ScalarCode::or_},
    {"arith.xori", ScalarCode::xor_},        {"math.absf", ScalarCode::abs},
    {"math.floor", ScalarCode::floor},       {"math.ceil", ScalarCode::ceil},
    {"math.roundeven", ScalarCode::round},   {"math.trunc", ScalarCode::trunc},
    {"math.fma", ScalarCode::fma},           {"math.fpowi", ScalarCode::pow_int},
    {"math.sqrt", ScalarCode::sqrt},         {"math.rsqrt", ScalarCode::rsqrt},
    {"math.exp", ScalarCode::exp},           {"math.exp2", ScalarCode::exp2},
    {"math.expm1", ScalarCode::expm1},       {"math.log", ScalarCode::log},
    {"math.log2", ScalarCode::log2},         {"math.log1p", ScalarCode::log1p},
    {"math.tanh", ScalarCode::tanh},         {"math.erf", ScalarCode::erf},
    {"math.sin", ScalarCode::sin},           {"math.cos", ScalarCode::cos},
    {"math.isfinite", ScalarCode::isfinite}, {"math.isnan", ScalarCode::isnan},
    {"fuse.sign", ScalarCode::sign},         {"fuse.sigmoid", ScalarCode::sigmoid},
    {"arith.addi", ScalarCode::add},         {"arith.subi", ScalarCode::sub},
    {"arith.muli", ScalarCode::mul},         {"arith.maxsi", ScalarCode::max},
    {"arith.minsi", ScalarCode::min},
};

std::optional<ScalarCode> compareCode(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::OLT:
    return ScalarCode::lt;
  case arith::CmpFPredicate::OLE:
    return ScalarCode::le;
  case arith::CmpFPredicate::OGT:
    return ScalarCode::gt;
  case arith::CmpFPredicate::OGE:
    return ScalarCode::ge;
  case arith::CmpFPredicate::OEQ:
    return ScalarCode::eq;
  case arith::CmpFPredicate::UNE:
    return ScalarCode::ne;
  default:
    return std::nullopt;
  }
}

std::optional<ScalarCode> compareCode(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return ScalarCode::lt;
  case arith::CmpIPredicate::sle:
    return ScalarCode::le;
  case arith::CmpIPredicate::sgt:
    return ScalarCode::gt;
  case arith::CmpIPredicate::sge:
    return ScalarCode::ge;
  case arith::CmpIPredicate::eq:
    return ScalarCode::eq;
  case arith::CmpIPredicate::ne:
    return ScalarCode::ne;
  default:
    return std::nullopt;
  }
}

/// "round_e4m3fn_sat" for a cast to e4m3fn.sat.
std::optional<ScalarCode> roundingCode(fuse::CastOp cast) {
  std::string dtype(fuse::dtypeOf(cast.getType(), cast.getSaturate()).name);
  std::replace(dtype.begin(), dtype.end(), '.', '_');
  return jit::findScalarCode("round_" + dtype);
}

std::optional<ScalarCode> codeOf(Operation &op) {
  if (auto cast = dyn_cast<fuse::CastOp>(op))
    return roundingCode(cast);
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return compareCode(compare.getPredicate());
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compareCode(compare.getPredicate());
  for (const Row &row : kRows)
    if (op.getName().getStringRef() == row.op)
      return row.code;
  return std::nullopt;
}

/// The number that a constant stands for: a bool is 0 or 1.
double valueOf(Attribute constant) {
  if (auto real = dyn_cast<FloatAttr>(constant))
    return real.getValueAsDouble();
  auto integer = cast<IntegerAttr>(constant);
  return integer.getType().isInteger(1) ? double(integer.getValue().getZExtValue())
                                        : double(integer.getInt());
}

/// Translates `fuse.scalars` into the list that the host runs. Inputs come first, then constants,
/// then operations: the value numbers of jit::ScalarProgram.
class ScalarTranslator {
public:
  ScalarTranslator(const ResolvedRequest &request) : request(request) {}

  Result<jit::ScalarProgram> translate(fuse::ScalarsOp scalars) {
    for (Operation &op : scalars.getBody().front())
      if (auto scalar = dyn_cast<fuse::ScalarOp>(op))
        numbers[scalar.getResult()] = input(scalar.getScalar());
    for (Operation &op : scalars.getBody().front())
      if (Attribute value; matchPattern(&op, m_Constant(&value)))
        numbers[op.getResult(0)] = program.constant(valueOf(value));
    for (Operation &op : scalars.getBody().front())
      if (auto error = visit(op); !error)
        return error.takeError();
    return std::move(program);
  }

private:
  uint32_t input(StringRef name) {
    uint32_t place = 0;
    for (const RequestScalar &scalar : request.scalars) {
      if (name == scalar.name)
        return scalar.isStep ? program.input(jit::ScalarInput::Kind::Step)
                             : program.input(jit::ScalarInput::Kind::Hyper, place);
      place += !scalar.isStep;
    }
    llvm_unreachable("the verifier checks every scalar's name");
  }

  Result<void> visit(Operation &op) {
    if (isa<fuse::ScalarOp, arith::ConstantOp>(op))
      return {};
    if (auto result = dyn_cast<fuse::ResultOp>(op)) {
      program.slot(numbers.lookup(result.getValue()), result.getSlot().str());
      return {};
    }
    // Every value of the scalar program is an f64 already.
    bool isWidening = isa<fuse::CastOp>(op) && op.getResult(0).getType().isF64();
    if (isa<arith::SIToFPOp>(op) || isWidening) {
      numbers[op.getResult(0)] = numbers.lookup(op.getOperand(0));
      return {};
    }
    auto code = codeOf(op);
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
  jit::ScalarProgram program;
  DenseMap<Value, uint32_t> numbers;
};

jit::OperandRecord operandRecord(const RequestOperand &operand) {
  jit::OperandRecord record;
  record.name = operand.name;
  record.role = operand.role;
  record.dtype = operand.dtype;
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

/// The kernel's operands: the module's, which leave absent ones out.
std::vector<uint32_t> pointerColumns(fuse::ProgramOp program, const ResolvedRequest &request) {
  std::vector<uint32_t> places;
  for (auto operand : program.getOperands().getAsRange<fuse::OperandAttr>())
    for (size_t k = 0; k < request.operands.size(); ++k)
      if (operand.getName() == request.operands[k].name)
        places.push_back(uint32_t(k));
  return places;
}

jit::LaunchRecord launchRecord(fuse::KernelOp kernel, std::vector<uint32_t> operands,
                               size_t slots) {
  jit::LaunchRecord launch;
  launch.symbol = kernel.getSymName().str();
  launch.pattern = stringifyPattern(kernel.getPattern()).str();
  launch.real = kernel.getReal().isF64() ? "f64" : "f32";
  launch.slots = int(slots);
  launch.operands = std::move(operands);
  launch.gridRule = "range";
  launch.parameters = {"pointers", "begin", "end", "scalars"};
  if (fuse::ScheduleAttr schedule = kernel.getScheduleAttr()) {
    launch.skeleton = schedule.getSkeleton().str();
    launch.schedule = scheduleText(schedule);
    launch.gridRule = "chunk";
    launch.parameters = {"launch"};
    launch.threads = int(schedule.get("threads"));
    launch.vec = int(schedule.get("vec"));
    launch.chunk = schedule.get("chunk");
  }
  return launch;
}

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
  for (auto scalars : program.getBody().getOps<fuse::ScalarsOp>()) {
    auto translated = ScalarTranslator(request).translate(scalars);
    if (!translated)
      return translated.takeError();
    record.scalars = std::move(*translated);
  }
  for (auto kernel : program.getBody().getOps<fuse::KernelOp>())
    record.kernels.push_back(
        {launchRecord(kernel, pointerColumns(program, request), record.scalars.slots.size()), ""});
  return record;
}

} // namespace fw
