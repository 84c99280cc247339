// Folders that are asked and never written.
#include "tests/jit/Support.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace fw::jit::testing {
namespace {

/// Every file and folder below `path` with its time and size.
std::string stateOf(const std::string &path) {
  std::vector<std::string> rows;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(path)) {
    struct stat facts{};
    ::lstat(entry.path().c_str(), &facts);
    rows.push_back(entry.path().string() + " " + std::to_string(facts.st_size) + " " +
                   std::to_string(facts.st_mtim.tv_sec) + "." +
                   std::to_string(facts.st_mtim.tv_nsec) + "\n");
  }
  std::sort(rows.begin(), rows.end());
  std::string joined;
  for (const std::string &row : rows)
    joined += row;
  return joined;
}

/// A cache folder with the kernels of `sources`, last used long ago.
void fill(const std::string &path, const std::vector<std::string> &sources) {
  StubCompiler compiler;
  Cache cache(optionsFor(path));
  for (const std::string &source : sources)
    ASSERT_TRUE(givesRightKernel(cache, compiler, source));
  struct timespec old[2] = {{::time(nullptr) - 7200, 0}, {::time(nullptr) - 7200, 0}};
  for (const CacheListing &entry : cache.list())
    ::utimensat(AT_FDCWD, entry.path.c_str(), old, 0);
}

TEST(ReadOnlyFolder, isAskedAfterTheUsersFolderAndNeverChanged) {
  TemporaryFolder folder;
  fill(folder / "pack", {"a"});
  fill(folder / "other", {"a", "b"});
  std::string before = stateOf(folder / "pack") + stateOf(folder / "other");
  StubCompiler compiler;
  Messages messages;
  CacheOptions options = optionsFor(folder / "mine", messages);
  options.readOnlyFolders = {folder / "pack", folder / "other"};
  Cache cache(options);
  EXPECT_TRUE(givesRightKernel(cache, compiler, "a") && givesRightKernel(cache, compiler, "b"));
  EXPECT_EQ(compiler.calls, 0);
  EXPECT_EQ(cache.counters(EntryKind::Kernel).diskHits, 2u);
  EXPECT_TRUE(givesRightKernel(cache, compiler, "c"));
  EXPECT_EQ(compiler.calls, 1);
  EXPECT_EQ(cache.folder()->list().size(), 1u) << "what is made goes to the user's folder";
  EXPECT_EQ(cache.list().size(), 4u);
  cache.folder()->trim(0);
  EXPECT_EQ(stateOf(folder / "pack") + stateOf(folder / "other"), before);
  EXPECT_EQ(messages.count(), 0u) << messages.all();
}

TEST(ReadOnlyFolder, servesWithoutAnyFolderOfTheUser) {
  TemporaryFolder folder;
  fill(folder / "pack", {"a"});
  Settings settings;
  ASSERT_TRUE(settings.set(Knob::cache_size, "0"));
  ASSERT_TRUE(settings.set(Knob::cache_read_only, ":" + (folder / "pack") + "::"));
  ASSERT_TRUE(settings.set(Knob::strict, "1"));
  StubCompiler compiler;
  Cache cache(cacheOptions(settings));
  EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
  EXPECT_EQ(cache.folder(), nullptr);
  Result<ArtefactPtr> other = compileKernel(cache, compiler, requestFor("b"));
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().text.find("got none in " + (folder / "pack")), std::string::npos)
      << other.error().text;
  EXPECT_EQ(compiler.calls, 0);
}

TEST(ReadOnlyFolder, damagedEntriesFallThroughWithOneWarning) {
  TemporaryFolder folder;
  fill(folder / "bad", {"a", "b"});
  fill(folder / "good", {"a"});
  for (const auto &entry : std::filesystem::directory_iterator(folder / "bad/kernels"))
    writeFile(entry.path(), "#!/bin/sh\n");
  std::string before = stateOf(folder / "bad");
  StubCompiler compiler;
  Messages messages;
  CacheOptions options = optionsFor(folder / "mine", messages);
  options.readOnlyFolders = {folder / "bad", folder / "good"};
  Cache cache(options);
  EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
  EXPECT_EQ(compiler.calls, 0) << "the next folder has it";
  EXPECT_TRUE(givesRightKernel(cache, compiler, "b"));
  EXPECT_EQ(compiler.calls, 1) << "nobody has it";
  EXPECT_EQ(messages.count(), 1u) << messages.all();
  EXPECT_NE(messages.all().find("an entry of the kernel cache is damaged"), std::string::npos);
  EXPECT_EQ(stateOf(folder / "bad"), before);
}

TEST(ReadOnlyFolder, thatIsMissingOrNotTrustedIsLeftOutWithAWarning) {
  TemporaryFolder folder;
  fill(folder / "open", {"a"});
  ASSERT_EQ(::chmod((folder / "open").c_str(), 0777), 0);
  for (const char *name : {"missing", "open"}) {
    StubCompiler compiler;
    Messages messages;
    CacheOptions options = optionsFor(folder / "mine", messages);
    options.readOnlyFolders = {folder / name};
    Cache cache(options);
    EXPECT_TRUE(givesRightKernel(cache, compiler, name));
    EXPECT_EQ(compiler.calls, 1);
    EXPECT_EQ(messages.count(), 1u) << messages.all();
    EXPECT_NE(
        messages.all().find("a read-only folder of the kernel cache is not used (" + folder / name),
        std::string::npos)
        << messages.all();
    EXPECT_NE(messages.all().find("FUSEWRIGHT_CACHE_READ_ONLY"), std::string::npos);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "missing"));
}

} // namespace
} // namespace fw::jit::testing
