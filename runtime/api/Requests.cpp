// Requests: what to compile, changed call by call and resolved when somebody asks.
#include "runtime/api/Border.h"
#include "runtime/api/Handles.h"

#include <charconv>
#include <climits>

using namespace fw;
using namespace fw::api;

const ResolvedRequest &fw_request::resolve() const {
  if (!resolved)
    resolved = std::make_shared<const ResolvedRequest>(take(fw::resolve(request)));
  return *resolved;
}

namespace {

/// Applies `change` to a copy, so that a failure leaves the request as it was.
template <class Change> fw_status changeRequest(fw_request *request, Change change) {
  return border([&] {
    fw_request &target = need(request, "request");
    Request next = target.request;
    change(next);
    target.changed();
    target.request = std::move(next);
  });
}

/// The target of "cuda" or "cuda:1".
Result<std::string> deviceTarget(ContextState &context, std::string_view name) {
  std::string_view number = name == "cuda" ? "0" : name.substr(std::min<size_t>(5, name.size()));
  unsigned ordinal = 0;
  auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), ordinal);
  const bool isNumber = fault == std::errc() && end == number.data() + number.size();
  if (!isNumber || (name != "cuda" && !name.starts_with("cuda:")))
    return Error{Code::USAGE, "target: expected \"cuda:\" and a number, got " + std::string(name),
                 "write cuda:0 for the first CUDA device, or cpu, or an arch"};
  Result<const driver::Driver *> driver = context.driver();
  if (!driver)
    return driver.takeError();
  Result<const driver::Device *> device =
      (*driver)->device(int(std::min(ordinal, unsigned(INT_MAX))));
  if (!device)
    return device.takeError();
  return context.targetOf(**device);
}

} // namespace

extern "C" {

fw_status fw_request_create(const fw_op *op, fw_request **out) {
  return border([&] {
    need(out, "out");
    Request request;
    request.op = need(op, "op").op;
    *out = new fw_request{op->context, std::move(request), {}, {}, {}, {}};
  });
}

void fw_request_destroy(fw_request *request) { delete request; }

fw_status fw_request_dtype(fw_request *request, const char *operand, const char *dtype) {
  return changeRequest(request, [&](Request &next) {
    next.dtypes[&need(operand, "operand")] = &need(dtype, "dtype");
  });
}

fw_status fw_request_option(fw_request *request, const char *option, const char *value) {
  return changeRequest(request, [&](Request &next) {
    next.options[&need(option, "option")] = &need(value, "value");
  });
}

fw_status fw_request_feature(fw_request *request, const char *feature) {
  return changeRequest(request,
                       [&](Request &next) { next.features.insert(&need(feature, "feature")); });
}

fw_status fw_request_absent(fw_request *request, const char *operand) {
  return changeRequest(request,
                       [&](Request &next) { next.absent.insert(&need(operand, "operand")); });
}

fw_status fw_request_fact(fw_request *request, const char *fact, int64_t value) {
  return changeRequest(request, [&](Request &next) { next.facts[&need(fact, "fact")] = value; });
}

fw_status fw_request_schedule(fw_request *request, const char *decision, int64_t value) {
  return changeRequest(request,
                       [&](Request &next) { next.schedule[&need(decision, "decision")] = value; });
}

fw_status fw_request_target(fw_request *request, const char *target) {
  return changeRequest(request, [&](Request &next) {
    std::string_view name = &need(target, "target");
    next.target = name.starts_with("cuda") ? take(deviceTarget(*request->context, name)) : name;
  });
}

fw_status fw_request_operand_count(const fw_request *request, size_t *out) {
  return border([&] { need(out, "out") = need(request, "request").resolve().operands.size(); });
}

fw_status fw_request_operand(const fw_request *request, size_t index, fw_operand_info *out) {
  return border([&] {
    const RequestOperand &operand =
        at(need(request, "request").resolve().operands, index, "operands");
    fw_operand_info info = {};
    info.read = operand.read;
    info.written = operand.written;
    info.optional = operand.optional;
    info.name = request->strings.keep(operand.name);
    info.role = request->strings.keep(operand.role);
    info.dtype = request->strings.keep(operand.dtype);
    info.init = operand.init;
    info.scope = request->strings.keep(operand.scope);
    writeStruct(out, info);
  });
}

fw_status fw_request_scalar_count(const fw_request *request, size_t *out) {
  return border([&] { need(out, "out") = need(request, "request").resolve().scalars.size(); });
}

fw_status fw_request_scalar(const fw_request *request, size_t index, fw_scalar_info *out) {
  return border([&] {
    const RequestScalar &scalar = at(need(request, "request").resolve().scalars, index, "scalars");
    fw_scalar_info info = {};
    info.is_step = scalar.isStep;
    info.name = request->strings.keep(scalar.name);
    info.kind = request->strings.keep(scalar.kind);
    info.range = request->strings.keep(scalar.range);
    info.value = scalar.value.value_or(0);
    writeStruct(out, info);
  });
}

fw_status fw_request_text(fw_context *context, const fw_request *request, const char *stage,
                          fw_text **out) {
  return border([&] {
    need(out, "out");
    TextStage parsed = take(parseStage(&need(stage, "stage")));
    Compiler &compiler = need(context, "context").state->compiler;
    *out = new fw_text{take(compiler.text(need(request, "request").request, parsed))};
  });
}

const char *fw_text_data(const fw_text *text) { return text ? text->text.c_str() : ""; }
size_t fw_text_length(const fw_text *text) { return text ? text->text.size() : 0; }
void fw_text_destroy(fw_text *text) { delete text; }

} // extern "C"
