#include "tools/bench/Bench.h"

#include "compiler/dialect/Dtypes.h"
#include "compiler/dialect/evaluator/Storage.h"
#include "tools/bench/Cases.h"
#include "tools/verify/Values.h"

#include <algorithm>

namespace fw::bench {

namespace {

constexpr uint64_t alignment = 256;

uint64_t alignUp(uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

uint64_t widthOf(const RequestOperand &operand) { return findDtype(operand.dtype)->bytes; }

/// With each tensor at a boundary of its own.
uint64_t bytesOf(const RequestOperand &operand, const TensorList &list) {
  uint64_t bytes = 0;
  for (const auto &shape : list.shapes)
    bytes += alignUp(elementsOf(shape) * widthOf(operand));
  return operand.present ? bytes : 0;
}

uint64_t bytesOf(const Job &job) {
  uint64_t bytes = 0;
  for (const RequestOperand &operand : job.request.operands)
    bytes += bytesOf(operand, job.list);
  return bytes;
}

/// Numbers of either sign, positive ones for states (a second moment is). A count that is no power
/// of two, so that their repetition falls on other addresses in each operand.
std::vector<std::byte> patternOf(const RequestOperand &operand) {
  constexpr size_t count = 1'000'003;
  const Dtype &dtype = *findDtype(operand.dtype);
  verify::Random random(operand.name.size() + 1);
  std::vector<uint64_t> words(count);
  for (uint64_t &word : words)
    word = verify::drawWord(random, dtype, verify::Values::NORMAL, operand.role == "state");
  return evaluator::pack(dtype, words);
}

/// Defaults; a later step, since a first one may skip the loads of states.
std::vector<fw_scalar> scalarsOf(const ResolvedRequest &request) {
  std::vector<fw_scalar> scalars;
  for (const RequestScalar &scalar : request.scalars)
    scalars.push_back(host::scalarOf(
        scalar.name,
        scalar.value.value_or(scalar.isStep ? 2 : std::clamp(1.0, scalar.low, scalar.high))));
  return scalars;
}

/// "adamw amsgrad=true +copy"
std::string opOf(const ResolvedRequest &request) {
  std::string text = request.op.info.name;
  for (const auto &[option, value] : request.request.options)
    if (std::ranges::none_of(request.op.info.options, [&](const auto &known) {
          return known.name == option && known.values.front() == value;
        }))
      text += " " + option + "=" + value;
  for (const std::string &feature : request.request.features)
    text += " +" + feature;
  return text;
}

/// "f32", or "p=f32 g=bf16 m=f32 v=f32".
std::string dtypesOf(const ResolvedRequest &request) {
  auto dtype = [](const RequestOperand &operand) { return operand.dtype; };
  const auto &operands = request.operands;
  if (std::ranges::all_of(
          operands, [&](const std::string &one) { return one == operands[0].dtype; }, dtype))
    return operands[0].dtype;
  std::string text;
  for (const RequestOperand &operand : operands)
    text += (text.empty() ? "" : " ") + operand.name + "=" + operand.dtype;
  return text;
}

constexpr std::string_view weightDecay = "weight_decay";

/// Vectors (norms and biases) beside matrices are a group without weight decay, as models are
/// trained.
bool isWithoutDecay(const Job &job, size_t tensor) {
  const auto &shapes = job.list.shapes;
  auto isMatrix = [](const auto &shape) { return shape.size() > 1; };
  return std::ranges::find(job.request.scalars, weightDecay, &RequestScalar::name) !=
             job.request.scalars.end() &&
         !isMatrix(shapes[tensor]) && std::ranges::any_of(shapes, isMatrix);
}

} // namespace

Result<Bench> Bench::create(const host::Device &device) {
  Bench bench;
  bench.device = device;
  auto context = host::make<fw_context>(fw_context_create, nullptr);
  if (!context)
    return context.takeError();
  bench.context = std::move(*context);
  if (device.isCuda()) {
    Result<fw_device_info> info = host::describe(bench.context.get(), device);
    if (!info)
      return info.takeError();
    bench.arch = info->target;
  }
  auto machine = device.isCuda() ? makeCudaMachine(bench.context.get(), device)
                                 : makeCpuMachine(bench.context.get());
  if (!machine)
    return machine.takeError();
  bench.on = std::move(*machine);
  return bench;
}

Result<void> Bench::prepare(std::span<const Job> jobs) {
  uint64_t most = 0;
  for (const Job &job : jobs)
    most = std::max(most, bytesOf(job));
  Result<std::byte *> reserved = on->reserve(most);
  if (!reserved)
    return reserved.takeError();
  memory = *reserved;
  return {};
}

Result<Bench::Placed> Bench::place(const Job &job) {
  const auto &operands = job.request.operands;
  const size_t tensors = job.list.shapes.size();
  Placed placed{std::vector<fw_tensor>(tensors * operands.size()), {}};
  std::byte *at = memory;
  for (size_t k = 0; k < operands.size(); ++k) {
    const uint64_t bytes = bytesOf(operands[k], job.list);
    if (Result<void> filled = on->fill(at, bytes, patternOf(operands[k])); !filled)
      return filled.takeError();
    for (size_t t = 0; t < tensors; ++t) {
      const auto &shape = job.list.shapes[t];
      void *data = operands[k].present ? at : nullptr;
      placed.tensors[t * operands.size() + k] =
          host::tensorOf(device, operands[k].dtype, data, shape);
      if (data)
        at += alignUp(elementsOf(shape) * widthOf(operands[k]));
    }
    if (operands[k].present)
      placed.streams.push_back(
          {job.list.elements() * widthOf(operands[k]), operands[k].read, operands[k].written});
  }
  return placed;
}

Result<host::Handle<fw_plan>> Bench::plan(const Job &job, const fw_program *program,
                                          const std::vector<fw_tensor> &tensors) {
  const size_t operands = job.request.operands.size();
  std::vector<fw_tensor> lists[2];
  for (size_t i = 0; i < tensors.size(); ++i)
    lists[isWithoutDecay(job, i / operands)].push_back(tensors[i]);
  std::vector<fw_scalar> scalars[2] = {scalarsOf(job.request), scalarsOf(job.request)};
  for (fw_scalar &scalar : scalars[1])
    if (scalar.name == weightDecay)
      scalar.value = 0;
  std::vector<fw_plan_group> groups;
  for (int g = 0; g < 2; ++g) {
    fw_plan_group group = {};
    group.struct_size = sizeof group;
    group.program = program;
    group.tensors = lists[g].data();
    group.tensor_count = lists[g].size();
    group.scalars = scalars[g].data();
    group.scalar_count = scalars[g].size();
    if (group.tensor_count)
      groups.push_back(group);
  }
  return host::make<fw_plan>(fw_plan_create, context.get(), groups.data(), groups.size());
}

Result<Row> Bench::measure(const Job &job, int rounds) {
  auto program = host::compile(context.get(), job.request.request, device);
  if (!program)
    return program.takeError();
  Result<Placed> placed = place(job);
  if (!placed)
    return placed.takeError();
  auto made = plan(job, program->get(), placed->tensors);
  if (!made)
    return made.takeError();
  fw_plan_info info = {};
  info.struct_size = sizeof info;
  fw_kernel_info kernel = {};
  kernel.struct_size = sizeof kernel;
  Result<void> told = host::check(fw_plan_describe(made->get(), &info));
  if (told)
    told = host::check(fw_program_kernel(program->get(), 0, &kernel));
  if (!told)
    return told.takeError();
  Result<Figures> figures = on->measure(made->get(), placed->streams, rounds);
  if (!figures)
    return figures.takeError();
  return Row{.id = targetId(job.request, info.elements),
             .op = opOf(job.request),
             .dtypes = dtypesOf(job.request),
             .list = job.list.name,
             .tensors = job.list.shapes.size(),
             .elements = info.elements,
             .bytes = info.streamed_bytes,
             .launches = info.launches,
             .schedule = kernel.schedule,
             .registers = kernel.registers,
             .figures = *figures};
}

} // namespace fw::bench
