// What `cache prune` and the cap take out of a folder.
#include "tests/jit/Support.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace fw::jit::testing {
namespace {

/// A folder with kernels k0, k1, ... of about `bytes` each, used 100 s, 99 s ... ago.
class CachePrune : public ::testing::Test {
protected:
  void fill(int count, size_t bytes = 1000) {
    StubCompiler compiler({}, bytes);
    for (int i = 0; i < count; ++i)
      ASSERT_TRUE(givesRightKernel(cache, compiler, "k" + std::to_string(i)));
    now = ::time(nullptr);
    for (int i = 0; i < count; ++i)
      setAge(pathOf(i), 100 - i);
  }
  std::string pathOf(int i) const {
    return folder /
           ("kernels/" + keyOf(StubCompiler(), requestFor("k" + std::to_string(i))) + ".fwk");
  }
  void setAge(const std::string &path, time_t seconds) const {
    struct timespec times[2] = {{0, UTIME_NOW}, {now - seconds, 0}};
    ::utimensat(AT_FDCWD, path.c_str(), times, 0);
  }
  std::vector<std::string> excess(uint64_t bytes, time_t since = 0) {
    std::vector<std::string> paths;
    for (const CacheListing &entry : cache.folder()->excess(bytes, since))
      paths.push_back(entry.path);
    return paths;
  }

  TemporaryFolder folder;
  Cache cache{optionsFor(folder.path)};
  time_t now = ::time(nullptr);
};

using Paths = std::vector<std::string>;

TEST_F(CachePrune, oldestFirstUntilTheRestFits) {
  fill(4);
  uint64_t each = cache.list()[0].bytes;
  EXPECT_EQ(excess(4 * each), Paths());
  EXPECT_EQ(excess(4 * each - 1), Paths{pathOf(0)});
  EXPECT_EQ(excess(2 * each), (Paths{pathOf(0), pathOf(1)}));
  EXPECT_EQ(excess(0).size(), 4u);
}

TEST_F(CachePrune, olderThanATime) {
  fill(4);
  EXPECT_EQ(excess(UINT64_MAX, now - 98), (Paths{pathOf(0), pathOf(1)}));
  EXPECT_EQ(excess(UINT64_MAX, now - 1000), Paths());
  EXPECT_EQ(excess(0, now - 98).size(), 4u) << "both limits hold";
}

TEST_F(CachePrune, aRemovalIsSeenOnceAndLeavesReadersTheirEntry) {
  fill(1);
  CacheListing entry = cache.list()[0];
  FileHandle reader(::open(entry.path.c_str(), O_RDONLY));
  EXPECT_TRUE(std::get<bool>(cache.folder()->remove(entry)));
  EXPECT_FALSE(std::get<bool>(cache.folder()->remove(entry)));
  char byte = 0;
  EXPECT_EQ(::read(reader.get(), &byte, 1), 1);
  EXPECT_TRUE(cache.find(EntryKind::Kernel, entry.key)) << "in memory still";
}

TEST_F(CachePrune, aRemovalThatFailsSaysWhy) {
  fill(1);
  CacheListing entry = cache.list()[0];
  std::filesystem::remove(entry.path);
  std::filesystem::create_directory(entry.path); // unlink refuses folders
  auto removed = cache.folder()->remove(entry);
  ASSERT_TRUE(std::holds_alternative<CacheFailure>(removed));
  EXPECT_NE(std::get<CacheFailure>(removed).detail.find(entry.path), std::string::npos);
}

TEST_F(CachePrune, theLockOfALiveCompileStays) {
  fill(1);
  std::string held = folder / ("kernels/" + sha256Hex("held") + ".lock"),
              left = folder / ("kernels/" + sha256Hex("left") + ".lock");
  for (const std::string &path : {held, left}) {
    writeFile(path, "");
    setAge(path, 7200);
  }
  FileHandle owner(::open(held.c_str(), O_RDWR));
  ASSERT_EQ(::flock(owner.get(), LOCK_EX), 0);
  cache.folder()->removeLeftovers();
  EXPECT_TRUE(std::filesystem::exists(held));
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(CachePrune, whatAKilledProcessLeftGoesAtOnceWhereAUserAsks) {
  fill(1);
  std::string lock = folder / ("kernels/" + sha256Hex("left") + ".lock");
  std::string staging = folder / (".staging-" + std::to_string(::geteuid()) + "/");
  pid_t ended = ::fork();
  if (ended == 0)
    ::_exit(0);
  ::waitpid(ended, nullptr, 0);
  std::string ours = freshStagingName();
  std::string host = ours.substr(0, ours.find('-'));
  std::string left = staging + stagingName(host, ended, 7);
  std::string alive = staging + ours, elsewhere = staging + stagingName(host + "x", ended, 7);
  for (const std::string &path : {lock, left, alive, elsewhere})
    writeFile(path, "");
  cache.folder()->removeLeftovers();
  EXPECT_TRUE(std::filesystem::exists(lock)) << "young";
  cache.folder()->removeLeftovers(/*age=*/0);
  EXPECT_FALSE(std::filesystem::exists(lock));
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(alive));
  EXPECT_TRUE(std::filesystem::exists(elsewhere));
}

TEST_F(CachePrune, whatIsNoEntryIsNeverChosen) {
  fill(1);
  for (const char *name : {"kernels/notes.txt", "readme", "kernels/abc.fwk"})
    writeFile(folder / name, "mine");
  EXPECT_EQ(excess(0), Paths{pathOf(0)});
}

TEST_F(CachePrune, onlyAUseMakesAnEntryYoung) {
  fill(2);
  for (int i : {0, 1})
    setAge(pathOf(i), 7200);
  EXPECT_TRUE(cache.peek(EntryKind::Kernel, cache.list()[0].key));
  EXPECT_EQ(excess(UINT64_MAX, now - 3600).size(), 2u);
  EXPECT_TRUE(Cache(optionsFor(folder.path)).find(EntryKind::Kernel, cache.list()[0].key));
  EXPECT_EQ(excess(UINT64_MAX, now - 3600).size(), 1u);
}

} // namespace
} // namespace fw::jit::testing
