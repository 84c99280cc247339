#include "compiler/jit/Cache.h"

#include "compiler/jit/FileLock.h"

#include <unistd.h>

namespace fw::jit {

CacheOptions cacheOptions(const Settings &settings, const Environment &environment) {
  CacheOptions options;
  options.folder.share = settings.flag(Knob::cache_share);
  options.folder.maxBytes = uint64_t(settings.number(Knob::cache_size));
  options.patience = std::chrono::seconds(settings.number(Knob::cache_wait));
  options.strict = settings.flag(Knob::strict);
  options.reporter = Reporter(standardErrorSink(int(settings.number(Knob::log))));
  if (options.folder.maxBytes > 0)
    options.folders = folderChoices(settings, environment, ::geteuid());
  options.readOnlyFolders = settings.paths(Knob::cache_read_only);
  return options;
}

Cache::Cache(CacheOptions options) : options(std::move(options)) {}
Cache::~Cache() = default;

EntryPtr Cache::fromMemory(Shelf &shelf, const std::string &key) {
  std::shared_lock guard(shelf.mutex);
  auto found = shelf.slots.find(key);
  if (found == shelf.slots.end() || !found->second.entry)
    return nullptr;
  shelf.counters.memoryHits.fetch_add(1, std::memory_order_relaxed);
  return found->second.entry;
}

/// The entry of the key, unless it is `unusable`; else the flight that makes it, begun where nobody
/// has. All that the landing needs is made before others can see the flight.
Cache::Boarding Cache::board(Shelf &shelf, const std::string &key, const EntryPtr &unusable) {
  auto fresh = std::make_shared<Flight>();
  std::unique_lock guard(shelf.mutex);
  Slot &slot = shelf.slots[key];
  if (slot.entry && slot.entry != unusable)
    return {.entry = slot.entry};
  if (slot.flight)
    return {.flight = slot.flight};
  slot.flight = std::move(fresh);
  return {.flight = slot.flight, .isMine = true};
}

/// Ends a flight with what stands in it. For whoever asks meanwhile, the key is in flight or
/// landed, never neither: nobody makes it a second time. Needs no memory.
void Cache::land(Shelf &shelf, const std::string &key, Flight &flight) noexcept {
  std::unique_lock guard(shelf.mutex);
  auto slot = shelf.slots.find(key);
  slot->second.flight.reset();
  if (flight.result && *flight.result)
    slot->second.entry = **flight.result;
  if (!slot->second.entry)
    shelf.slots.erase(slot);
  std::lock_guard landing(flight.mutex);
  flight.hasLanded = true;
  flight.landed.notify_all();
}

Result<EntryPtr> Cache::get(const Wanted &wanted, const Producer &produce, const Check &isUsable) {
  Shelf &shelf = shelves[size_t(wanted.kind)];
  EntryPtr unusable;
  if (EntryPtr entry = fromMemory(shelf, wanted.key)) {
    if (!isUsable || isUsable(*entry))
      return entry;
    unusable = std::move(entry);
  }
  while (true) {
    Boarding boarding = board(shelf, wanted.key, unusable);
    if (boarding.isMine)
      return fly(wanted, produce, isUsable, *boarding.flight);
    Result<EntryPtr> others =
        boarding.flight ? wait(shelf, *boarding.flight) : Result<EntryPtr>(boarding.entry);
    if (!others || !isUsable || isUsable(**others))
      return others;
    unusable = *others;
  }
}

/// Those who wait get what this thread gets: the entry, the error or the exception.
Result<EntryPtr> Cache::fly(const Wanted &wanted, const Producer &produce, const Check &isUsable,
                            Flight &flight) {
  Shelf &shelf = shelves[size_t(wanted.kind)];
  try {
    flight.result = load(wanted, produce, isUsable);
  } catch (...) {
    flight.raised = std::current_exception();
    land(shelf, wanted.key, flight);
    throw;
  }
  land(shelf, wanted.key, flight);
  return *flight.result;
}

Result<EntryPtr> Cache::wait(Shelf &shelf, Flight &flight) {
  shelf.counters.waits.fetch_add(1, std::memory_order_relaxed);
  std::unique_lock guard(flight.mutex);
  flight.landed.wait(guard, [&] { return flight.hasLanded; });
  if (flight.raised)
    std::rethrow_exception(flight.raised);
  return *flight.result;
}

EntryPtr Cache::find(EntryKind kind, const std::string &key) {
  Shelf &shelf = shelves[size_t(kind)];
  if (EntryPtr entry = fromMemory(shelf, key))
    return entry;
  EntryPtr entry = fromDisk(kind, key);
  if (!entry)
    return nullptr;
  std::unique_lock guard(shelf.mutex);
  EntryPtr &kept = shelf.slots[key].entry;
  if (!kept)
    kept = entry;
  return kept;
}

EntryPtr Cache::peek(EntryKind kind, const std::string &key) {
  std::call_once(opened, [this] { openLayers(); });
  for (const std::unique_ptr<CacheLayer> &layer : layers)
    if (EntryPtr entry = layer->read(kind, key, CacheLayer::Purpose::Look).entry)
      return entry;
  return nullptr;
}

EntryPtr Cache::fromDisk(EntryKind kind, const std::string &key, const Check &isUsable) {
  std::call_once(opened, [this] { openLayers(); });
  for (const std::unique_ptr<CacheLayer> &layer : layers) {
    CacheRead read = layer->read(kind, key, CacheLayer::Purpose::Use);
    if (read.failure)
      tell(kind, *read.failure);
    if (!read.entry || (isUsable && !isUsable(*read.entry)))
      continue;
    shelves[size_t(kind)].counters.diskHits.fetch_add(1, std::memory_order_relaxed);
    return read.entry;
  }
  return nullptr;
}

Result<EntryPtr> Cache::load(const Wanted &wanted, const Producer &produce, const Check &isUsable) {
  const auto &[kind, key, description] = wanted;
  if (EntryPtr entry = fromDisk(kind, key, isUsable))
    return entry;
  if (options.strict && isCode(kind))
    return Error{.code = Code::STRICT_MISS,
                 .text = "expected " + description +
                         " in a kernel cache (strict mode), got none in " + places(),
                 .remedy =
                     "precompile it, add the folder or pack that holds it, or leave strict mode",
                 .log = std::string(folderOf(kind)) + "/" + key + suffixOf(kind)};
  if (!userFolder)
    return make(wanted, produce);

  FileLock lock(userFolder->files(), userFolder->lockPath(kind, key), userFolder->fileMode());
  if (acquire(kind, lock, description))
    if (EntryPtr entry = fromDisk(kind, key, isUsable)) // the last owner of the lock has made it
      return entry;
  return make(wanted, produce);
}

/// True when somebody else may have made the entry since we looked. False where there are no locks.
bool Cache::acquire(EntryKind kind, FileLock &lock, const std::string &description) {
  userFolder->prepare(kind);
  FileLock::Outcome outcome = lock.acquire(options.patience, [&] {
    options.reporter.say(Severity::Info, "waiting for another process that makes " + description);
  });
  if (outcome == FileLock::Outcome::HeldAfterWait || outcome == FileLock::Outcome::TimedOut)
    shelves[size_t(kind)].counters.waits.fetch_add(1, std::memory_order_relaxed);
  if (outcome == FileLock::Outcome::TimedOut)
    tell(kind, {CacheFault::SlowPeer, std::to_string(options.patience.count() / 1000) + " s"});
  if (outcome == FileLock::Outcome::Unavailable)
    tell(kind, lockFailure(userFolder->place(), lock.fault()));
  return outcome != FileLock::Outcome::Unavailable;
}

Result<EntryPtr> Cache::make(const Wanted &wanted, const Producer &produce) {
  const auto &[kind, key, description] = wanted;
  if (isCode(kind))
    options.reporter.say(Severity::Info, "compiling " + description);
  shelves[size_t(kind)].counters.compiles.fetch_add(1, std::memory_order_relaxed);
  Result<Entry> made = produce();
  if (!made)
    return made.takeError();
  EntryPtr entry = std::make_shared<const Entry>(std::move(*made));
  if (userFolder)
    if (std::optional<CacheFailure> failure = userFolder->write(kind, key, *entry))
      tell(kind, *failure);
  return entry;
}

CacheCounters Cache::counters(EntryKind kind) const {
  const AtomicCounters &counters = shelves[size_t(kind)].counters;
  return {counters.memoryHits, counters.diskHits, counters.compiles, counters.waits,
          counters.faults};
}

CacheFolder *Cache::folder() {
  std::call_once(opened, [this] { openLayers(); });
  return userFolder;
}

std::vector<CacheListing> Cache::list() {
  std::call_once(opened, [this] { openLayers(); });
  std::vector<CacheListing> listing;
  for (const std::unique_ptr<CacheLayer> &layer : layers) {
    std::vector<CacheListing> more = layer->list();
    listing.insert(listing.end(), more.begin(), more.end());
  }
  return listing;
}

/// Called again where the first call found no memory.
void Cache::openLayers() {
  userFolder = nullptr;
  layers.clear();
  openUserFolder();
  openReadOnlyFolders();
}

/// Where entries are looked for on disk, the user's folder first.
std::string Cache::places() const {
  std::string out;
  for (const std::unique_ptr<CacheLayer> &layer : layers)
    out += (out.empty() ? "" : ", ") + layer->place();
  return out.empty() ? "memory" : out;
}

void Cache::openReadOnlyFolders() {
  CacheFolder::Options wanted = options.folder;
  wanted.readOnly = true;
  for (const std::string &path : options.readOnlyFolders) {
    auto folder = CacheFolder::open(path, wanted);
    if (auto *failure = std::get_if<CacheFailure>(&folder))
      tell(EntryKind::Kernel, *failure);
    else
      layers.push_back(std::move(std::get<0>(folder)));
  }
}

/// One warning at most: about the last folder tried, or about the temporary one that is used in the
/// end.
void Cache::openUserFolder() {
  std::optional<CacheFailure> last;
  for (const FolderChoice &choice : options.folders) {
    CacheFolder::Options wanted = options.folder;
    wanted.followRoot = choice.followRoot;
    auto folder = CacheFolder::open(choice.path, wanted);
    if (auto *failure = std::get_if<CacheFailure>(&folder)) {
      last = *failure;
      continue;
    }
    userFolder = std::get<0>(folder).get();
    layers.push_back(std::move(std::get<0>(folder)));
    if (choice.isTemporary)
      options.reporter.sayOnce(Severity::Warning, "TemporaryFolder",
                               "the kernel cache is in " + choice.path + " (" +
                                   (last ? last->detail : "there is no home folder") +
                                   "); set FUSEWRIGHT_CACHE_DIR to keep kernels elsewhere");
    return;
  }
  if (last)
    tell(EntryKind::Kernel, *last);
}

void Cache::tell(EntryKind kind, const CacheFailure &failure) {
  shelves[size_t(kind)].counters.faults.fetch_add(1, std::memory_order_relaxed);
  options.reporter.sayOnce(Severity::Warning, causeName(failure.fault), render(failure));
}

} // namespace fw::jit
