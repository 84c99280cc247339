#include "runtime/scaling/State.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace fw::scaling {
namespace {

constexpr Field allFields[] = {
    {"updates", offsetof(State, updates), true},
    {"scale", offsetof(State, scale), false},
    {"previous_scale", offsetof(State, previousScale), false},
    {"growth_count", offsetof(State, growthCount), false},
    {"hysteresis_left", offsetof(State, hysteresisLeft), false},
    {"skips", offsetof(State, skips), true},
    {"skips_in_a_row", offsetof(State, skipsInARow), true},
    {"last_skipped", offsetof(State, lastSkipped), false},
    {"last_report", offsetof(State, lastReport), false},
    {"seal", offsetof(State, seal), true, /*isSaved=*/false},
};

constexpr double mostInF32 = 0x1p24, mostInF64 = 0x1p53; ///< whole numbers up to here are exact

Error wrong(std::string_view name, const std::string &expected, double got,
            const std::string &remedy) {
  return {Code::USAGE, std::string(name) + ": expected " + expected + ", got " + text(got), remedy};
}

bool isF32(double value) { return double(float(value)) == value; }

/// What `name` may be, or an empty text where `value` is that.
std::string expectation(const Field &field, double value) {
  const std::string_view name = field.name;
  if (name == "scale" || name == "previous_scale")
    return value >= 0 && std::isfinite(value) && isF32(value) ? "" : "a finite f32 number >= 0";
  if (name == "last_skipped") // what an optimizer reports is its own
    return std::isnan(value) || isF32(value) ? "" : "an f32 number, or NaN";
  const double most = field.isDouble ? mostInF64 : mostInF32;
  return value >= 0 && value <= most && std::trunc(value) == value
             ? ""
             : "a whole number from 0 to " + text(most);
}

void set(State &state, const Field &field, double value) {
  std::byte *at = reinterpret_cast<std::byte *>(&state) + field.offset;
  const float narrow = float(value);
  if (field.isDouble)
    memcpy(at, &value, sizeof value);
  else
    memcpy(at, &narrow, sizeof narrow);
}

/// A number of another one's kind that it cannot exceed.
Result<void> checkOrder(const char *name, double value, const char *limitName, double limit) {
  if (value <= limit)
    return {};
  return wrong(name, std::string("at most ") + limitName + ", " + text(limit), value,
               "load the numbers of one saved state");
}

} // namespace

std::string text(double value) {
  char buffer[32];
  snprintf(buffer, sizeof buffer, "%.9g", value);
  return buffer;
}

fw_scaler_options defaultOptions() {
  return {.struct_size = sizeof(fw_scaler_options),
          .reserved = 0,
          .device = "cpu",
          .mode = "dynamic",
          .refill = "clean",
          .denormals = "keep",
          .init_scale = 65536,
          .growth_factor = 2,
          .backoff_factor = 0.5,
          .min_scale = 0x1p-16,
          .max_scale = FLT_MAX,
          .growth_interval = 2000,
          .hysteresis = 1};
}

std::span<const Field> fields() { return allFields; }

const Field *findField(std::string_view name) {
  const Field *found = std::ranges::find(allFields, name, &Field::name);
  return found == std::end(allFields) ? nullptr : found;
}

double get(const State &state, const Field &field) {
  const std::byte *at = reinterpret_cast<const std::byte *>(&state) + field.offset;
  double wide;
  float narrow;
  if (field.isDouble)
    memcpy(&wide, at, sizeof wide);
  else
    memcpy(&narrow, at, sizeof narrow), wide = narrow;
  return wide;
}

Result<void> check(const Rules &rules) {
  const double init = rules.initScale;
  if (!(init > 0) || !std::isfinite(init) || !isF32(init))
    return wrong("init_scale", "a finite f32 number > 0", init, "65536 is the default");
  if (!rules.isDynamic)
    return {};
  const double low = rules.minScale, high = rules.maxScale;
  if (!(low == 0 || float(low) > 0))
    return wrong("min_scale", "0 for no floor, or a positive f32 number", low,
                 "2^-16 is the default");
  if (!(high >= low) || !std::isfinite(float(high)))
    return wrong("max_scale", "a finite f32 number, at least min_scale", high,
                 "the largest f32 number is the default");
  if (init < low || init > high)
    return wrong("init_scale",
                 "a number from min_scale " + text(low) + " to max_scale " + text(high), init,
                 "start inside the limits, or move them");
  if (rules.growthInterval < 1 || double(rules.growthInterval) > mostInF32)
    return wrong("growth_interval", "1 to " + text(mostInF32) + " steps",
                 double(rules.growthInterval), "2000 is the default");
  if (rules.hysteresis < 1 || double(rules.hysteresis) > mostInF32)
    return wrong("hysteresis", "1 to " + text(mostInF32) + " skips", double(rules.hysteresis),
                 "1 is the default: the first skip lowers the scale");
  return {};
}

State initial(const Rules &rules) {
  State state;
  state.scale = state.previousScale = float(rules.initScale);
  state.hysteresisLeft = float(rules.hysteresis);
  return state;
}

Result<State> restore(const Rules &rules, const std::map<std::string, double> &saved) {
  State state = initial(rules);
  for (const auto &[name, value] : saved) {
    const Field *field = findField(name);
    if (!field || !field->isSaved)
      return Error{Code::USAGE, "expected a number of a loss scaler, got \"" + name + "\"",
                   "fw_scaler_save gives the names; leave out what is no scaler's"};
    if (std::string expected = expectation(*field, value); !expected.empty())
      return wrong(name, expected, value, "load what fw_scaler_save gave");
    set(state, *field, value);
  }
  if (!saved.contains("previous_scale"))
    state.previousScale = state.scale;
  state.seal = state.updates;
  if (Result<void> good = checkOrder("skips", state.skips, "updates", state.updates); !good)
    return good.takeError();
  if (Result<void> good = checkOrder("skips_in_a_row", state.skipsInARow, "skips", state.skips);
      !good)
    return good.takeError();
  return state;
}

std::optional<State> readWhole(const State &memory) {
  using Words = std::array<uint64_t, sizeof(State) / sizeof(uint64_t)>;
  auto *from = const_cast<uint64_t *>(reinterpret_cast<const uint64_t *>(&memory));
  Words words;
  for (size_t i = words.size(); i-- > 0;)
    words[i] = std::atomic_ref(from[i]).load(std::memory_order_acquire);
  const State state = std::bit_cast<State>(words);
  return state.seal == state.updates ? std::optional(state) : std::nullopt;
}

} // namespace fw::scaling
