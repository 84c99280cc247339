// What is in a folder of the cache, and what is taken out of it.
#include "compiler/jit/CacheFolder.h"
#include "compiler/jit/Hash.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <tuple>
#include <unistd.h>

namespace fw::jit {
namespace {

template <class F> void forEachName(const std::string &folder, F &&f) {
  DIR *stream = ::opendir(folder.c_str());
  if (!stream)
    return;
  while (const dirent *entry = ::readdir(stream))
    if (entry->d_name[0] != '.')
      f(std::string(entry->d_name));
  ::closedir(stream);
}

} // namespace

std::vector<CacheListing> CacheFolder::list() const {
  std::vector<CacheListing> listing;
  for (size_t i = 0; i < size_t(EntryKind::count); ++i) {
    EntryKind kind = EntryKind(i);
    std::string folder = kindPath(kind), suffix = suffixOf(kind);
    if (distrust(kind))
      continue;
    forEachName(folder, [&](const std::string &name) {
      std::string key = name.substr(0, 64), path = folder + "/" + name;
      struct stat facts;
      if (isKey(key) && name == key + suffix && ::lstat(path.c_str(), &facts) == 0 &&
          S_ISREG(facts.st_mode))
        listing.push_back({kind, key, path, uint64_t(facts.st_size), facts.st_mtime});
    });
  }
  std::sort(listing.begin(), listing.end(), [](const CacheListing &a, const CacheListing &b) {
    return std::tie(a.kind, a.key) < std::tie(b.kind, b.key);
  });
  return listing;
}

std::vector<CacheListing> CacheFolder::excess(uint64_t bytes, time_t since) const {
  std::vector<CacheListing> entries = list();
  std::sort(entries.begin(), entries.end(), [](const CacheListing &a, const CacheListing &b) {
    return std::tie(a.used, a.key) < std::tie(b.used, b.key);
  });
  uint64_t left = 0;
  for (const CacheListing &entry : entries)
    left += entry.bytes;
  auto first = std::find_if(entries.begin(), entries.end(), [&](const CacheListing &entry) {
    if (left <= bytes && entry.used >= since)
      return true;
    left -= entry.bytes;
    return false;
  });
  entries.erase(first, entries.end());
  return entries;
}

std::variant<bool, CacheFailure> CacheFolder::remove(const CacheListing &entry) {
  if (files().unlink(entry.path.c_str()) == 0)
    return true;
  if (errno == ENOENT)
    return false;
  return writeFailure(entry.path, errno);
}

uint64_t CacheFolder::trim(uint64_t bytes) {
  removeLeftovers();
  if (excess(bytes).empty())
    return 0;
  uint64_t freed = 0; // with some room, so that the next write does not trim again
  for (const CacheListing &entry : excess(bytes - bytes / 10))
    if (auto removed = remove(entry); std::holds_alternative<bool>(removed))
      freed += std::get<bool>(removed) ? entry.bytes : 0;
  return freed;
}

void CacheFolder::removeLeftovers(time_t age) {
  auto isOld = [](const std::string &path, time_t age) {
    struct stat facts;
    return ::lstat(path.c_str(), &facts) == 0 && ::time(nullptr) - facts.st_mtime >= age;
  };
  forEachName(stagingFolder(), [&](const std::string &name) {
    std::string path = stagingFolder() + "/" + name;
    if (isOfEndedProcess(name) || isOld(path, kHour))
      files().unlink(path.c_str());
  });
  for (size_t i = 0; i < size_t(EntryKind::count); ++i) {
    std::string folder = root + "/" + folderOf(EntryKind(i));
    forEachName(folder, [&](const std::string &name) {
      std::string path = folder + "/" + name;
      if (!name.ends_with(".lock") || !isOld(path, age))
        return;
      FileHandle file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
      if (file && files().flock(file.get(), LOCK_EX | LOCK_NB) == 0)
        files().unlink(path.c_str());
    });
  }
}

} // namespace fw::jit
