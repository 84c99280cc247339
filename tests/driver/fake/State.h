// The whole driver, and what every call of it does first.
#pragma once

#include "tests/driver/fake/Api.h"
#include "tests/driver/fake/Control.h"
#include "tests/driver/fake/Objects.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace fw::driver::fake {

using Lock = std::unique_lock<std::mutex>;

/// Handles are never given twice in a process, so a stale one is always known as such; contexts'
/// may be, where a test asks for it.
class Handles {
public:
  static uintptr_t next();
};

template <class Handle, class Object> class Table {
public:
  Handle add(std::shared_ptr<Object> object) {
    object->handle = reinterpret_cast<Handle>(Handles::next());
    return objects.emplace(object->handle, std::move(object)).first->first;
  }
  std::shared_ptr<Object> find(Handle handle) const {
    const auto found = objects.find(handle);
    return found == objects.end() ? nullptr : found->second;
  }
  /// Gives `object` a handle that another has; the other.
  std::shared_ptr<Object> replace(Handle handle, std::shared_ptr<Object> object) {
    object->handle = handle;
    return std::exchange(objects.at(handle), std::move(object));
  }
  std::shared_ptr<Object> take(Handle handle) {
    auto node = objects.extract(handle);
    return node.empty() ? nullptr : std::move(node.mapped());
  }
  template <class Test> bool any(Test test) const {
    return std::ranges::any_of(objects, [&](const auto &entry) { return test(*entry.second); });
  }
  template <class Action> void each(Action action) const {
    for (const auto &entry : objects)
      action(*entry.second);
  }
  template <class Test> void removeIf(Test test) {
    std::erase_if(objects, [&](const auto &entry) { return test(*entry.second); });
  }

private:
  std::unordered_map<Handle, std::shared_ptr<Object>> objects;
};

struct Device {
  int capability = 0; ///< 10 * major + minor
  uint64_t bytes = 0, peakBytes = 0;
  Context *primary = nullptr;
};

/// What an environment and a test decide.
struct Settings {
  std::string capabilities, kernels;
  int version = 0, initResult = 0;
  uint64_t memoryBytes = 0;
  static Settings ofEnvironment();
};

/// What cuInit makes and a reset drops.
struct World {
  bool isInitialized = false;
  std::vector<Device> devices;
  Table<CUcontext, Context> contexts; ///< never taken out: a destroyed one must be known as such
  CUcontext lastDestroyed = nullptr;
  std::vector<std::shared_ptr<Context>> forgotten; ///< another has its handle
  Table<CUstream, Stream> streams;
  Table<CUevent, Event> events;
  Table<CUlibrary, Library> libraries;
  Table<CUkernel, Kernel> kernels;
  Table<CUfunction, LoadedFunction> functions;
  Table<CUgraph, Graph> graphs;
  Table<CUgraphExec, GraphExec> execs;
  std::map<uint64_t, std::shared_ptr<Allocation>> allocations; ///< by address
  std::vector<std::shared_ptr<Capture>> captures;
  std::map<std::pair<Context *, std::thread::id>, std::shared_ptr<Stream>> perThread;
};

/// The nth call of something from now, and what it answers.
struct Planned {
  unsigned left = 0; ///< 0: none
  CUresult result = 0;
  bool isDue() { return left && --left == 0; }
};

struct State {
  std::mutex mutex;                ///< of everything here
  std::condition_variable changed; ///< a piece of work has ended
  std::mutex engine;               ///< held while work touches memory; never taken under `mutex`

  Settings settings = Settings::ofEnvironment();
  World world;
  std::unordered_map<std::string, fake_cuda_kernel> twins; ///< by symbol
  bool launchNothing = false, reusesContexts = false;
  std::atomic<uint64_t> seed = 1;
  std::array<uint64_t, size_t(Function::COUNT)> calls{};
  std::array<Planned, size_t(Function::COUNT)> failures{};
  Planned launchFault;
  fake_cuda_counts counts{};
  std::vector<std::string> violations;

  static State &get();
};

inline World &world() { return State::get().world; }

/// What a thread has of its own.
struct Thread {
  std::vector<CUcontext> contexts; ///< the current one last
  int captureMode = CaptureMode::GLOBAL;
  bool isInHostFunction = false;
  static Thread &get();
};

/// First line of every function. Counts the call, takes the lock and finds the current context.
class Call {
public:
  enum Need { NOTHING, INIT, CONTEXT };
  Call(Function function, Need need);

  CUresult refused = 0;       ///< what the call must answer at once
  Context *context = nullptr; ///< current and sound, where needed
  Lock lock;

  /// For calls that a capture may forbid: an error invalidates the captures that forbid it.
  CUresult unsafe();

private:
  CUresult admit(Function function, Need need);
};

/// The current context's error for CONTEXT; null contexts are errors too.
CUresult soundness(const Context *context);

#define FAKE_CALL(function, need)                                                                  \
  Call call(Function::function, Call::need);                                                       \
  if (call.refused)                                                                                \
  return call.refused

} // namespace fw::driver::fake
