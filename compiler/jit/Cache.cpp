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

/// Ends a flight with the result or, should the producer throw, with an error. For whoever asks
/// meanwhile, the key is in flight or landed, never neither: nobody makes it a second time.
class Cache::Landing {
public:
  Landing(Shelf &shelf, const std::string &key, Flight &flight)
      : shelf(shelf), key(key), flight(flight) {}
  ~Landing() {
    std::scoped_lock guard(shelf.mutex, flight.mutex);
    if (*result)
      shelf.entries.emplace(key, **result);
    flight.result = std::move(result);
    flight.landed.notify_all();
    shelf.flights.erase(key);
  }
  std::optional<Result<EntryPtr>> result =
      Result<EntryPtr>(Error{.text = "expected a kernel, got an exception"});

private:
  Shelf &shelf;
  const std::string &key;
  Flight &flight;
};

EntryPtr Cache::fromMemory(Shelf &shelf, const std::string &key) {
  std::shared_lock guard(shelf.mutex);
  auto found = shelf.entries.find(key);
  if (found == shelf.entries.end())
    return nullptr;
  shelf.counters.memoryHits.fetch_add(1, std::memory_order_relaxed);
  return found->second;
}

Result<EntryPtr> Cache::get(EntryKind kind, const std::string &key, const std::string &description,
                            const Producer &produce) {
  Shelf &shelf = shelves[size_t(kind)];
  if (EntryPtr entry = fromMemory(shelf, key))
    return entry;

  std::shared_ptr<Flight> flight;
  bool mine = false;
  {
    std::unique_lock guard(shelf.mutex);
    if (auto found = shelf.entries.find(key); found != shelf.entries.end())
      return found->second;
    std::shared_ptr<Flight> &place = shelf.flights[key];
    mine = !place;
    if (mine)
      place = std::make_shared<Flight>();
    flight = place;
  }
  if (!mine)
    return wait(shelf, *flight);

  Landing landing(shelf, key, *flight);
  landing.result = load(kind, key, description, produce);
  return *landing.result;
}

Result<EntryPtr> Cache::wait(Shelf &shelf, Flight &flight) {
  shelf.counters.waits.fetch_add(1, std::memory_order_relaxed);
  std::unique_lock guard(flight.mutex);
  flight.landed.wait(guard, [&] { return flight.result.has_value(); });
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
  return shelf.entries.emplace(key, entry).first->second;
}

EntryPtr Cache::peek(EntryKind kind, const std::string &key) {
  std::call_once(opened, [this] { openLayers(); });
  for (const std::unique_ptr<CacheLayer> &layer : layers)
    if (EntryPtr entry = layer->read(kind, key, CacheLayer::Purpose::Look).entry)
      return entry;
  return nullptr;
}

EntryPtr Cache::fromDisk(EntryKind kind, const std::string &key) {
  std::call_once(opened, [this] { openLayers(); });
  for (const std::unique_ptr<CacheLayer> &layer : layers) {
    CacheRead read = layer->read(kind, key, CacheLayer::Purpose::Use);
    if (read.failure)
      tell(kind, *read.failure);
    if (!read.entry)
      continue;
    shelves[size_t(kind)].counters.diskHits.fetch_add(1, std::memory_order_relaxed);
    return read.entry;
  }
  return nullptr;
}

Result<EntryPtr> Cache::load(EntryKind kind, const std::string &key, const std::string &description,
                             const Producer &produce) {
  if (EntryPtr entry = fromDisk(kind, key))
    return entry;
  if (options.strict && isCode(kind))
    return Error{.code = Code::STRICT_MISS,
                 .text = "expected " + description +
                         " in a kernel cache (strict mode), got none in " + places(),
                 .remedy =
                     "precompile it, add the folder or pack that holds it, or leave strict mode",
                 .log = std::string(folderOf(kind)) + "/" + key + suffixOf(kind)};
  if (!userFolder)
    return make(kind, key, description, produce);

  FileLock lock(userFolder->files(), userFolder->lockPath(kind, key), userFolder->fileMode());
  if (acquire(kind, lock, description))
    if (EntryPtr entry = fromDisk(kind, key)) // the last owner of the lock has made it
      return entry;
  return make(kind, key, description, produce);
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

Result<EntryPtr> Cache::make(EntryKind kind, const std::string &key, const std::string &description,
                             const Producer &produce) {
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

void Cache::openLayers() {
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
