// The C API as a host program in C++ holds it: handles that end themselves, statuses as Results.
#pragma once

#include "compiler/support/Error.h"
#include "fusewright/fusewright.h"

#include <memory>

namespace fw::host {

struct Destroy {
  void operator()(fw_context *context) const { fw_context_destroy(context); }
  void operator()(fw_op *op) const { fw_op_destroy(op); }
  void operator()(fw_request *request) const { fw_request_destroy(request); }
  void operator()(fw_program *program) const { fw_program_destroy(program); }
  void operator()(fw_plan *plan) const { fw_plan_destroy(plan); }
  void operator()(fw_buffer *buffer) const { fw_buffer_destroy(buffer); }
};
template <class T> using Handle = std::unique_ptr<T, Destroy>;

/// What fw_last_error() says.
Error lastError();

inline Result<void> check(fw_status status) {
  if (status == FW_OK)
    return {};
  return lastError();
}

/// A function that makes a handle: make<fw_plan>(fw_plan_create, context, groups, count).
template <class T, class... Parameters, class... Arguments>
Result<Handle<T>> make(fw_status (*function)(Parameters...), Arguments... arguments) {
  T *made = nullptr;
  if (function(arguments..., &made) != FW_OK)
    return lastError();
  return Handle<T>(made);
}

} // namespace fw::host
