// Programs: compiled requests, and what one may ask of them.
#include "runtime/api/Border.h"
#include "runtime/api/Handles.h"
#include "runtime/driver/Ranges.h"

#include "compiler/dialect/Dtypes.h"

#include <algorithm>
#include <iterator>

using namespace fw;
using namespace fw::api;

namespace {

launch::Scope launchScope(const std::string &scope) {
  return scope == "tensor"    ? launch::Scope::Tensor
         : scope == "all"     ? launch::Scope::All
         : scope == "element" ? launch::Scope::Element
                              : launch::Scope::Axes;
}

launch::Operand launchOperand(const RequestOperand &operand) {
  return {.name = operand.name,
          .dtype = operand.dtype,
          .bytes = operand.present ? storageBytes(operand.dtype) : 0,
          .read = operand.read,
          .written = operand.written,
          .present = operand.present,
          .scope = launchScope(operand.scope),
          .axes = operand.axes};
}

launch::Hyper launchHyper(const RequestScalar &scalar) {
  using Kind = launch::Hyper::Kind;
  return {.name = scalar.name,
          .kind = scalar.kind == "int"    ? Kind::Int
                  : scalar.kind == "bool" ? Kind::Bool
                                          : Kind::Real,
          .isStep = scalar.isStep,
          .required = !scalar.isStep && !scalar.value,
          .ofAll = scalar.name.starts_with("all."), // as features name theirs
          .fallback = scalar.value.value_or(0),
          .low = scalar.low,
          .high = scalar.high,
          .lowOpen = scalar.lowOpen,
          .highOpen = scalar.highOpen};
}

/// The scalar program with hypers and the step as places in the table of scalars, which holds both.
jit::ScalarProgram placeInputs(const Program &program, jit::ScalarProgram scalars) {
  std::vector<uint32_t> hypers;
  uint32_t step = 0;
  for (uint32_t i = 0; i < program.request.scalars.size(); ++i)
    if (program.request.scalars[i].isStep)
      step = i;
    else
      hypers.push_back(i);
  for (jit::ScalarInput &input : scalars.inputs)
    if (input.kind == jit::ScalarInput::Kind::Step)
      input.index = step;
    else if (input.kind == jit::ScalarInput::Kind::Hyper)
      input.index = hypers[input.index];
  return scalars;
}

launch::Reduction launchReduction(const jit::ReductionRecord &record) {
  using Kind = launch::Reduction::Kind;
  using Keep = launch::Reduction::Keep;
  return {.kind = record.kind == "max"   ? Kind::Max
                  : record.kind == "min" ? Kind::Min
                                         : Kind::Sum,
          .keep = record.keep == "tensor"  ? Keep::Tensor
                  : record.keep == "world" ? Keep::World
                                           : Keep::All};
}

launch::Stage launchStage(const Program &program, const jit::StageRecord &record) {
  launch::Stage stage{
      .scalars = placeInputs(program, record.scalars), .kernel = {}, .reductions = {}};
  if (record.kernel != jit::StageRecord::NO_KERNEL) {
    const jit::LaunchRecord &kernel = program.record.kernels[size_t(record.kernel)].launch;
    stage.kernel = {.function = program.kernels[size_t(record.kernel)].function,
                    .operands = kernel.operands,
                    .slots = size_t(kernel.slots),
                    .doubleScalars = kernel.real == "f64"};
  }
  std::ranges::transform(record.reductions, std::back_inserter(stage.reductions), launchReduction);
  return stage;
}

} // namespace

launch::Program fw::api::describeLaunch(const ResolvedRequest &request) {
  launch::Program program;
  for (const RequestOperand &operand : request.operands)
    program.operands.push_back(launchOperand(operand));
  for (const RequestScalar &scalar : request.scalars)
    program.hypers.push_back(launchHyper(scalar));
  program.header = {request.op.info.axes,
                    request.op.op->domain.kind == language::Domain::Kind::Rows,
                    request.op.info.swaps};
  if (!program.header.axes.empty())
    program.axes = launch::AxisTable(program.header, program.operands);
  return program;
}

namespace {

std::unique_ptr<const plan::CudaKernel>
describeKernel(const Program &program, const launch::Program &launchable, size_t stage) {
  const jit::StageRecord &its = program.record.stages[stage];
  if (its.kernel == jit::StageRecord::NO_KERNEL)
    return nullptr;
  const jit::LaunchRecord &record = program.record.kernels[size_t(its.kernel)].launch;
  auto kernel = std::make_unique<plan::CudaKernel>(
      program.kernels[size_t(its.kernel)].image->image(), record.symbol);
  kernel->operands = record.operands;
  for (uint32_t operand : record.operands)
    kernel->bytes.push_back(launchable.operands[operand].bytes);
  kernel->threads = unsigned(record.threads);
  kernel->chunk = uint32_t(record.chunk);
  kernel->vec = uint32_t(record.vec);
  kernel->rowsPerBlock = uint64_t(record.rowsPerBlock);
  kernel->axes = record.axes;
  kernel->slots = size_t(record.slots);
  kernel->sharedBytes = unsigned(record.sharedBytes);
  kernel->startsEarly = record.earlyLaunch;
  kernel->doubleScalars = record.real == "f64";
  kernel->reduces = !its.reductions.empty();
  if (kernel->reduces)
    kernel->codes = plan::codesOf(program.record.stages[stage + 1].scalars);
  return kernel;
}

plan::CudaProgram describeCuda(const Program &program, const launch::Program &launchable) {
  plan::CudaProgram cuda;
  if (program.record.target != "cpu")
    for (size_t stage = 0; stage < program.record.stages.size(); ++stage)
      cuda.kernels.push_back(describeKernel(program, launchable, stage));
  return cuda;
}

} // namespace

ProgramState::ProgramState(std::shared_ptr<const fw::Program> compiled)
    : program(std::move(compiled)), launchable(describeLaunch(program->request)) {
  for (const jit::StageRecord &stage : program->record.stages)
    launchable.stages.push_back(launchStage(*program, stage));
  const std::vector<bool> shared = launchable.sharedHypers();
  for (size_t hyper = 0; hyper < shared.size(); ++hyper)
    launchable.hypers[hyper].ofAll |= shared[hyper];
  cuda = describeCuda(*program, launchable);
}

extern "C" {

fw_status fw_compile(fw_context *context, const fw_request *request, fw_program **out) {
  return border([&] {
    need(out, "out");
    const auto &state = need(context, "context").state;
    driver::Range range("fw_compile", need(request, "request").request.op->name);
    if (request->compiled && request->compiledIn.lock() == state) {
      *out = new fw_program{request->compiled, "memory"};
      ++state->memoryHits;
      return;
    }
    auto [compiled, origin] = state->stateOf(take(state->compiler.compile(request->request)));
    *out = new fw_program{compiled, origin};
    request->compiled = compiled;
    request->compiledIn = state;
  });
}

void fw_program_destroy(fw_program *program) { delete program; }

const char *fw_program_key(const fw_program *program) {
  return program ? program->state->program->key.c_str() : "";
}

const char *fw_program_origin(const fw_program *program) { return program ? program->origin : ""; }

double fw_program_compile_ms(const fw_program *program) {
  return program ? program->state->program->milliseconds : 0;
}

size_t fw_program_kernel_count(const fw_program *program) {
  return program ? program->state->program->kernels.size() : 0;
}

fw_status fw_program_kernel(const fw_program *program, size_t index, fw_kernel_info *out) {
  return border([&] {
    const ProgramState &state = *need(program, "program").state;
    const Program &compiled = *state.program;
    const jit::LaunchRecord &record = at(compiled.record.kernels, index, "kernels").launch;
    fw_kernel_info info = {};
    info.threads = record.threads;
    info.symbol = record.symbol.c_str();
    info.target = compiled.record.target.c_str();
    info.schedule = record.schedule.c_str();
    info.registers = record.registers;
    info.spill_bytes = record.spillBytes;
    info.chunk = uint32_t(record.chunk);
    info.slots = uint32_t(record.slots);
    info.image = compiled.kernels[index].image->image().data();
    info.image_bytes = compiled.kernels[index].image->image().size();
    info.one_pass = state.launchable.isOnePass();
    writeStruct(out, info);
  });
}

} // extern "C"
