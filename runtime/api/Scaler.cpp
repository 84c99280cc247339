#include "runtime/api/Scaler.h"

#include "runtime/driver/Ranges.h"
#include "runtime/driver/Scopes.h"
#include "runtime/scaling/Messages.h"

#include <algorithm>
#include <charconv>

using namespace fw;
using namespace fw::api;
using scaling::Field;
using scaling::State;

namespace {

/// An error of a call of the C API becomes this call's.
void pass(fw_status status) {
  if (status == FW_OK)
    return;
  const fw_error &error = *fw_last_error();
  throw Failure{
      {Code(status), error.text, error.remedy, error.file, error.line, error.column, error.log}};
}

template <class Handle, class Make> Handle made(Make make) {
  typename Handle::pointer raw = nullptr;
  pass(make(&raw));
  return Handle(raw);
}

/// Of a name that fw_request_target takes.
launch::Place placeOf(std::string_view device) {
  int ordinal = 0;
  if (device.starts_with("cuda:"))
    std::from_chars(device.data() + 5, device.data() + device.size(), ordinal);
  return {device == "cpu" ? FW_DEVICE_CPU : FW_DEVICE_CUDA, ordinal};
}

std::string reportName(size_t index) {
  return index ? "skipped" + std::to_string(index) : std::string("skipped");
}

fw_scalar scalarOf(const char *name, double value) {
  fw_scalar scalar = {};
  scalar.struct_size = sizeof scalar;
  scalar.name = name;
  scalar.value = value;
  return scalar;
}

/// Hyper-parameters of the op; with a static scale it has none.
std::vector<fw_scalar> hypersOf(const fw_scaler_options &options) {
  if (!rulesOf(options).isDynamic)
    return {};
  return {scalarOf("growth_factor", options.growth_factor),
          scalarOf("backoff_factor", options.backoff_factor),
          scalarOf("growth_interval", double(options.growth_interval)),
          scalarOf("hysteresis", double(options.hysteresis)),
          scalarOf("min_scale", options.min_scale),
          scalarOf("max_scale", options.max_scale)};
}

Result<void> refuseCapture(const driver::Driver &driver, driver::CUstream stream) {
  Result<bool> capturing = driver::isCapturing(driver, stream);
  if (!capturing)
    return capturing.takeError();
  if (!*capturing)
    return {};
  return Error{Code::USAGE, "expected a stream that is not captured, got one that is",
               "wait before the capture begins or after it ends"};
}

jit::Severity severityOf(fw_log_level level) {
  return level == FW_LOG_WARNING ? jit::Severity::Warning
         : level == FW_LOG_INFO  ? jit::Severity::Info
                                 : jit::Severity::Debug;
}

} // namespace

scaling::Rules fw::api::rulesOf(const fw_scaler_options &options) {
  return {.initScale = options.init_scale,
          .minScale = options.min_scale,
          .maxScale = options.max_scale,
          .growthInterval = options.growth_interval,
          .hysteresis = options.hysteresis,
          .isDynamic = std::string_view(options.mode) == "dynamic"};
}

fw_scaler::fw_scaler(std::shared_ptr<ContextState> state, const fw_scaler_options &options)
    : rules(rulesOf(options)), context{std::move(state)}, place(placeOf(options.device)) {
  auto op = made<OpHandle>([&](fw_op **out) { return fw_op_find(&context, "loss_scale", out); });
  RequestHandle request = makeRequest(op.get(), options);
  take(scaling::check(rules));
  makeMemory();
  makePlan(request.get(), options);
}

RequestHandle fw_scaler::makeRequest(fw_op *op, const fw_scaler_options &options) {
  auto request = made<RequestHandle>([&](fw_request **out) { return fw_request_create(op, out); });
  pass(fw_request_target(request.get(), options.device));
  pass(fw_request_option(request.get(), "mode", options.mode));
  pass(fw_request_option(request.get(), "refill", options.refill));
  pass(fw_request_option(request.get(), "denormals", options.denormals));
  for (const Field &field : scaling::fields())
    if (field.isDouble)
      pass(fw_request_dtype(request.get(), field.name, field.dtype()));
  return request;
}

void fw_scaler::makeMemory() {
  const State first = scaling::initial(rules);
  buffer = made<BufferHandle>([&](fw_buffer **out) {
    return fw_buffer_create(&context, fw_device(place.device), place.id, sizeof(State), out);
  });
  arrived = first;
  if (isOnCpu()) {
    *memory() = first;
    return;
  }
  const driver::Driver &driver = *take(context.state->driver());
  auto current = take(driver::CurrentContext::enter(driver, buffer->cudaContext));
  copy = take(scaling::PageLocked::allocate(driver, current.get(), sizeof(State)));
  *static_cast<State *>(copy.data()) = first;
  take(driver::uploadFresh(driver, buffer->memory.address(), std::as_bytes(std::span(&first, 1))));
}

void *fw_scaler::addressOf(std::string_view operand) const {
  const Field *field = scaling::findField(operand);
  return buffer->data() + (field ? field->offset : offsetof(State, none));
}

void fw_scaler::makePlan(const fw_request *request, const fw_scaler_options &options) {
  auto program =
      made<ProgramHandle>([&](fw_program **out) { return fw_compile(&context, request, out); });
  size_t count = 0;
  pass(fw_request_operand_count(request, &count));
  static constexpr int64_t one = 1;
  std::vector<fw_tensor> tensors;
  for (size_t i = 0; i < count; ++i) {
    fw_operand_info info = {};
    info.struct_size = sizeof info;
    pass(fw_request_operand(request, i, &info));
    tensors.push_back({.struct_size = sizeof(fw_tensor),
                       .device = place.device,
                       .device_id = place.id,
                       .rank = 1,
                       .dtype = info.dtype,
                       .data = addressOf(info.name),
                       .shape = &one,
                       .strides = nullptr,
                       .first_element = 0});
  }
  const std::vector<fw_scalar> hypers = hypersOf(options);
  const fw_plan_group group = {.struct_size = sizeof group,
                               .reserved = 0,
                               .program = program.get(),
                               .tensors = tensors.data(),
                               .tensor_count = count,
                               .scalars = hypers.data(),
                               .scalar_count = hypers.size()};
  plan = made<PlanHandle>([&](fw_plan **out) { return fw_plan_create(&context, &group, 1, out); });
  reports.assign(mostReports, addressOf(reportName(0)));
}

void fw_scaler::point(std::span<const void *const> skipped) {
  for (size_t i = 0; i < reports.size(); ++i) {
    const std::string name = reportName(i);
    void *address = i < skipped.size() ? const_cast<void *>(skipped[i]) : addressOf(name);
    if (reports[i] == address)
      continue;
    pass(fw_plan_set_pointers(plan.get(), 0, name.c_str(), &address, 1));
    reports[i] = address;
  }
}

Result<void> fw_scaler::sendToHost(fw_stream handle, bool isAwaited) {
  if (isOnCpu())
    return {};
  auto *stream = static_cast<driver::CUstream>(handle);
  const char *const what = "sending the state of a loss scaler to the host";
  const driver::Driver &driver = *take(context.state->driver());
  auto current = driver::CurrentContext::enter(driver, buffer->cudaContext);
  if (!current)
    return current.takeError();
  if (isAwaited)
    if (Result<void> outside = refuseCapture(driver, stream); !outside)
      return outside;
  Result<void> sent = driver::check(
      driver,
      driver.cu().memcpyDtoHAsync(copy.data(), buffer->memory.address(), sizeof(State), stream),
      what);
  if (!sent || !isAwaited)
    return sent;
  return driver::check(driver, driver.cu().streamSynchronize(stream), what);
}

void fw_scaler::update(std::span<const void *const> skipped, fw_stream stream) {
  driver::Range range("fw_scaler_update", "loss_scale");
  look();
  point(skipped);
  pass(fw_plan_run(plan.get(), nullptr, 0, stream, nullptr));
  claimed.clear();
  if (Result<void> sent = sendToHost(stream, false); !sent) {
    Error error = sent.takeError();
    error.text += ", behind an update that is queued: the scale moves, but the host sees the state "
                  "before it";
    error.remedy += "; do not update for this step again; fw_scaler_wait or the next update brings "
                    "the state";
    throw Failure{std::move(error)};
  }
  look();
}

void fw_scaler::claim(const void *owner) {
  if (std::ranges::find(claimed, owner) != claimed.end())
    throw Failure{{Code::USAGE,
                   "expected gradients to be unscaled once between two updates of the loss scaler, "
                   "got a second time for the same owner",
                   "call fw_scaler_update once a step; accumulated gradients are unscaled behind "
                   "the last of them"}};
  claimed.push_back(owner);
}

void fw_scaler::put(const State &state, fw_stream stream) {
  pass(fw_buffer_copy_in(buffer.get(), 0, &state, sizeof state, stream));
  if (!isOnCpu())
    *static_cast<State *>(copy.data()) = state;
  arrived = state; // no news
}

State fw_scaler::fetch(fw_stream stream) const {
  State state;
  pass(fw_buffer_copy_out(buffer.get(), 0, &state, sizeof state, stream));
  return state;
}

/// Sends the state once more, since the copy of an update may have failed.
void fw_scaler::wait(fw_stream stream) { take(sendToHost(stream, true)); }

const State &fw_scaler::look() {
  const State &shared = isOnCpu() ? *memory() : *static_cast<const State *>(copy.data());
  const std::optional<State> now = scaling::readWhole(shared);
  if (!now || *now == arrived)
    return arrived;
  const State before = std::exchange(arrived, *now);
  try {
    for (const scaling::Message &message : scaling::describeChange(before, arrived, rules))
      context.state->log(severityOf(message.level), message.text);
  } catch (const std::bad_alloc &) {
    // The state is what it is, told or not; a call that fails would say that nothing has changed.
  }
  return arrived;
}
