// Memory, then the layers of folders, then the producer. Safe among threads and
// processes; no fault of a folder ever fails a compile.
#pragma once

#include "compiler/jit/CacheFolder.h"
#include "compiler/jit/Report.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace fw::jit {

/// What happened so far, per kind of entry.
struct CacheCounters {
  uint64_t memoryHits = 0;
  uint64_t diskHits = 0;
  uint64_t compiles = 0; ///< calls of a producer
  uint64_t waits = 0;    ///< for another thread or process that was producing the same key
  uint64_t faults = 0;   ///< of folders and files, told or not
};

struct CacheOptions {
  std::vector<FolderChoice>
      folders; ///< the first usable one is the user's folder; none: memory only
  std::vector<std::string> readOnlyFolders; ///< asked after the user's, in this order
  CacheFolder::Options folder;
  std::chrono::milliseconds patience{60000};
  bool strict = false;
  Reporter reporter; ///< told of every compile and wait (info) and of every fault
};

/// Folders, sizes and strictness from the settings.
CacheOptions cacheOptions(const Settings &settings,
                          const Environment &environment = processEnvironment());

class Cache {
public:
  explicit Cache(CacheOptions options);
  ~Cache();

  /// Makes an entry; called without any lock of this process held, by one thread per key.
  using Producer = std::function<Result<Entry>()>;

  /// What an entry that is found is good for; asked without any lock of this process held.
  using Check = std::function<bool(const Entry &)>;

  struct Wanted {
    EntryKind kind;
    const std::string &key;
    const std::string &description; ///< in words, for logs and strict mode
  };

  /// From memory, disk or `produce`. At most one thread and, where locks work, one process per host
  /// produces a key; the others wait for it, but not longer than the patience. In strict mode
  /// machine code that is missing is STRICT_MISS with the description; a program record may be made
  /// anew, since the kernels outlive it when the library is upgraded.
  /// An entry that `isUsable` refuses counts as missing: what is produced takes its place in memory
  /// and on disk.
  Result<EntryPtr> get(const Wanted &wanted, const Producer &produce, const Check &isUsable = {});

  /// From memory or disk, or null.
  EntryPtr find(EntryKind kind, const std::string &key);

  /// From disk or null, for those who look at the cache: nothing counts as used, nothing is told.
  EntryPtr peek(EntryKind kind, const std::string &key);

  CacheCounters counters(EntryKind kind) const;

  /// The user's folder, opened by the first question; null when there is none.
  CacheFolder *folder();

  /// The entries of all layers, for `cache ls`.
  std::vector<CacheListing> list();

  bool isStrict() const { return options.strict; }

private:
  /// A key that is being looked up or produced by one thread while others wait.
  struct Flight {
    std::optional<Result<EntryPtr>> result; ///< this or `raised`; read by others once it has landed
    std::exception_ptr raised;
    std::mutex mutex;
    std::condition_variable landed;
    bool hasLanded = false;
  };
  struct Slot {
    EntryPtr entry; ///< with a flight beside it: one that was of no use
    std::shared_ptr<Flight> flight;
  };
  struct AtomicCounters {
    std::atomic<uint64_t> memoryHits, diskHits, compiles, waits, faults;
  };
  struct Shelf {                     ///< one per kind
    mutable std::shared_mutex mutex; ///< held for look-ups only, never while a file is read or made
    std::unordered_map<std::string, Slot> slots;
    AtomicCounters counters{};
  };
  /// An entry, or a flight to wait for or to fly.
  struct Boarding {
    EntryPtr entry = nullptr;
    std::shared_ptr<Flight> flight = nullptr;
    bool isMine = false;
  };

  EntryPtr fromMemory(Shelf &shelf, const std::string &key);
  EntryPtr fromDisk(EntryKind kind, const std::string &key, const Check &isUsable = {});
  Boarding board(Shelf &shelf, const std::string &key, const EntryPtr &unusable);
  Result<EntryPtr> fly(const Wanted &wanted, const Producer &produce, const Check &isUsable,
                       Flight &flight);
  void land(Shelf &shelf, const std::string &key, Flight &flight) noexcept;
  Result<EntryPtr> wait(Shelf &shelf, Flight &flight);
  Result<EntryPtr> load(const Wanted &wanted, const Producer &produce, const Check &isUsable);
  Result<EntryPtr> make(const Wanted &wanted, const Producer &produce);
  bool acquire(EntryKind kind, class FileLock &lock, const std::string &description);
  void openLayers();
  void openUserFolder();
  void openReadOnlyFolders();
  std::string places() const;
  void tell(EntryKind kind, const CacheFailure &failure);

  CacheOptions options;
  std::once_flag opened;
  std::vector<std::unique_ptr<CacheLayer>> layers; ///< asked in this order
  CacheFolder *userFolder = nullptr;               ///< the layer that is written, if there is one
  std::array<Shelf, size_t(EntryKind::count)> shelves;
};

} // namespace fw::jit
