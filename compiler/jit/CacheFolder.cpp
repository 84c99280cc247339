#include "compiler/jit/CacheFolder.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fw::jit {
namespace {

/// Reads a file of known length; false when it changed under us or cannot be read.
bool readWhole(int file, std::string &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t count = ::read(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    done += size_t(count);
  }
  return true;
}

Files &systemFiles() {
  static Files files;
  return files;
}

std::string realPath(const std::string &path) {
  char real[PATH_MAX];
  return ::realpath(path.c_str(), real) ? real : path;
}

bool makeParents(const std::string &path) {
  for (size_t slash = path.find('/', 1); slash != path.npos; slash = path.find('/', slash + 1))
    if (::mkdir(path.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST && errno != EROFS &&
        errno != EACCES)
      return false;
  return true;
}

} // namespace

std::variant<std::unique_ptr<CacheFolder>, CacheFailure> CacheFolder::open(const std::string &path,
                                                                           Options options) {
  if (!options.files)
    options.files = &systemFiles();
  bool isMissing = !options.readOnly &&
                   (!makeParents(path) || (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST));
  if (isMissing)
    return CacheFailure{CacheFault::Unwritable, path + ": " + systemText(errno)};

  std::string root = options.followRoot ? realPath(path) : path;
  auto failure = [&](CacheFault fault, const std::string &why) {
    return CacheFailure{options.readOnly ? CacheFault::NoReadOnly : fault, root + ": " + why};
  };
  struct stat facts;
  if (::lstat(root.c_str(), &facts) != 0)
    return failure(CacheFault::NoFolder, systemText(errno));
  std::unique_ptr<CacheFolder> folder(new CacheFolder(root, options, facts.st_mode & 07777));
  if (!S_ISDIR(facts.st_mode))
    return failure(CacheFault::Untrusted, "not a folder");
  if (!folder->isTrusted(facts))
    return failure(CacheFault::Untrusted, "others can write to it or own it");
  return folder;
}

/// Code is run from here, so nobody but this user and root may have written it; a group may where
/// it is shared.
bool CacheFolder::isTrusted(const struct stat &facts) const {
  if (facts.st_mode & S_IWOTH)
    return false;
  if (options.share)
    return true;
  return (facts.st_uid == ::geteuid() || facts.st_uid == 0) && !(facts.st_mode & S_IWGRP);
}

bool CacheFolder::isWritable() const { return ::access(root.c_str(), W_OK) == 0; }

/// Whoever can write to the folder of a kind can put any file in the place of an entry. A folder
/// that is missing is no fault.
std::optional<CacheFailure> CacheFolder::distrust(EntryKind kind) const {
  struct stat facts;
  if (::lstat(kindPath(kind).c_str(), &facts) != 0 || (S_ISDIR(facts.st_mode) && isTrusted(facts)))
    return std::nullopt;
  return CacheFailure{CacheFault::Untrusted,
                      kindPath(kind) + (S_ISDIR(facts.st_mode)
                                            ? ": others can write to it or own it"
                                            : ": not a folder")};
}

std::string CacheFolder::kindPath(EntryKind kind) const { return root + "/" + folderOf(kind); }
std::string CacheFolder::entryPath(EntryKind kind, const std::string &key) const {
  return kindPath(kind) + "/" + key + suffixOf(kind);
}
std::string CacheFolder::lockPath(EntryKind kind, const std::string &key) const {
  return kindPath(kind) + "/" + key + ".lock";
}
std::string CacheFolder::stagingFolder() const {
  return root + "/.staging-" + std::to_string(::geteuid());
}

/// A shared folder's files are as open as the folder itself; others are private.
mode_t CacheFolder::fileMode() const { return options.share ? rootMode & 0666 : 0600; }

CacheRead CacheFolder::read(EntryKind kind, const std::string &key, Purpose purpose) const {
  if (std::optional<CacheFailure> failure = distrust(kind))
    return {nullptr, failure};
  std::string path = entryPath(kind, key);
  FileHandle file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file && (errno == ENOENT || errno == ENOTDIR))
    return {};
  if (!file && errno == ELOOP)
    return {nullptr, CacheFailure{CacheFault::Untrusted, path + ": a link"}};
  struct stat facts;
  if (!file || ::fstat(file.get(), &facts) != 0)
    return {nullptr, CacheFailure{CacheFault::Unreadable, path + ": " + systemText(errno)}};
  if (!S_ISREG(facts.st_mode) || !isTrusted(facts))
    return {nullptr,
            CacheFailure{CacheFault::Untrusted, path + ": others can write to it or own it"}};
  if (uint64_t(facts.st_size) > maxEntryBytes)
    return {nullptr, CacheFailure{CacheFault::Damaged,
                                  path + ": " + std::to_string(facts.st_size) + " bytes"}};

  std::string bytes(size_t(facts.st_size), '\0');
  if (!readWhole(file.get(), bytes))
    return {nullptr, CacheFailure{CacheFault::Unreadable, path + ": " + systemText(errno)}};
  if (isOfOtherFormat(bytes))
    return {};
  Result<Entry> entry = decodeEntry(bytes, kind, key);
  if (!entry)
    return {nullptr, CacheFailure{CacheFault::Damaged, path + ": " + entry.error().text}};
  // Used lately: removed late. A failure only makes it look older.
  if (purpose == Purpose::Use && !options.readOnly && ::time(nullptr) - facts.st_mtime > kHour)
    ::futimens(file.get(), nullptr);
  return {std::make_shared<const Entry>(std::move(*entry)), std::nullopt};
}

bool CacheFolder::makeFolder(const std::string &path, mode_t mode) const {
  if (::mkdir(path.c_str(), mode & 0777) == 0)
    return ::chmod(path.c_str(), mode) == 0; // past the umask, and with the set-group bit
  struct stat facts;
  return errno == EEXIST && ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
         isTrusted(facts);
}

/// `durable` files survive a power cut. Others that do not are found damaged and made anew: cheaper
/// for records.
std::optional<CacheFailure> CacheFolder::stage(const std::string &staged, std::string_view bytes,
                                               bool durable) {
  FileHandle file(
      ::open(staged.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file)
    return writeFailure(staged, errno);
  for (size_t done = 0; done < bytes.size();) {
    ssize_t count = files().write(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return writeFailure(staged, count < 0 ? errno : ENOSPC);
    done += size_t(count);
  }
  if (::fchmod(file.get(), fileMode()) != 0 || (durable && files().sync(file.get()) != 0))
    return writeFailure(staged, errno);
  return std::nullopt;
}

bool CacheFolder::prepare(EntryKind kind) const {
  return makeFolder(kindPath(kind), options.share ? rootMode : 0700);
}

std::optional<CacheFailure> CacheFolder::publish(const std::string &staged, const std::string &path,
                                                 EntryKind kind) {
  if (files().rename(staged.c_str(), path.c_str()) == 0)
    return std::nullopt;
  if (errno != ENOENT)
    return writeFailure(path, errno);
  prepare(kind); // somebody emptied the cache
  if (files().rename(staged.c_str(), path.c_str()) == 0)
    return std::nullopt;
  return writeFailure(path, errno);
}

std::optional<CacheFailure> CacheFolder::write(EntryKind kind, const std::string &key,
                                               const Entry &entry) {
  std::string bytes = encodeEntry(entry, kind, key);
  if (bytes.size() > options.maxBytes)
    return std::nullopt; // by the user's wish, not a fault
  if (std::optional<CacheFailure> failure = distrust(kind))
    return failure;
  if (!makeFolder(stagingFolder(), 0700) || !prepare(kind))
    return writeFailure(root, errno);

  std::string staged = stagingFolder() + "/" + freshStagingName();
  std::optional<CacheFailure> failure = stage(staged, bytes, isCode(kind));
  if (!failure)
    failure = publish(staged, entryPath(kind, key), kind);
  if (failure)
    files().unlink(staged.c_str()); // busy or gone: a later trim() takes it (CASES N05)
  else
    account(bytes.size());
  return failure;
}

/// Looks at the whole folder only now and then: scanning costs a call per entry.
void CacheFolder::account(uint64_t written) {
  uint64_t before = writtenSinceTrim.load();
  uint64_t after = before == UINT64_MAX ? before : before + written;
  if (after < options.maxBytes / 16) {
    writtenSinceTrim = after;
    return;
  }
  writtenSinceTrim = 0;
  trim(options.maxBytes);
}

std::vector<FolderChoice> folderChoices(const Settings &settings, const Environment &environment,
                                        unsigned user) {
  if (const std::string &path = settings.text(Knob::cache_dir); !path.empty())
    return {{path, true, true, false}};
  auto variable = [&](const char *name) {
    const char *value = environment(name);
    return std::string(value && value[0] == '/'
                           ? value
                           : ""); // a relative path would depend on the current folder
  };
  std::vector<FolderChoice> choices;
  if (std::string cache = variable("XDG_CACHE_HOME"); !cache.empty())
    choices.push_back({cache + "/fusewright", false, true, false});
  else if (std::string home = variable("HOME"); !home.empty())
    choices.push_back({home + "/.cache/fusewright", false, true, false});
  std::string temporary = variable("TMPDIR");
  choices.push_back(
      {(temporary.empty() ? "/tmp" : temporary) + "/fusewright-" + std::to_string(user), false,
       false, true});
  return choices;
}

} // namespace fw::jit
