// A stack of its own that can be entered and left again.
#pragma once

#include <cstddef>

namespace fw::emulator {

/// Runs functions on its own stack. The owner resumes it; the function suspends itself or returns.
class Fiber {
public:
  using Entry = void (*)(void *argument);

  Fiber();
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// The next resume() calls entry(argument). What was suspended on this stack before is dropped.
  void start(Entry entry, void *argument);

  /// Enters the fiber; comes back when it suspends or its entry returns.
  void resume();

  /// Called on the fiber's stack: back to resume().
  void suspend();

  /// Called first and last on the fiber's stack by the code that switches stacks.
  static void enter(void *fiber);

private:
  void leave(bool forGood);

  char *stack = nullptr;
  Entry entry = nullptr;
  void *argument = nullptr;
  struct Context; ///< where each side goes on, per kind of switch
  Context *context;
};

} // namespace fw::emulator
