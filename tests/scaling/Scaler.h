// A loss scaler of the C API on the CPU, and what its context logs.
#pragma once

#include "tests/runtime/Api.h"

#include <vector>

namespace scaling {

using Handle = std::unique_ptr<fw_scaler, api::Destroy<fw_scaler_destroy>>;

struct Log {
  std::vector<std::pair<fw_log_level, std::string>> lines;

  static void hear(void *user, fw_log_level level, const char *text) {
    static_cast<Log *>(user)->lines.emplace_back(level, text);
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const auto &[level, text] : lines)
      all.push_back(text);
    return all;
  }
};

inline api::Context context(Log *log = nullptr) {
  fw_context_options options;
  fw_context_options_init(&options);
  options.user_data = log;
  options.log = log ? Log::hear : nullptr;
  return api::make<api::Context>(
      [&](fw_context **out) { return fw_context_create(&options, out); });
}

inline fw_scaler_options options() {
  fw_scaler_options options;
  fw_scaler_options_init(&options);
  return options;
}

class Scaler {
public:
  explicit Scaler(const api::Context &context,
                  const fw_scaler_options &options = scaling::options())
      : handle(api::make<Handle>(
            [&](fw_scaler **out) { return fw_scaler_create(context.get(), &options, out); })) {}

  operator fw_scaler *() const { return handle.get(); }

  /// One step by what one optimizer reports.
  void update(float skipped) { update(std::vector<float>{skipped}); }
  void update(const std::vector<float> &skipped) {
    std::vector<const void *> addresses;
    for (const float &one : skipped)
      addresses.push_back(&one);
    EXPECT_EQ(fw_scaler_update(*this, addresses.data(), addresses.size(), nullptr), FW_OK)
        << api::lastError();
  }

  fw_scaler_state state() const {
    fw_scaler_state state = {};
    state.struct_size = sizeof state;
    EXPECT_EQ(fw_scaler_read(*this, &state), FW_OK) << api::lastError();
    return state;
  }
  double scale() const { return state().scale; }

private:
  Handle handle;
};

} // namespace scaling
