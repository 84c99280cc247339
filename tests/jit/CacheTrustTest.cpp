// Entries and folders that a cache does not trust.
#include "tests/jit/Support.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace fw::jit::testing {
namespace {

TEST(Cache, damagedEntryIsMadeAnewWithOneWarning) {
  for (auto damage : std::vector<std::function<void(std::string &)>>{
           [](std::string &bytes) { bytes.resize(bytes.size() / 2); }, // truncated
           [](std::string &bytes) { bytes[bytes.size() / 2] ^= 1; },   // flipped
           [](std::string &bytes) { bytes.clear(); }, // what a full disk leaves elsewhere
           [](std::string &bytes) { bytes = "#!/bin/sh\n"; }}) { // foreign
    TemporaryFolder folder;
    StubCompiler compiler;
    Messages messages;
    CacheOptions options = optionsFor(folder.path, messages);
    {
      Cache cache(options);
      ASSERT_TRUE(givesRightKernel(cache, compiler, "a") && givesRightKernel(cache, compiler, "b"));
    }
    for (const char *source : {"a", "b"}) {
      std::string bytes = readFile(kernelPath(folder, source));
      damage(bytes);
      writeFile(kernelPath(folder, source), bytes);
    }
    Cache cache(options);
    EXPECT_TRUE(givesRightKernel(cache, compiler, "a") && givesRightKernel(cache, compiler, "b"));
    EXPECT_EQ(messages.count(), 1u) << messages.all();
    EXPECT_NE(messages.all().find("an entry of the kernel cache is damaged"), std::string::npos);
    EXPECT_EQ(compiler.calls, 4);
    Cache again(options);
    EXPECT_TRUE(givesRightKernel(again, compiler, "a"));
    EXPECT_EQ(compiler.calls, 4) << "the damaged file was replaced";
  }
}

TEST(Cache, soundEntryUnderAnotherNameIsRefused) {
  TemporaryFolder folder;
  StubCompiler compiler;
  Messages messages;
  CacheOptions options = optionsFor(folder.path, messages);
  {
    Cache cache(options);
    ASSERT_TRUE(givesRightKernel(cache, compiler, "a"));
  }
  std::filesystem::rename(kernelPath(folder, "a"), kernelPath(folder, "b"));
  Cache cache(options);
  EXPECT_TRUE(givesRightKernel(cache, compiler, "b"));
  EXPECT_EQ(compiler.calls, 2);
  EXPECT_EQ(messages.count(), 1u);
}

TEST(Cache, entryOfAnotherFormatIsASilentMiss) {
  TemporaryFolder folder;
  StubCompiler compiler;
  Messages messages;
  CacheOptions options = optionsFor(folder.path, messages);
  {
    Cache cache(options);
    ASSERT_TRUE(givesRightKernel(cache, compiler, "a"));
  }
  std::string bytes = readFile(kernelPath(folder, "a"));
  bytes[8] ^= 2;
  writeFile(kernelPath(folder, "a"), bytes);
  Cache cache(options);
  EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
  EXPECT_EQ(compiler.calls, 2);
  EXPECT_EQ(messages.count(), 0u) << messages.all();
}

TEST(Cache, linkInPlaceOfAnEntryIsNotFollowed) {
  TemporaryFolder folder;
  StubCompiler compiler;
  Messages messages;
  CacheOptions options = optionsFor(folder / "cache", messages);
  {
    Cache cache(options);
    ASSERT_TRUE(givesRightKernel(cache, compiler, "a"));
  }
  std::string path = folder / ("cache/kernels/" + keyOf(compiler, requestFor("a")) + ".fwk");
  std::filesystem::rename(path, folder / "elsewhere");
  std::filesystem::create_symlink(folder / "elsewhere", path);
  Cache cache(options);
  EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
  EXPECT_EQ(compiler.calls, 2);
  EXPECT_NE(messages.all().find("a link"), std::string::npos) << messages.all();
  EXPECT_FALSE(std::filesystem::is_symlink(path)) << "replaced by an entry";
}

TEST(Cache, linkToTheFolderIsFollowedOnlyWhereTheUserChoseIt) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "real");
  std::filesystem::create_symlink(folder / "real", folder / "link");
  EXPECT_EQ(CacheFolder::open(folder / "link", {}).index(), 0u);
  auto refused = CacheFolder::open(folder / "link", {.followRoot = false});
  ASSERT_EQ(refused.index(), 1u);
  EXPECT_EQ(std::get<1>(refused).fault, CacheFault::Untrusted);
}

TEST(Cache, folderThatOthersCanWriteIsNotTrusted) {
  for (mode_t mode : {0777, 0770, 0702}) {
    TemporaryFolder folder;
    StubCompiler compiler;
    Messages messages;
    ASSERT_EQ(::chmod(folder.path.c_str(), mode), 0);
    Cache cache(optionsFor(folder.path, messages));
    EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
    EXPECT_EQ(messages.count(), 1u);
    EXPECT_NE(messages.all().find("FUSEWRIGHT_CACHE_SHARE=1"), std::string::npos);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path));
  }
}

TEST(Cache, folderOfAKindThatOthersCanWriteIsNotTrusted) {
  for (mode_t mode : {0777, 0770, 0702}) {
    TemporaryFolder folder;
    StubCompiler compiler;
    Messages messages;
    {
      Cache cache(optionsFor(folder.path, messages));
      ASSERT_TRUE(givesRightKernel(cache, compiler, "a"));
    }
    ASSERT_EQ(::chmod((folder / "kernels").c_str(), mode), 0);
    Cache cache(optionsFor(folder.path, messages));
    EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
    EXPECT_EQ(compiler.calls, 2) << "an entry of the folder was used";
    EXPECT_EQ(messages.count(), 1u) << messages.all();
    EXPECT_NE(messages.all().find("kernels: others can write to it"), std::string::npos);
    EXPECT_TRUE(cache.list().empty());
  }
}

TEST(Cache, fileThatOthersCanWriteIsNotTrusted) {
  TemporaryFolder folder;
  StubCompiler compiler;
  Messages messages;
  {
    Cache cache(optionsFor(folder.path, messages));
    ASSERT_TRUE(givesRightKernel(cache, compiler, "a"));
  }
  ASSERT_EQ(::chmod(kernelPath(folder, "a").c_str(), 0666), 0);
  Cache cache(optionsFor(folder.path, messages));
  EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
  EXPECT_EQ(compiler.calls, 2);
  EXPECT_EQ(modeOf(kernelPath(folder, "a")), 0600u);
}

} // namespace
} // namespace fw::jit::testing
