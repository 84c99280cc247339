// The container of one cache entry: {magic, format, kind, length, sha256} and named sections.
// A pure function from bytes to entry and back; nothing here touches a file.
#pragma once

#include "compiler/support/Error.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fw::jit {

enum class EntryKind : uint8_t {
#define FW_ENTRY_KIND(name, ...) name,
#include "compiler/jit/entry_kinds.def"
#undef FW_ENTRY_KIND
  count
};

const char *folderOf(EntryKind kind);
const char *suffixOf(EntryKind kind);

/// Machine code: dear to make, and never made in strict mode.
bool isCode(EntryKind kind);

enum class Section : uint32_t {
#define FW_ENTRY_SECTION(name, tag) name = tag,
#include "compiler/jit/entry_sections.def"
#undef FW_ENTRY_SECTION
};

/// Immutable once it is in the cache.
class Entry {
public:
  void add(Section section, std::string bytes) { sections.emplace_back(section, std::move(bytes)); }

  /// The bytes of the first such section, or null.
  const std::string *find(Section section) const;

  size_t bytes() const;
  bool operator==(const Entry &) const = default;

  std::vector<std::pair<Section, std::string>> sections;
};
using EntryPtr = std::shared_ptr<const Entry>;

/// Largest file that a reader accepts; a cubin of ours has tens of kilobytes.
constexpr uint64_t maxEntryBytes = uint64_t(256) << 20;

std::string encodeEntry(const Entry &entry, EntryKind kind, std::string_view key);

/// Any bytes may be given. CACHE says in Error::text what is wrong. The key is part of the
/// checksum, so a sound file under another entry's name is refused too.
/// A file that another version of fusewright wrote: a miss, but no damage.
bool isOfOtherFormat(std::string_view bytes);

Result<Entry> decodeEntry(std::string_view bytes, EntryKind kind, std::string_view key);

} // namespace fw::jit
