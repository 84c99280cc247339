// Deep recursions on threads whose stack is small: a host may call from one of 64 KiB.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>

namespace fw {

/// Runs the body here where this thread's stack has 4 MiB left, which is twice what an op of the
/// most operations takes from its text to machine code; else on a thread with 16 MiB, which is made
/// for it and joined. What the body throws is thrown here; std::bad_alloc where no thread starts.
void runOnLargeStack(const std::function<void()> &body);

/// The same for a body with a result.
template <class Body> auto onLargeStack(Body &&body) -> std::invoke_result_t<Body> {
  std::optional<std::invoke_result_t<Body>> result;
  runOnLargeStack([&] { result.emplace(body()); });
  return std::move(*result);
}

} // namespace fw
