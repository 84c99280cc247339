#include "tools/host/Program.h"

#include <charconv>

namespace fw::host {

namespace {

/// False when a call failed.
bool say(fw_request *out, const Request &request, const Device &device) {
  bool ok = !fw_request_target(out, device.name().c_str());
  for (const auto &[option, value] : request.options)
    ok = ok && !fw_request_option(out, option.c_str(), value.c_str());
  for (const auto &[operand, dtype] : request.dtypes)
    ok = ok && !fw_request_dtype(out, operand.c_str(), dtype.c_str());
  for (const std::string &feature : request.features)
    ok = ok && !fw_request_feature(out, feature.c_str());
  for (const std::string &operand : request.absent)
    ok = ok && !fw_request_absent(out, operand.c_str());
  if (device.isCuda())
    for (const auto &[decision, value] : request.schedule)
      ok = ok && !fw_request_schedule(out, decision.c_str(), value);
  if (device.isCuda())
    for (const auto &[fact, value] : request.facts)
      ok = ok && !fw_request_fact(out, fact.c_str(), value);
  return ok;
}

} // namespace

Error lastError() {
  const fw_error *error = fw_last_error();
  return {Code(error->code), error->text,   error->remedy, error->file,
          error->line,       error->column, error->log};
}

std::string Device::name() const { return isCuda() ? "cuda:" + std::to_string(id) : "cpu"; }

Result<Device> parseDevice(const std::string &text) {
  if (text == "cpu")
    return Device{};
  if (text == "cuda")
    return Device{FW_DEVICE_CUDA, 0};
  Device device{FW_DEVICE_CUDA, 0};
  const std::string prefix = "cuda:";
  const char *end = text.data() + text.size();
  if (text.starts_with(prefix) && text.size() > prefix.size()) {
    auto [rest, fault] = std::from_chars(text.data() + prefix.size(), end, device.id);
    if (fault == std::errc() && rest == end && device.id >= 0)
      return device;
  }
  return Error{Code::USAGE, "--device: expected cpu, cuda or cuda:N, got '" + text + "'"};
}

Result<fw_device_info> describe(fw_context *context, const Device &device) {
  fw_device_info info = {};
  info.struct_size = sizeof info;
  if (auto known = check(fw_context_device(context, device.id, &info)); !known)
    return known.takeError();
  return info;
}

Result<Handle<fw_program>> compile(fw_context *context, const Request &request,
                                   const Device &device) {
  const language::OpHandle &source = request.op;
  const std::string_view text = source.file->text().text();
  auto op = make<fw_op>(fw_op_parse, context, text.data(), text.size(), source.file->name().c_str(),
                        source->name.c_str());
  if (!op)
    return op.takeError();
  auto said = make<fw_request>(fw_request_create, op->get());
  if (!said)
    return said.takeError();
  if (!say(said->get(), request, device))
    return lastError();
  return make<fw_program>(fw_compile, context, said->get());
}

fw_tensor tensorOf(const Device &device, const std::string &dtype, void *data,
                   std::span<const int64_t> shape) {
  fw_tensor tensor = {};
  tensor.struct_size = sizeof tensor;
  tensor.device = device.kind;
  tensor.device_id = device.id;
  tensor.rank = int32_t(shape.size());
  tensor.dtype = dtype.c_str();
  tensor.data = data;
  tensor.shape = shape.data();
  return tensor;
}

fw_scalar scalarOf(const std::string &name, double value) {
  fw_scalar scalar = {};
  scalar.struct_size = sizeof scalar;
  scalar.name = name.c_str();
  scalar.value = value;
  return scalar;
}

} // namespace fw::host
