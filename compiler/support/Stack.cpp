#include "compiler/support/Stack.h"

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <pthread.h>

namespace fw {

namespace {

constexpr size_t enough = size_t(4) << 20, own = size_t(16) << 20;

/// Bytes below this frame on the thread's stack; 0 where the frame is on none that the system
/// knows, as in a coroutine.
size_t bytesLeft() {
  struct Bounds {
    uintptr_t low = 0, high = 0;
    Bounds() {
      pthread_attr_t attributes;
      if (::pthread_getattr_np(::pthread_self(), &attributes) != 0)
        return;
      void *start = nullptr;
      size_t size = 0;
      if (::pthread_attr_getstack(&attributes, &start, &size) == 0)
        low = uintptr_t(start), high = low + size;
      ::pthread_attr_destroy(&attributes);
    }
  };
  thread_local const Bounds bounds; // asking takes a read of /proc in the main thread
  const auto here = uintptr_t(__builtin_frame_address(0));
  return here > bounds.low && here < bounds.high ? here - bounds.low : 0;
}

struct Call {
  const std::function<void()> &body;
  std::exception_ptr thrown;

  static void *run(void *argument) {
    auto &call = *static_cast<Call *>(argument);
    try {
      call.body();
    } catch (...) {
      call.thrown = std::current_exception();
    }
    return nullptr;
  }
};

/// No signal of the host's is handled on our thread.
bool start(pthread_t &thread, Call &call) {
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0)
    return false;
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = ::pthread_attr_setstacksize(&attributes, own) == 0 &&
                       ::pthread_create(&thread, &attributes, Call::run, &call) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  return started;
}

} // namespace

void runOnLargeStack(const std::function<void()> &body) {
  if (bytesLeft() >= enough)
    return body();
  Call call{body, nullptr};
  pthread_t thread;
  if (!start(thread, call))
    throw std::bad_alloc();
  ::pthread_join(thread, nullptr);
  if (call.thrown)
    std::rethrow_exception(call.thrown);
}

} // namespace fw
