// Ops: found by name or read from text, and what they say of themselves.
#include "runtime/api/Border.h"
#include "runtime/api/Handles.h"

#include "compiler/support/FloatMode.h"
#include "ops/ShippedOps.h"

using namespace fw;
using namespace fw::api;

fw_op::fw_op(std::shared_ptr<ContextState> context, language::OpHandle op)
    : context(std::move(context)), op(std::move(op)), features(validFeatures(*this->op)) {
  // An op of a file has passed the checks, so its defaults resolve.
  options = take(language::resolve(*this->op, {})).info.options;
  for (const language::OptionInfo &option : options)
    for (const std::string &value : option.values)
      optionValues[option.name].push_back(value.c_str());
}

namespace {

/// Sorted; made once, since C wants addresses that stay.
const std::vector<std::string> &shippedNames() {
  static const std::vector<std::string> names = shippedOpNames();
  return names;
}

} // namespace

extern "C" {

size_t fw_shipped_op_count(void) {
  size_t count = 0;
  border([&] { count = shippedNames().size(); });
  return count;
}

const char *fw_shipped_op_name(size_t index) {
  const char *name = nullptr;
  border([&] { name = index < shippedNames().size() ? shippedNames()[index].c_str() : nullptr; });
  return name;
}

fw_status fw_op_find(fw_context *context, const char *name, fw_op **out) {
  return border([&] {
    need(out, "out");
    const auto &state = need(context, "context").state;
    *out = new fw_op(state, take(findShippedOp(&need(name, "name"))));
  });
}

fw_status fw_op_parse(fw_context *context, const char *text, size_t length, const char *file,
                      const char *name, fw_op **out) {
  return border([&] {
    need(out, "out");
    const auto &state = need(context, "context").state;
    StandardFloatMode mode; // literals are rounded to nearest
    language::OpHandle op = take(language::parseOp(
        {&need(text, "text"), length}, file ? file : "text", name ? name : "", &shippedLibrary()));
    state->warnOnce(op.file->warnings());
    *out = new fw_op(state, std::move(op));
  });
}

void fw_op_destroy(fw_op *op) { delete op; }

const char *fw_op_name(const fw_op *op) { return op ? op->op->name.c_str() : ""; }
const char *fw_op_hash(const fw_op *op) { return op ? op->op->hash.c_str() : ""; }

size_t fw_op_option_count(const fw_op *op) { return op ? op->options.size() : 0; }

fw_status fw_op_option(const fw_op *op, size_t index, fw_option_info *out) {
  return border([&] {
    const language::OptionInfo &option = at(need(op, "op").options, index, "options");
    const std::vector<const char *> &values = op->optionValues.at(option.name);
    fw_option_info info = {};
    info.value_count = uint32_t(values.size());
    info.name = option.name.c_str();
    info.values = values.data();
    writeStruct(out, info);
  });
}

size_t fw_op_feature_count(const fw_op *op) { return op ? op->features.size() : 0; }

const char *fw_op_feature(const fw_op *op, size_t index) {
  return op && index < op->features.size() ? op->features[index].c_str() : nullptr;
}

} // extern "C"
