#include "tools/bench/Bench.h"

#include "tools/bench/Cases.h"
#include "tools/bench/Operands.h"
#include "tools/bench/RowsBench.h"
#include "tools/host/RowFacts.h"

#include <algorithm>

namespace fw::bench {

namespace {

bool isOfAll(const RequestOperand &operand) { return operand.scope == "all"; }

/// Of a tensor of the list.
uint64_t countOf(const RequestOperand &operand, const std::vector<int64_t> &shape) {
  return isOfElements(operand) ? elementsOf(shape) : 1;
}

/// With each tensor at a boundary of its own.
uint64_t bytesOf(const RequestOperand &operand, const TensorList &list) {
  if (!operand.present)
    return 0;
  if (isOfAll(operand))
    return alignUp(widthOf(operand));
  uint64_t bytes = 0;
  for (const auto &shape : list.shapes)
    bytes += alignUp(countOf(operand, shape) * widthOf(operand));
  return bytes;
}

uint64_t bytesOf(const Job &job) {
  uint64_t bytes = 0;
  for (const RequestOperand &operand : job.request.operands)
    if (!host::isOverAxes(job.request))
      bytes += bytesOf(operand, job.list);
    else if (operand.present)
      bytes += alignUp(elementsOf(shapeOf(job.request, operand, job.list.shapes.front())) *
                       widthOf(operand));
  return bytes;
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
  const auto &shapes = job.list.shapes;
  static constexpr int64_t one[] = {1};
  std::vector<std::vector<fw_tensor>> columns; // of operands of entries
  Placed placed;
  std::byte *at = memory;
  for (const RequestOperand &operand : job.request.operands) {
    if (Result<void> filled = on->fill(at, bytesOf(operand, job.list), patternOf(operand)); !filled)
      return filled.takeError();
    auto next = [&](std::span<const int64_t> shape, uint64_t elements) {
      void *data = operand.present ? at : nullptr;
      if (data)
        at += alignUp(elements * widthOf(operand));
      return host::tensorOf(device, operand.dtype, data, shape);
    };
    if (operand.name == "all.skipped")
      placed.skipped = at;
    if (isOfAll(operand)) {
      placed.ofAll.push_back(next(one, 1));
      continue;
    }
    columns.emplace_back();
    for (const auto &shape : shapes)
      columns.back().push_back(next(isOfElements(operand) ? std::span<const int64_t>(shape) : one,
                                    countOf(operand, shape)));
    if (isOfElements(operand) && operand.present)
      placed.streams.push_back(
          {job.list.elements() * widthOf(operand), operand.read, operand.written});
  }
  for (size_t t = 0; t < shapes.size(); ++t)
    for (const auto &column : columns)
      placed.tensors.push_back(column[t]);
  return placed;
}

Result<host::Handle<fw_plan>> Bench::plan(const Job &job, const fw_program *program,
                                          const Placed &placed) {
  const size_t operands = placed.tensors.size() / job.list.shapes.size();
  std::vector<fw_tensor> lists[2];
  for (size_t i = 0; i < placed.tensors.size(); ++i)
    lists[isWithoutDecay(job, i / operands)].push_back(placed.tensors[i]);
  std::vector<fw_scalar> scalars[2] = {scalarsOf(job.request), scalarsOf(job.request)};
  for (fw_scalar &scalar : scalars[1])
    if (scalar.name == weightDecay)
      scalar.value = 0;
  std::vector<fw_plan_group> groups;
  for (int g = 0; g < 2; ++g) {
    if (lists[g].empty() && (g == 1 || operands))
      continue; // numbers alone are one group
    lists[g].insert(lists[g].end(), placed.ofAll.begin(), placed.ofAll.end());
    fw_plan_group group = {};
    group.struct_size = sizeof group;
    group.program = program;
    group.tensors = lists[g].data();
    group.tensor_count = lists[g].size();
    group.scalars = scalars[g].data();
    group.scalar_count = scalars[g].size();
    groups.push_back(group);
  }
  return host::make<fw_plan>(fw_plan_create, context.get(), groups.data(), groups.size());
}

Result<void> Bench::checkApplied(const Placed &placed) {
  if (!placed.skipped)
    return {};
  float skipped = 0;
  if (Result<void> read = on->fetch(placed.skipped, std::as_writable_bytes(std::span(&skipped, 1)));
      !read)
    return read;
  if (skipped == 0)
    return {};
  return Error{Code::INTERNAL,
               "expected a step that is applied, got one that is skipped: all.skipped = " +
                   std::to_string(skipped),
               "report this: the gradients are finite numbers"};
}

namespace {

/// Reads by passes that reduce, beside those that operands say: a list that no run writes.
void addReads(std::vector<Stream> &streams, uint64_t streamedBytes) {
  uint64_t named = 0;
  for (const Stream &stream : streams)
    named += stream.bytes * (stream.isRead + stream.isWritten);
  if (streamedBytes > named)
    streams.push_back({streamedBytes - named, true, false});
}

} // namespace

Result<Row> Bench::measure(const Job &job, int rounds) {
  if (host::isOverAxes(job.request))
    return measureRows(job, rounds);
  auto program = host::compile(context.get(), job.request.request, device);
  if (!program)
    return program.takeError();
  Result<Placed> placed = place(job);
  if (!placed)
    return placed.takeError();
  auto made = plan(job, program->get(), *placed);
  if (!made)
    return made.takeError();
  fw_plan_info info = {};
  info.struct_size = sizeof info;
  if (Result<void> told = host::check(fw_plan_describe(made->get(), &info)); !told)
    return told.takeError();
  addReads(placed->streams, info.streamed_bytes);
  const Work run = [&] {
    return host::check(fw_plan_run(made->get(), nullptr, 0, on->stream(), nullptr));
  };
  Result<Figures> figures = on->measure(run, placed->streams, rounds);
  if (!figures)
    return figures.takeError();
  Row row{.id = targetId(job.request, info.elements, info.launches),
          .op = opOf(job.request),
          .dtypes = dtypesOf(job.request),
          .list = job.list.name,
          .tensors = job.list.shapes.size(),
          .elements = info.elements,
          .bytes = info.streamed_bytes,
          .launches = info.launches,
          .figures = *figures};
  Result<void> done = checkApplied(*placed);
  if (done)
    done = describeKernels(program->get(), row);
  if (!done)
    return done.takeError();
  return row;
}

} // namespace fw::bench
