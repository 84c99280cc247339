// The folder of a cache: where it is, and what stays in it.
#include "tests/jit/Support.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace fw::jit::testing {
namespace {

TEST(Cache, oldestEntriesGoFirst) {
  TemporaryFolder folder;
  StubCompiler compiler({}, 10000);
  CacheOptions options = optionsFor(folder.path);
  options.folder.maxBytes = 64000; // six entries of ten thousand bytes and their heads
  for (int i = 0; i < 12; ++i) {
    std::string source = "k" + std::to_string(i);
    Cache cache(options); // looks at the folder's size with its first write
    ASSERT_TRUE(givesRightKernel(cache, compiler, source));
    struct timespec times[2] = {{0, UTIME_NOW}, {::time(nullptr) - 100 + i, 0}};
    ::utimensat(AT_FDCWD, kernelPath(folder, source).c_str(), times, 0);
  }
  Cache cache(options);
  uint64_t total = 0;
  for (const CacheListing &entry : cache.list())
    total += entry.bytes;
  EXPECT_LE(total, 64000u);
  EXPECT_GE(total, 40000u);
  EXPECT_FALSE(std::filesystem::exists(kernelPath(folder, "k0")));
  EXPECT_TRUE(std::filesystem::exists(kernelPath(folder, "k11")));
}

TEST(Cache, sizeZeroKeepsNothingOnDisk) {
  Settings settings;
  ASSERT_TRUE(settings.set(Knob::cache_size, "0"));
  EXPECT_TRUE(cacheOptions(settings).folders.empty());
}

TEST(Cache, folderEmptiedInUseIsFilledAgain) {
  TemporaryFolder folder;
  StubCompiler compiler;
  Messages messages;
  Cache cache(optionsFor(folder / "cache", messages));
  ASSERT_TRUE(givesRightKernel(cache, compiler, "a"));
  for (const auto &entry : std::filesystem::directory_iterator(folder / "cache"))
    std::filesystem::remove_all(entry.path());
  EXPECT_TRUE(givesRightKernel(cache, compiler, "a")) << "from memory";
  EXPECT_TRUE(givesRightKernel(cache, compiler, "b"));
  EXPECT_EQ(cache.list().size(), 1u);
  EXPECT_EQ(messages.count(), 0u) << messages.all();
}

TEST(Cache, leftoversOfKilledProcessesAreRemovedWhenOld) {
  TemporaryFolder folder;
  StubCompiler compiler;
  Cache cache(optionsFor(folder.path));
  ASSERT_TRUE(givesRightKernel(cache, compiler, "a"));
  std::string staging = folder / (".staging-" + std::to_string(::geteuid()) + "/");
  std::string lock = folder / ("kernels/" + sha256Hex("x") + ".lock");
  struct timespec old[2] = {{::time(nullptr) - 7200, 0}, {::time(nullptr) - 7200, 0}};
  for (const std::string &path : {staging + "old", lock}) {
    writeFile(path, "");
    ::utimensat(AT_FDCWD, path.c_str(), old, 0);
  }
  writeFile(staging + "young", "");
  cache.folder()->trim(1 << 20);
  EXPECT_FALSE(std::filesystem::exists(staging + "old"));
  EXPECT_FALSE(std::filesystem::exists(lock));
  EXPECT_TRUE(std::filesystem::exists(staging + "young"));
  EXPECT_EQ(cache.list().size(), 1u);
}

TEST(Cache, folderOrderIsSettingThenCacheHomeThenHomeThenTemporary) {
  auto paths = [](const Settings &settings,
                  std::vector<std::pair<std::string, std::string>> variables) {
    auto environment = [variables](const char *name) -> const char * {
      for (const auto &[variable, value] : variables)
        if (variable == name)
          return value.c_str();
      return nullptr;
    };
    std::string joined;
    for (const FolderChoice &choice : folderChoices(settings, environment, 7))
      joined += choice.path + " ";
    return joined;
  };
  Settings none, set;
  ASSERT_TRUE(set.set(Knob::cache_dir, "/mine"));
  EXPECT_EQ(paths(set, {{"HOME", "/h"}}), "/mine ");
  EXPECT_EQ(paths(none, {{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}),
            "/x/fusewright /tmp/fusewright-7 ");
  EXPECT_EQ(paths(none, {{"XDG_CACHE_HOME", "relative"}, {"HOME", "/h"}}),
            "/h/.cache/fusewright /tmp/fusewright-7 ");
  EXPECT_EQ(paths(none, {{"TMPDIR", "/scratch"}}), "/scratch/fusewright-7 ");
}

} // namespace
} // namespace fw::jit::testing
