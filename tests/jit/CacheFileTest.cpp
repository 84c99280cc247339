#include "compiler/jit/CacheFile.h"

#include "compiler/jit/Hash.h"

#include <gtest/gtest.h>
#include <random>

namespace fw::jit {
namespace {

const std::string key = sha256Hex("key"), otherKey = sha256Hex("other");

Entry sample() {
  Entry entry;
  entry.add(Section::Record, "record");
  entry.add(Section::Cubin, std::string(300, '\x7f'));
  entry.add(Section::Ptx, "");
  return entry;
}

TEST(CacheFile, comesBackEqual) {
  std::string bytes = encodeEntry(sample(), EntryKind::Kernel, key);
  Result<Entry> entry = decodeEntry(bytes, EntryKind::Kernel, key);
  ASSERT_TRUE(entry) << entry.error().text;
  EXPECT_EQ(*entry, sample());
  EXPECT_EQ(*entry->find(Section::Record), "record");
  EXPECT_EQ(entry->find(Section::Object), nullptr);
  EXPECT_EQ(encodeEntry(*entry, EntryKind::Kernel, key), bytes);
}

TEST(CacheFile, layoutIsFixed) { // of files that other builds of this format have written
  std::string bytes = encodeEntry(sample(), EntryKind::Kernel, key);
  EXPECT_EQ(bytes.size(), 8u + 4 + 4 + 8 + 32 + 4 + 3 * 12 + 306);
  EXPECT_EQ(sha256Hex(bytes), "f73743e2baa9a17c57ec0f3e116ce546d6c45ad2bfa285c8e29066507fbdecfb");
}

TEST(CacheFile, everyTruncationIsRefused) {
  std::string bytes = encodeEntry(sample(), EntryKind::Kernel, key);
  for (size_t length = 0; length < bytes.size(); ++length)
    ASSERT_FALSE(decodeEntry(std::string_view(bytes).substr(0, length), EntryKind::Kernel, key))
        << length;
}

TEST(CacheFile, everyFlippedBitIsRefused) {
  std::string bytes = encodeEntry(sample(), EntryKind::Kernel, key);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] ^= char(1 << bit % 8);
    ASSERT_FALSE(decodeEntry(flipped, EntryKind::Kernel, key)) << bit;
  }
}

TEST(CacheFile, entryOfAnotherKeyOrKindIsRefused) {
  std::string bytes = encodeEntry(sample(), EntryKind::Kernel, key);
  EXPECT_EQ(decodeEntry(bytes, EntryKind::Kernel, otherKey).error().text,
            "expected a whole cache entry, got a checksum that does not match");
  EXPECT_EQ(decodeEntry(bytes, EntryKind::Object, key).error().text,
            "expected a whole cache entry, got an entry of another kind");
  EXPECT_EQ(decodeEntry(bytes + "x", EntryKind::Kernel, key).error().text,
            "expected a whole cache entry, got 347 bytes where its header says 346");
}

TEST(CacheFile, otherFormatIsNoDamage) {
  std::string bytes = encodeEntry(sample(), EntryKind::Kernel, key);
  EXPECT_FALSE(isOfOtherFormat(bytes));
  EXPECT_FALSE(isOfOtherFormat(bytes.substr(0, 10)));
  bytes[8] ^= 1;
  EXPECT_TRUE(isOfOtherFormat(bytes));
  EXPECT_FALSE(isOfOtherFormat("something else altogether"));
}

TEST(CacheFile, randomPayloadsWithARightChecksumNeverCrash) {
  // A payload that claims sections it does not have, sealed as a writer with a fault would seal it.
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) {
    Entry entry;
    std::string junk(random() % 64, '\0');
    for (char &c : junk)
      c = char(random() % 4);
    entry.add(Section::Record, junk);
    std::string bytes = encodeEntry(entry, EntryKind::Program, key);
    std::string payload = bytes.substr(56);
    payload[random() % payload.size()] = char(random());
    std::string head = bytes.substr(0, 24);
    const std::string_view parts[] = {key, head, payload};
    Digest digest = sha256(parts);
    std::string sealed = head + std::string(digest.begin(), digest.end()) + payload;
    Result<Entry> decoded = decodeEntry(sealed, EntryKind::Program, key);
    ASSERT_LE(decoded ? decoded->bytes() : 0, payload.size());
  }
}

} // namespace
} // namespace fw::jit
