#include "tools/bench/RowsBench.h"

#include "compiler/jit/Knobs.h"
#include "tools/bench/Embedded.h"
#include "tools/bench/Operands.h"
#include "tools/host/RowFacts.h"

#include <algorithm>

namespace fw::bench {

namespace {

constexpr int64_t mostHeads = 16;

/// A share of the elements that an operand is read of. Row q of `rows` reads one column more than
/// the row before it: the last one reads all, or with align=start the first one a single column.
double readShare(const ResolvedRequest &request, const RequestOperand &operand,
                 const std::vector<int64_t> &lengths) {
  const auto &ops = embedded("rows.json").at("behind_the_diagonal");
  const auto found = ops.find(request.op.info.name);
  if (found == ops.end() || *found != operand.name)
    return 1;
  const auto align = request.request.options.find("align");
  const bool fromStart = align != request.request.options.end() && align->second == "start";
  const double width = double(lengths.back()), rows = double(lengths[lengths.size() - 2]);
  const double before = fromStart ? 0 : width - rows;
  return std::min(1.0, (before + (rows + 1) / 2) / width);
}

std::string nameOf(const std::vector<int64_t> &shape) {
  std::string name;
  for (int64_t size : shape)
    name += (name.empty() ? "" : "x") + std::to_string(size);
  return name;
}

} // namespace

TensorList listOfRows(const ResolvedRequest &request, int64_t width, int64_t elements) {
  const size_t outer = request.op.info.axes.size() - 1;
  std::vector<int64_t> shape(outer, 1);
  int64_t rows = std::max<int64_t>(elements / width, 1);
  auto take = [&](size_t axis, int64_t most) {
    shape[axis] = std::min(rows, most);
    rows /= shape[axis];
  };
  if (outer > 1)
    take(outer - 1, width);
  if (outer > 2)
    take(outer - 2, mostHeads);
  if (outer > 0)
    shape[0] *= rows;
  shape.push_back(width);
  return {nameOf(shape), {shape}};
}

std::vector<int64_t> shapeOf(const ResolvedRequest &request, const RequestOperand &operand,
                             const std::vector<int64_t> &lengths) {
  const std::vector<std::string> &header = request.op.info.axes;
  std::vector<int64_t> shape;
  for (const std::string &axis : operand.axes) {
    const size_t number = size_t(std::ranges::find(header, axis) - header.begin());
    // An axis of its own is what indices choose from.
    shape.push_back(axis == "1" ? 1 : number < lengths.size() ? lengths[number] : lengths.back());
  }
  if (operand.axes.empty()) // one value in all
    shape.push_back(1);
  return shape;
}

std::vector<Stream> streamsOf(const ResolvedRequest &request, const std::vector<int64_t> &lengths) {
  std::vector<Stream> streams;
  for (const RequestOperand &operand : request.operands) {
    if (!operand.present || operand.axes.empty())
      continue;
    const uint64_t bytes = elementsOf(shapeOf(request, operand, lengths)) * widthOf(operand);
    const double share = operand.read ? readShare(request, operand, lengths) : 1;
    if (share < 1)
      streams.push_back({uint64_t(double(bytes) * share), true, false});
    if (share == 1 || operand.written)
      streams.push_back({bytes, operand.read && share == 1, operand.written});
  }
  return streams;
}

namespace {

Result<uint64_t> launchesOf(fw_context *context) {
  fw_counters counters = {};
  counters.struct_size = sizeof counters;
  if (Result<void> told = host::check(fw_context_counters(context, &counters)); !told)
    return told.takeError();
  return counters.launches;
}

uint64_t bytesOf(const std::vector<Stream> &streams) {
  uint64_t bytes = 0;
  for (const Stream &stream : streams)
    bytes += stream.bytes * (stream.isRead + stream.isWritten);
  return bytes;
}

/// The request of the kernel that launches on these tensors take.
Result<Request> requestOfKernel(const Job &job) {
  Request request = job.request.request;
  Result<jit::Settings> settings = jit::Settings::read();
  if (!settings)
    return settings.takeError();
  host::Facts facts = host::factsOfDense(job.request, job.list.shapes.front().back());
  if (settings->number(jit::Knob::row_widths) != 0) // "any"
    facts["columns"] = 0;
  request.facts.insert(facts.begin(), facts.end());
  return request;
}

} // namespace

Result<std::vector<fw_tensor>> Bench::placeRows(const Job &job,
                                                std::vector<std::vector<int64_t>> &shapes) {
  std::byte *at = memory;
  for (const RequestOperand &operand : job.request.operands)
    shapes.push_back(shapeOf(job.request, operand, job.list.shapes.front()));
  std::vector<fw_tensor> tensors;
  for (size_t k = 0; k < shapes.size(); ++k) {
    const RequestOperand &operand = job.request.operands[k];
    const uint64_t bytes = operand.present ? alignUp(elementsOf(shapes[k]) * widthOf(operand)) : 0;
    if (Result<void> filled = on->fill(at, bytes, patternOf(operand)); !filled)
      return filled.takeError();
    tensors.push_back(
        host::tensorOf(device, operand.dtype, operand.present ? at : nullptr, shapes[k]));
    at += bytes;
  }
  return tensors;
}

Result<Row> Bench::measureRows(const Job &job, int rounds) {
  auto program = host::compile(context.get(), job.request.request, device);
  if (!program)
    return program.takeError();
  std::vector<std::vector<int64_t>> shapes;
  auto tensors = placeRows(job, shapes);
  if (!tensors)
    return tensors.takeError();
  const std::vector<fw_scalar> scalars = scalarsOf(job.request);
  const Work launch = [&] {
    return host::check(fw_launch(context.get(), program->get(), tensors->data(), tensors->size(),
                                 scalars.data(), scalars.size(), on->stream()));
  };
  const std::vector<Stream> streams = streamsOf(job.request, job.list.shapes.front());
  Result<uint64_t> before = launchesOf(context.get());
  if (!before)
    return before.takeError();
  if (Result<void> first = launch(); !first) // compiles
    return first.takeError();
  Result<uint64_t> after = launchesOf(context.get());
  if (!after)
    return after.takeError();
  Result<Figures> figures = on->measure(launch, streams, rounds);
  if (!figures)
    return figures.takeError();
  Row row{.op = opOf(job.request),
          .dtypes = dtypesOf(job.request),
          .list = job.list.name,
          .tensors = 1,
          .elements = job.list.elements(),
          .width = job.list.shapes.front().back(),
          .bytes = bytesOf(streams),
          .launches = uint32_t(*after - *before),
          .figures = *figures};
  if (device.isCuda()) {
    Result<Request> request = requestOfKernel(job);
    if (!request)
      return request.takeError();
    auto kernel = host::compile(context.get(), *request, device);
    if (!kernel)
      return kernel.takeError();
    if (Result<void> told = describeKernels(kernel->get(), row); !told)
      return told.takeError();
  }
  return row;
}

} // namespace fw::bench
