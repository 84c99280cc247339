// Loss scalers.
#include "runtime/api/Scaler.h"
#include "runtime/scaling/Messages.h"

using namespace fw;
using namespace fw::api;
using scaling::Field;
using scaling::State;

namespace {

/// Each name that is missing has its own default.
fw_scaler_options readOptions(const fw_scaler_options *given) {
  const fw_scaler_options defaults = scaling::defaultOptions();
  fw_scaler_options options = given ? readStruct(given, "options", defaults) : defaults;
  for (auto name : {&fw_scaler_options::device, &fw_scaler_options::mode,
                    &fw_scaler_options::refill, &fw_scaler_options::denormals})
    if (!(options.*name))
      options.*name = defaults.*name;
  return options;
}

void checkOptions(const fw_scaler_options &options) {
  const std::string_view device = options.device;
  if (device != "cpu" && !device.starts_with("cuda"))
    throw Failure{
        {Code::USAGE,
         "device: expected \"cpu\", or \"cuda:\" and a number, got \"" + std::string(device) + "\"",
         "name the device of the plans that read the scale"}};
}

void checkReport(const void *report, const std::string &name) {
  need(static_cast<const std::byte *>(report), name.c_str());
  if (reinterpret_cast<uintptr_t>(report) % sizeof(float) != 0)
    throw Failure{{Code::USAGE,
                   name + ": expected the address of an f32 number, a multiple of 4, got another",
                   "reports are f32; numbers stand at multiples of their size"}};
}

std::span<const void *const> checkReports(const void *const *skipped, size_t count) {
  if (count < 1 || count > mostReports)
    throw Failure{{Code::USAGE,
                   "count: expected 1 to " + std::to_string(mostReports) + " reports, got " +
                       std::to_string(count),
                   "let optimizers share a plan, or give them scalers of their own"}};
  need(skipped, "skipped");
  for (size_t i = 0; i < count; ++i)
    checkReport(skipped[i], "skipped[" + std::to_string(i) + "]");
  return {skipped, count};
}

fw_scaler_state describe(const State &state) {
  fw_scaler_state out = {};
  out.outcome = scaling::outcomeOf(state.lastSkipped);
  out.tensor = scaling::tensorOf(state.lastSkipped);
  out.report = uint64_t(state.lastReport);
  out.updates = uint64_t(state.updates);
  out.skips = uint64_t(state.skips);
  out.skips_in_a_row = uint64_t(state.skipsInARow);
  out.growth_count = uint64_t(state.growthCount);
  out.hysteresis_left = uint64_t(state.hysteresisLeft);
  out.scale = state.scale;
  out.previous_scale = state.previousScale;
  return out;
}

std::vector<const Field *> savedFields() {
  std::vector<const Field *> saved;
  for (const Field &field : scaling::fields())
    if (field.isSaved)
      saved.push_back(&field);
  return saved;
}

/// The caller's array, whose structs may be larger than ours.
void writeNumbers(const State &state, fw_scalar *out, size_t capacity) {
  const std::vector<const Field *> saved = savedFields();
  if (capacity < saved.size())
    throw Failure{{Code::USAGE,
                   "capacity: expected room for " + std::to_string(saved.size()) +
                       " numbers, got " + std::to_string(capacity),
                   "ask for their count with out = NULL"}};
  const uint32_t size = out->struct_size;
  char *at = reinterpret_cast<char *>(out);
  for (size_t i = 0; i < saved.size(); ++i, at += size) {
    fw_scalar number = {};
    number.name = saved[i]->name;
    number.value = scaling::get(state, *saved[i]);
    auto *place = reinterpret_cast<fw_scalar *>(at);
    place->struct_size = size;
    writeStruct(place, number);
  }
}

std::map<std::string, double> readNumbers(const fw_scalar *numbers, size_t count) {
  std::map<std::string, double> saved;
  const launch::ScalarArray given = scalarsOf(numbers, count);
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string name = &need(given[i].name, "name");
    if (!saved.emplace(name, given[i].value).second)
      throw Failure{{Code::USAGE, name + ": expected one value, got a second one",
                     "load what fw_scaler_save gave"}};
  }
  return saved;
}

} // namespace

extern "C" {

void fw_scaler_options_init(fw_scaler_options *options) {
  if (options)
    *options = scaling::defaultOptions();
}

fw_status fw_scaler_create(fw_context *context, const fw_scaler_options *options, fw_scaler **out) {
  return border([&] {
    need(out, "out");
    const auto &state = need(context, "context").state;
    const fw_scaler_options chosen = readOptions(options);
    checkOptions(chosen);
    *out = new fw_scaler(state, chosen);
  });
}

void fw_scaler_destroy(fw_scaler *scaler) { delete scaler; }

fw_status fw_scaler_scalar(const fw_scaler *scaler, fw_scalar *out) {
  return border([&] {
    fw_scalar scalar = {};
    scalar.name = "all.scale";
    scalar.data = &need(scaler, "scaler").memory()->scale;
    scalar.dtype = "f32";
    scalar.count = 1;
    writeStruct(out, scalar);
  });
}

fw_status fw_scaler_claim(fw_scaler *scaler, const void *owner) {
  return border([&] {
    need(static_cast<const std::byte *>(owner), "owner");
    need(scaler, "scaler").claim(owner);
  });
}

fw_status fw_scaler_release(fw_scaler *scaler, const void *owner) {
  return border([&] {
    need(static_cast<const std::byte *>(owner), "owner");
    need(scaler, "scaler").release(owner);
  });
}

fw_status fw_scaler_update(fw_scaler *scaler, const void *const *skipped, size_t count,
                           fw_stream stream) {
  return border([&] { need(scaler, "scaler").update(checkReports(skipped, count), stream); });
}

fw_status fw_scaler_read(fw_scaler *scaler, fw_scaler_state *out) {
  return border([&] { writeStruct(out, describe(need(scaler, "scaler").look())); });
}

fw_status fw_scaler_wait(fw_scaler *scaler, fw_stream stream) {
  return border([&] {
    need(scaler, "scaler").wait(stream);
    scaler->look();
  });
}

fw_status fw_scaler_save(fw_scaler *scaler, fw_scalar *out, size_t capacity, size_t *count,
                         fw_stream stream) {
  return border([&] {
    fw_scaler &saved = need(scaler, "scaler");
    need(count, "count") = savedFields().size();
    if (!out)
      return;
    checkSize(*out, "out");
    writeNumbers(saved.fetch(stream), out, capacity);
    saved.look();
  });
}

fw_status fw_scaler_load(fw_scaler *scaler, const fw_scalar *numbers, size_t count,
                         fw_stream stream) {
  return border([&] {
    fw_scaler &loaded = need(scaler, "scaler");
    loaded.put(take(scaling::restore(loaded.rules, readNumbers(numbers, count))), stream);
  });
}

} // extern "C"
