#include "compiler/jit/CacheFile.h"

#include "compiler/jit/Hash.h"
#include "compiler/jit/ProgramRecord.h"

#include <cstring>
#include <type_traits>

namespace fw::jit {
namespace {

struct KindRow {
  const char *folder;
  const char *suffix;
  uint32_t number;
  bool code;
};
constexpr KindRow kinds[] = {
#define FW_ENTRY_KIND(name, ...) {__VA_ARGS__},
#include "compiler/jit/entry_kinds.def"
#undef FW_ENTRY_KIND
};

// Layout, little-endian: magic 8 | format 4 | kind 4 | payload length 8 | sha256 32 | payload
// payload: count 4 | (tag 4 | length 8) * count | bytes of the sections, in order
constexpr std::string_view magic = "FWCACHE\n";
constexpr uint32_t fileFormat =
    1 << 16 | recordFormat; // of the container, and of the records in it
constexpr size_t hashedHead = 24, headBytes = hashedHead + 32, maxSections = 64;

template <class T> void put(std::string &out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    out += char(uint64_t(value) >> (8 * i) & 0xff);
}

/// Takes numbers and byte ranges from the front; fails for good at the first lack.
class Cursor {
public:
  explicit Cursor(std::string_view rest) : rest(rest) {}
  template <class T> T number() {
    uint64_t value = 0;
    std::string_view raw = take(sizeof(T));
    for (size_t i = 0; i < raw.size(); ++i)
      value |= uint64_t(uint8_t(raw[i])) << (8 * i);
    return T(value);
  }
  std::string_view take(uint64_t count) {
    if (count > rest.size()) {
      failed = true;
      rest = {};
      return {};
    }
    std::string_view front = rest.substr(0, size_t(count));
    rest.remove_prefix(size_t(count));
    return front;
  }
  std::string_view rest;
  bool failed = false;
};

Digest digestOf(std::string_view key, std::string_view head, std::string_view payload) {
  const std::string_view parts[] = {key, head, payload};
  return sha256(parts);
}

Error damaged(const std::string &what) {
  return {.code = Code::CACHE,
          .text = "expected a whole cache entry, got " + what,
          .remedy = "it is made anew"};
}

Result<Entry> decodePayload(std::string_view payload) {
  Cursor cursor(payload);
  uint32_t count = cursor.number<uint32_t>();
  if (count > maxSections)
    return damaged(std::to_string(count) + " sections");
  std::vector<std::pair<uint32_t, uint64_t>> table;
  for (uint32_t i = 0; i < count && !cursor.failed; ++i) {
    uint32_t tag = cursor.number<uint32_t>();
    table.emplace_back(tag, cursor.number<uint64_t>());
  }
  Entry entry;
  for (auto [tag, length] : table)
    entry.add(Section(tag), std::string(cursor.take(length)));
  if (cursor.failed || !cursor.rest.empty())
    return damaged("sections that do not fill it");
  return entry;
}

} // namespace

const char *folderOf(EntryKind kind) { return kinds[size_t(kind)].folder; }
const char *suffixOf(EntryKind kind) { return kinds[size_t(kind)].suffix; }
bool isCode(EntryKind kind) { return kinds[size_t(kind)].code; }

const std::string *Entry::find(Section section) const {
  for (const auto &[name, bytes] : sections)
    if (name == section)
      return &bytes;
  return nullptr;
}

size_t Entry::bytes() const {
  size_t total = 0;
  for (const auto &[name, bytes] : sections)
    total += bytes.size();
  return total;
}

std::string encodeEntry(const Entry &entry, EntryKind kind, std::string_view key) {
  std::string payload;
  payload.reserve(entry.bytes() + 12 * entry.sections.size() + 4);
  put(payload, uint32_t(entry.sections.size()));
  for (const auto &[section, bytes] : entry.sections) {
    put(payload, uint32_t(section));
    put(payload, uint64_t(bytes.size()));
  }
  for (const auto &[section, bytes] : entry.sections)
    payload += bytes;

  std::string file(magic);
  put(file, fileFormat);
  put(file, kinds[size_t(kind)].number);
  put(file, uint64_t(payload.size()));
  Digest digest = digestOf(key, file, payload);
  file.append(reinterpret_cast<const char *>(digest.data()), digest.size());
  return file + payload;
}

bool isOfOtherFormat(std::string_view bytes) {
  Cursor head(bytes);
  return head.take(magic.size()) == magic && head.number<uint32_t>() != fileFormat && !head.failed;
}

Result<Entry> decodeEntry(std::string_view bytes, EntryKind kind, std::string_view key) {
  if (bytes.size() < headBytes)
    return damaged(std::to_string(bytes.size()) + " bytes");
  Cursor head(bytes.substr(0, headBytes));
  if (head.take(magic.size()) != magic)
    return damaged("a file of another kind");
  if (uint32_t format = head.number<uint32_t>(); format != fileFormat)
    return damaged("format " + std::to_string(format));
  if (head.number<uint32_t>() != kinds[size_t(kind)].number)
    return damaged("an entry of another kind");
  std::string_view payload = bytes.substr(headBytes);
  if (uint64_t length = head.number<uint64_t>(); length != payload.size())
    return damaged(std::to_string(payload.size()) + " bytes where its header says " +
                   std::to_string(length));
  Digest digest = digestOf(key, bytes.substr(0, hashedHead), payload);
  if (std::memcmp(digest.data(), head.rest.data(), digest.size()) != 0)
    return damaged("a checksum that does not match");
  return decodePayload(payload);
}

} // namespace fw::jit
