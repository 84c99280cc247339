// Programs: compiled requests, and what one may ask of them.
#include "runtime/api/Border.h"
#include "runtime/api/Handles.h"
#include "runtime/driver/Ranges.h"

#include "compiler/dialect/Dtypes.h"

using namespace fw;
using namespace fw::api;

namespace {

launch::Operand launchOperand(const RequestOperand &operand) {
  return {.name = operand.name,
          .dtype = operand.dtype,
          .bytes = operand.present ? findDtype(operand.dtype)->bytes : 0,
          .read = operand.read,
          .written = operand.written,
          .present = operand.present};
}

launch::Hyper launchHyper(const RequestScalar &scalar) {
  using Kind = launch::Hyper::Kind;
  return {.name = scalar.name,
          .kind = scalar.kind == "int"    ? Kind::Int
                  : scalar.kind == "bool" ? Kind::Bool
                                          : Kind::Real,
          .isStep = scalar.isStep,
          .required = !scalar.isStep && !scalar.value,
          .fallback = scalar.value.value_or(0),
          .low = scalar.low,
          .high = scalar.high,
          .lowOpen = scalar.lowOpen,
          .highOpen = scalar.highOpen};
}

/// Places of the scalar program's inputs in the table of scalars, which holds the step too.
std::vector<size_t> inputPlaces(const Program &program) {
  std::vector<size_t> hypers, places;
  size_t step = 0;
  for (size_t i = 0; i < program.request.scalars.size(); ++i)
    if (program.request.scalars[i].isStep)
      step = i;
    else
      hypers.push_back(i);
  for (const jit::ScalarInput &input : program.record.stages.back().scalars.inputs)
    places.push_back(input.kind == jit::ScalarInput::Kind::Step ? step : hypers[input.index]);
  return places;
}

} // namespace

launch::Program fw::api::describeLaunch(const ResolvedRequest &request) {
  launch::Program program;
  for (const RequestOperand &operand : request.operands)
    program.operands.push_back(launchOperand(operand));
  for (const RequestScalar &scalar : request.scalars)
    program.hypers.push_back(launchHyper(scalar));
  return program;
}

namespace {

std::unique_ptr<const plan::CudaKernel> describeCuda(const Program &program,
                                                     const launch::Program &launchable) {
  if (program.kernels.empty() || program.kernels.front().function)
    return nullptr;
  const jit::LaunchRecord &record = program.record.kernels.front().launch;
  auto kernel =
      std::make_unique<plan::CudaKernel>(program.kernels.front().image->image(), record.symbol);
  kernel->operands = record.operands;
  for (uint32_t operand : record.operands)
    kernel->bytes.push_back(launchable.operands[operand].bytes);
  kernel->threads = unsigned(record.threads);
  kernel->chunk = uint64_t(record.chunk);
  kernel->vec = uint32_t(record.vec);
  kernel->slots = record.slots;
  kernel->doubleScalars = record.real == "f64";
  kernel->scalars = &program.record.stages.back().scalars;
  kernel->scalarInputs = inputPlaces(program);
  return kernel;
}

} // namespace

ProgramState::ProgramState(std::shared_ptr<const fw::Program> compiled)
    : program(std::move(compiled)), launchable(describeLaunch(program->request)) {
  for (size_t i = 0; i < program->kernels.size(); ++i) {
    const jit::LaunchRecord &record = program->record.kernels[i].launch;
    launchable.kernels.push_back({.function = program->kernels[i].function,
                                  .operands = record.operands,
                                  .slots = size_t(record.slots),
                                  .doubleScalars = record.real == "f64"});
  }
  launchable.scalarProgram = [scalars = &program->record.stages.back().scalars, places = inputPlaces(*program)](
                                 std::span<const double> hypers, std::span<double> slots) {
    llvm::SmallVector<double, 32> inputs;
    for (size_t place : places)
      inputs.push_back(hypers[place]);
    jit::run(*scalars, inputs.data(), slots.data());
  };
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
    const Program &compiled = *need(program, "program").state->program;
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
    writeStruct(out, info);
  });
}

} // extern "C"
