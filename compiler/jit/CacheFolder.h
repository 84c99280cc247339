// One folder of entries on disk.
#pragma once

#include "compiler/jit/CacheFaults.h"
#include "compiler/jit/CacheFile.h"
#include "compiler/jit/Files.h"
#include "compiler/jit/Knobs.h"

#include <atomic>
#include <ctime>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <variant>
#include <vector>

namespace fw::jit {

/// Found, absent (neither) or failed.
struct CacheRead {
  EntryPtr entry;
  std::optional<CacheFailure> failure;
};

struct CacheListing {
  EntryKind kind;
  std::string key;
  std::string path;
  uint64_t bytes;
  time_t used; ///< last written, or read by a process about an hour later or more
};

/// A place of entries, asked after memory and in the order of the list. Folders are one kind, packs
/// another.
class CacheLayer {
public:
  virtual ~CacheLayer() = default;

  /// Whether a read counts as a use, which keeps an entry from being removed early.
  enum class Purpose { Use, Look };
  virtual CacheRead read(EntryKind kind, const std::string &key, Purpose purpose) const = 0;
  virtual std::vector<CacheListing> list() const = 0;
  virtual std::string place() const = 0;
};

class CacheFolder final : public CacheLayer {
public:
  struct Options {
    bool share = false;     ///< a group's folder: existing modes are kept, files of others trusted
    bool followRoot = true; ///< a link is followed for the folder itself, never inside it
    bool readOnly = false;  ///< neither made nor touched; nobody writes to it through this object
    uint64_t maxBytes = uint64_t(2) << 30;
    Files *files = nullptr; ///< must outlive the folder; null for the system's own calls
  };

  /// Makes the folder where it is missing, unless it is to be read only, and checks owner and mode.
  static std::variant<std::unique_ptr<CacheFolder>, CacheFailure> open(const std::string &path,
                                                                       Options options);

  CacheRead read(EntryKind kind, const std::string &key, Purpose purpose) const override;
  std::vector<CacheListing> list() const override;
  std::string place() const override { return root; }

  /// Stages the bytes under a private name and renames; readers see the whole entry or none.
  std::optional<CacheFailure> write(EntryKind kind, const std::string &key, const Entry &entry);

  /// Makes the folder of a kind, for entries and for their locks; a failure shows in the next
  /// write.
  bool prepare(EntryKind kind) const;

  std::string lockPath(EntryKind kind, const std::string &key) const;
  mode_t fileMode() const;
  Files &files() const { return *options.files; }
  /// Whether this user can make entries here now.
  bool isWritable() const;

  /// Removes the oldest entries until `bytes` remain, and what killed processes left behind.
  /// Returns the number of bytes freed.
  uint64_t trim(uint64_t bytes);

  /// The entries that trim() or a user would remove so that at most `bytes` remain, none of them
  /// used before `since`; oldest first.
  std::vector<CacheListing> excess(uint64_t bytes, time_t since = 0) const;

  /// Removes an entry of list(). Whoever reads it now still sees it whole. False: another process
  /// was faster.
  std::variant<bool, CacheFailure> remove(const CacheListing &entry);

  static constexpr time_t kHour = 3600;
  /// Removes what killed processes left: locks of `age` seconds or more that nobody holds, and
  /// staged files of processes of this host that are gone, or an hour old.
  void removeLeftovers(time_t age = kHour);

private:
  CacheFolder(std::string root, Options options, mode_t mode)
      : root(std::move(root)), options(options), rootMode(mode) {}
  std::string entryPath(EntryKind kind, const std::string &key) const;
  std::string stagingFolder() const;
  bool isTrusted(const struct stat &facts) const;
  std::string kindPath(EntryKind kind) const;
  std::optional<CacheFailure> distrust(EntryKind kind) const;
  bool makeFolder(const std::string &path, mode_t mode) const;
  std::optional<CacheFailure> stage(const std::string &staged, std::string_view bytes,
                                    bool durable);
  std::optional<CacheFailure> publish(const std::string &staged, const std::string &path,
                                      EntryKind kind);
  void account(uint64_t written);

  std::string root;
  Options options;
  mode_t rootMode;
  std::atomic<uint64_t> writtenSinceTrim{
      UINT64_MAX}; ///< the first write looks at the folder's size
};

/// The folders to try, in order, and whether an unusable one is the user's explicit wish.
struct FolderChoice {
  std::string path;
  bool explicitly; ///< from the setting: no other folder is tried behind it
  bool followRoot; ///< a folder under the shared temporary one must not be a link
  bool isTemporary;
};
std::vector<FolderChoice> folderChoices(const Settings &settings, const Environment &environment,
                                        unsigned user);

} // namespace fw::jit
