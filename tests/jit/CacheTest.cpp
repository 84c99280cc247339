// A cache in memory and on disk: hits, compiles that are shared, strict mode.
#include "tests/jit/Support.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace fw::jit::testing {
namespace {

TEST(Cache, memoryThenDiskThenCompile) {
  TemporaryFolder folder;
  StubCompiler compiler;
  {
    Cache cache(optionsFor(folder.path));
    EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
    EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
    CacheCounters counters = cache.counters(EntryKind::Kernel);
    EXPECT_EQ(counters.compiles, 1u);
    EXPECT_EQ(counters.memoryHits, 1u);
    EXPECT_EQ(counters.diskHits, 0u);
  }
  Cache cache(optionsFor(folder.path));
  EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
  CacheCounters counters = cache.counters(EntryKind::Kernel);
  EXPECT_EQ(counters.compiles, 0u);
  EXPECT_EQ(counters.diskHits, 1u);
  EXPECT_EQ(counters.faults, 0u);
  EXPECT_EQ(compiler.calls, 1);
}

TEST(Cache, hitKeepsWhatTheAssemblerSaidAndTakesTheRestFromTheRequest) {
  TemporaryFolder folder;
  StubCompiler compiler;
  Cache cache(optionsFor(folder.path));
  KernelRequest request = requestFor("a");
  ASSERT_TRUE(compileKernel(cache, compiler, request));
  request.launch.operands = {2, 1};
  Result<ArtefactPtr> hit = compileKernel(cache, compiler, request);
  EXPECT_EQ((*hit)->launch.registers, 32);
  EXPECT_EQ((*hit)->launch.operands, request.launch.operands);
  EXPECT_EQ(compiler.calls, 1);
}

TEST(Cache, filesArePrivateAndLeaveNoLocksOrStagedFiles) {
  TemporaryFolder folder;
  StubCompiler compiler;
  Cache cache(optionsFor(folder / "cache"));
  ASSERT_TRUE(givesRightKernel(cache, compiler, "a"));
  EXPECT_EQ(modeOf(folder / "cache"), 0700u);
  EXPECT_EQ(modeOf(folder / "cache/kernels"), 0700u);
  std::vector<CacheListing> entries = cache.list();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(modeOf(entries[0].path), 0600u);
  size_t files = 0;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder.path))
    files += entry.is_regular_file();
  EXPECT_EQ(files, 1u);
}

TEST(Cache, threadsThatAskForOneKeyGetOneCompile) {
  TemporaryFolder folder;
  StubCompiler compiler(std::chrono::milliseconds(30));
  Cache cache(optionsFor(folder.path));
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { right += givesRightKernel(cache, compiler, "a"); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 8);
  EXPECT_EQ(compiler.calls, 1);
  CacheCounters counters = cache.counters(EntryKind::Kernel);
  EXPECT_EQ(counters.waits + counters.memoryHits, 7u);
}

TEST(Cache, differentKeysCompileAtTheSameTime) {
  TemporaryFolder folder;
  std::atomic<int> inside{0}, most{0};
  Cache cache(optionsFor(folder.path));
  auto produce = [&]() -> Result<Entry> {
    int now = ++inside;
    most = std::max<int>(most, now);
    for (int i = 0; i < 200 && most < 2; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    --inside;
    return Entry();
  };
  std::thread other([&] { (void)cache.get({EntryKind::Kernel, sha256Hex("a"), "a"}, produce); });
  (void)cache.get({EntryKind::Kernel, sha256Hex("b"), "b"}, produce);
  other.join();
  EXPECT_EQ(most, 2);
}

TEST(Cache, failureIsGivenToAllThatWaitAndIsNotKept) {
  TemporaryFolder folder;
  Cache cache(optionsFor(folder.path));
  std::atomic<int> calls{0};
  auto fail = [&]() -> Result<Entry> {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return Error{.code = Code::TOOLCHAIN, .text = "no"};
  };
  std::thread other([&] {
    Result<EntryPtr> got = cache.get({EntryKind::Kernel, sha256Hex("a"), "a"}, fail);
    EXPECT_EQ(got.error().code, Code::TOOLCHAIN);
  });
  Result<EntryPtr> got = cache.get({EntryKind::Kernel, sha256Hex("a"), "a"}, fail);
  EXPECT_EQ(got.error().code, Code::TOOLCHAIN);
  other.join();
  EXPECT_LE(calls, 2);
  EXPECT_TRUE(
      cache.get({EntryKind::Kernel, sha256Hex("a"), "a"}, [] { return Result<Entry>(Entry()); }));
}

TEST(Cache, producerThatThrowsLeavesNobodyWaiting) {
  Cache cache(CacheOptions{});
  auto raise = []() -> Result<Entry> { throw std::bad_alloc(); };
  EXPECT_THROW((void)cache.get({EntryKind::Kernel, sha256Hex("a"), "a"}, raise), std::bad_alloc);
  EXPECT_TRUE(
      cache.get({EntryKind::Kernel, sha256Hex("a"), "a"}, [] { return Result<Entry>(Entry()); }));
}

TEST(Cache, whatTheProducerThrowsIsThrownToAllThatWait) {
  Cache cache(CacheOptions{});
  auto raiseOnceSomebodyWaits = [&]() -> Result<Entry> {
    for (int i = 0; i < 1000 && cache.counters(EntryKind::Kernel).waits == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    throw std::bad_alloc();
  };
  auto ask = [&] {
    EXPECT_THROW((void)cache.get({EntryKind::Kernel, sha256Hex("a"), "a"}, raiseOnceSomebodyWaits),
                 std::bad_alloc);
  };
  std::thread other(ask);
  ask();
  other.join();
  EXPECT_EQ(cache.counters(EntryKind::Kernel).waits, 1u);
  EXPECT_EQ(cache.counters(EntryKind::Kernel).compiles, 1u);
}

Entry logOf(const std::string &text) {
  Entry entry;
  entry.add(Section::Log, text);
  return entry;
}

TEST(Cache, whatIsOfNoUseIsReplacedInMemoryAndOnDiskOnce) {
  TemporaryFolder folder;
  const std::string key = sha256Hex("a");
  const Cache::Wanted wanted{EntryKind::Program, key, key};
  auto isNew = [](const Entry &entry) { return *entry.find(Section::Log) == "new"; };
  Cache cache(optionsFor(folder.path));
  ASSERT_TRUE(cache.get(wanted, [] { return Result<Entry>(logOf("old")); }));
  std::atomic<int> calls{0};
  auto produce = [&] {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return Result<Entry>(logOf("new"));
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      Result<EntryPtr> got = cache.get(wanted, produce, isNew);
      EXPECT_TRUE(got && isNew(**got));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(isNew(*cache.find(EntryKind::Program, key)));
  Cache next(optionsFor(folder.path));
  EXPECT_TRUE(isNew(*next.find(EntryKind::Program, key)));
}

TEST(Cache, whatIsOfNoUseStaysWhereNothingCanBeMade) {
  TemporaryFolder folder;
  const std::string key = sha256Hex("a");
  const Cache::Wanted wanted{EntryKind::Program, key, key};
  Cache cache(optionsFor(folder.path));
  ASSERT_TRUE(cache.get(wanted, [] { return Result<Entry>(logOf("old")); }));
  auto fail = [] { return Result<Entry>(Error{.code = Code::TOOLCHAIN, .text = "no"}); };
  Result<EntryPtr> got = cache.get(wanted, fail, [](const Entry &) { return false; });
  EXPECT_EQ(got.error().code, Code::TOOLCHAIN);
  EXPECT_EQ(**cache.get(wanted, fail), logOf("old"));
}

TEST(Cache, strictModeDescribesWhatIsMissing) {
  TemporaryFolder folder;
  StubCompiler compiler;
  CacheOptions options = optionsFor(folder.path);
  options.strict = true;
  Cache cache(options);
  KernelRequest request = requestFor("adamw");
  Result<ArtefactPtr> kernel = compileKernel(cache, compiler, request);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, Code::STRICT_MISS);
  EXPECT_EQ(kernel.error().text,
            "expected kernel 'adamw' for sm_90 in a kernel cache (strict mode), got none in " +
                folder.path);
  EXPECT_EQ(kernel.error().log, "kernels/" + keyOf(compiler, request) + ".fwk");
  EXPECT_EQ(compiler.calls, 0);
}

TEST(Cache, strictModeMakesRecordsAnewButNoCode) {
  TemporaryFolder folder;
  CacheOptions options = optionsFor(folder.path);
  options.strict = true;
  Cache cache(options);
  auto make = [] { return Result<ProgramRecord>(ProgramRecord()); };
  EXPECT_TRUE(compileProgram(cache, {programKey("request", "hash"), "scale", ""}, make));
  auto object =
      compileObject(cache, {.phaseText = "module"}, [] { return Result<std::string>("code"); });
  EXPECT_EQ(object.error().code, Code::STRICT_MISS);
}

TEST(Cache, everyCompileIsToldAtLevelInfo) {
  TemporaryFolder folder;
  StubCompiler compiler;
  std::vector<std::string> infos;
  CacheOptions options = optionsFor(folder.path);
  options.reporter = Reporter([&](Severity severity, std::string_view text) {
    if (severity == Severity::Info)
      infos.emplace_back(text);
  });
  Cache cache(options);
  ASSERT_TRUE(givesRightKernel(cache, compiler, "a") && givesRightKernel(cache, compiler, "a"));
  EXPECT_EQ(infos, std::vector<std::string>{"compiling kernel 'a' for sm_90"});
}

TEST(Cache, strictModeTakesWhatIsThere) {
  TemporaryFolder folder;
  StubCompiler compiler;
  CacheOptions options = optionsFor(folder.path);
  {
    Cache cache(options);
    ASSERT_TRUE(givesRightKernel(cache, compiler, "a"));
  }
  options.strict = true;
  Cache cache(options);
  EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
}

TEST(Cache, causesAreToldOncePerProcessNotPerCache) {
  std::shared_ptr<Causes> causes = freshCauses();
  Messages messages;
  for (int i = 0; i < 3; ++i) {
    CacheOptions options = optionsFor("/dev/null/cache");
    options.reporter = messages.reporter(causes);
    Cache cache(options);
    StubCompiler compiler;
    EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
  }
  EXPECT_EQ(messages.count(), 1u) << messages.all();
}

TEST(Cache, programsAndObjectsTakeTheSameRoad) {
  TemporaryFolder folder;
  ProgramRecord record;
  record.op = "scale";
  int calls = 0;
  auto make = [&] {
    ++calls;
    return Result<ProgramRecord>(record);
  };
  std::string key = programKey("request", "hash");
  for (int i = 0; i < 2; ++i) {
    Cache cache(optionsFor(folder.path));
    Result<ProgramRecord> got = compileProgram(cache, {key, "scale", ""}, make);
    ASSERT_TRUE(got);
    EXPECT_EQ(*got, record);
  }
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(std::filesystem::exists(folder / ("index/" + key)));
}

} // namespace
} // namespace fw::jit::testing
