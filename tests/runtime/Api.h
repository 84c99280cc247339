// Handles that end themselves, for tests of the C API.
#pragma once

#include "fusewright/fusewright.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace api {

template <auto destroy> struct Destroy {
  template <class T> void operator()(T *handle) const { destroy(handle); }
};
using Context = std::unique_ptr<fw_context, Destroy<fw_context_destroy>>;
using Op = std::unique_ptr<fw_op, Destroy<fw_op_destroy>>;
using Request = std::unique_ptr<fw_request, Destroy<fw_request_destroy>>;
using Program = std::unique_ptr<fw_program, Destroy<fw_program_destroy>>;
using Text = std::unique_ptr<fw_text, Destroy<fw_text_destroy>>;
using Plan = std::unique_ptr<fw_plan, Destroy<fw_plan_destroy>>;
using Buffer = std::unique_ptr<fw_buffer, Destroy<fw_buffer_destroy>>;

/// "text; remedy" of the thread's last error.
inline std::string lastError() {
  const fw_error *error = fw_last_error();
  return *error->remedy ? std::string(error->text) + "; " + error->remedy : error->text;
}

/// Calls `make` with an out pointer and wraps what it gives.
template <class Handle, class Make> Handle make(Make call) {
  typename Handle::pointer raw = nullptr;
  EXPECT_EQ(call(&raw), FW_OK) << lastError() << "\n" << fw_last_error()->log;
  return Handle(raw);
}

inline Context context(const char *cacheDir = nullptr) {
  fw_context_options options;
  fw_context_options_init(&options);
  options.cache_dir = cacheDir;
  return make<Context>([&](fw_context **out) { return fw_context_create(&options, out); });
}
inline Op find(const Context &context, const char *name) {
  return make<Op>([&](fw_op **out) { return fw_op_find(context.get(), name, out); });
}
inline Op parse(const Context &context, const std::string &text, const char *name = nullptr) {
  return make<Op>([&](fw_op **out) {
    return fw_op_parse(context.get(), text.data(), text.size(), "test.fuse", name, out);
  });
}
inline Request request(const Op &op) {
  return make<Request>([&](fw_request **out) { return fw_request_create(op.get(), out); });
}
inline Program compile(const Context &context, const Request &request) {
  return make<Program>(
      [&](fw_program **out) { return fw_compile(context.get(), request.get(), out); });
}

/// A dense CPU tensor of one dimension; `count` must outlive it.
inline fw_tensor tensor(const char *dtype, void *data, const int64_t *count) {
  fw_tensor out = {};
  out.struct_size = sizeof out;
  out.device = FW_DEVICE_CPU;
  out.rank = 1;
  out.dtype = dtype;
  out.data = data;
  out.shape = count;
  return out;
}
inline fw_scalar scalar(const char *name, double value) {
  return {sizeof(fw_scalar), 0, name, value, nullptr, 0};
}

} // namespace api
