// What the handles of the driver stand for. Guarded by State::mutex except where a comment says so.
#pragma once

#include "tests/driver/fake/Control.h"
#include "tests/driver/fake/Extra.h"
#include "tests/driver/fake/Image.h"

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace fw::driver::fake {

struct Stream;
struct Op;

struct Context {
  CUcontext handle = nullptr;
  unsigned long long id = 0; ///< never given again, even where the handle is
  int device = 0;
  bool isPrimary = false;
  unsigned retained = 0; ///< of a primary one
  bool isAlive = true;
  CUresult broken = 0; ///< an error of executed work; every later call answers it
  std::shared_ptr<Stream> legacy;
  /// With the legacy one; a destroyed stream stays until its work has ended.
  std::vector<std::shared_ptr<Stream>> streams;
};

/// Host memory between two guards, filled with NaN. AddressSanitizer, where the program has it,
/// sees device memory as forbidden except while work of its context runs.
class Allocation {
public:
  Allocation(Context *context, size_t bytes, bool isOnHost);
  Allocation(const Allocation &) = delete;
  ~Allocation();

  uint64_t address() const { return reinterpret_cast<uint64_t>(data()); }
  bool holds(uint64_t first, size_t count) const;
  bool mendGuards() const; ///< whether something had written there
  void allow() const;      ///< device memory may be touched from here on
  void forbid() const;

  Context *const context;
  const size_t bytes;
  const bool isOnHost; ///< page-locked host memory

private:
  std::byte *data() const;
  size_t total() const;
  std::byte *base;
};

struct Library {
  CUlibrary handle = nullptr;
  Image image;
  bool isAlive = true;
};

struct Kernel {
  CUkernel handle = nullptr;
  std::string symbol;
  /// What its symbol stood for when it was found: programs that differ in options share symbols.
  std::optional<fake_cuda_kernel> twin = {};
  std::shared_ptr<Library> library;
  std::map<Context *, CUfunction> functions;
};

/// A kernel in one context. With lazy loading its code comes to the device later.
struct LoadedFunction {
  CUfunction handle = nullptr;
  std::shared_ptr<Kernel> kernel;
  Context *context = nullptr;
  bool isLoaded = false;
};

/// What one piece of queued work does.
struct Work {
  enum class Kind { MARK, MEMORY, KERNEL, HOST };
  Kind kind = Kind::MARK;
  /// Runs without State::mutex. What went wrong, empty: nothing.
  std::function<std::string()> run;
  /// Device memory that must exist when it runs.
  std::vector<std::pair<uint64_t, size_t>> ranges;
  std::shared_ptr<LoadedFunction> function; ///< of a kernel
};

struct Op {
  enum class State { QUEUED, RUNNING, DONE };
  State state = State::QUEUED;
  Work work;
  std::shared_ptr<Stream> stream;         ///< it comes behind what the stream's queue has before it
  std::vector<std::shared_ptr<Op>> after; ///< and behind these
  std::chrono::steady_clock::time_point end;
};

struct Node {
  Work work;
  std::vector<size_t> after;
};

/// Between cuStreamBeginCapture and cuStreamEndCapture.
struct Capture {
  int mode = CaptureMode::GLOBAL;
  std::thread::id thread;
  std::shared_ptr<Stream> origin;
  bool isInvalid = false;
  std::vector<Node> nodes;
};

struct Stream {
  CUstream handle = nullptr; ///< null: legacy, or of a thread
  Context *context = nullptr;
  bool isLegacy = false;
  bool isBlocking = true; ///< waits for the legacy stream and it for us
  bool isAlive = true;
  std::deque<std::shared_ptr<Op>> queue;
  std::shared_ptr<Capture> capture; ///< that records it now
  std::vector<size_t> tail;         ///< nodes that its next node comes after
};

struct Event {
  CUevent handle = nullptr;
  Context *context = nullptr;
  bool hasTiming = true;
  std::shared_ptr<Op> record;
  std::weak_ptr<Capture> capture; ///< that recorded it last
  std::vector<size_t> tail;
};

struct Graph {
  CUgraph handle = nullptr;
  Context *context = nullptr;
  std::vector<Work> nodes;
};

struct GraphExec {
  CUgraphExec handle = nullptr;
  Context *context = nullptr;
  std::vector<Work> nodes;
  std::shared_ptr<Op> last; ///< two launches of one do not overlap
};

} // namespace fw::driver::fake
