// Handed cases of the kernel cache and its keys (N, O, R07), by their ids.
#include "tests/jit/Support.h"

#include "compiler/jit/FileLock.h"

#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace fw::jit::testing {
namespace {

/// Runs `body` in `count` children at once and returns how many did not end with 0.
int failuresOf(int count, const std::function<int(int)> &body) {
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i)
    children.push_back(startChild([&, i] { return body(i); }));
  int failures = 0;
  for (pid_t child : children)
    failures += waitFor(child) != 0;
  return failures;
}

// 8 cold processes, the same 8 kernels, one folder, 50 rounds.
TEST(CacheCases, case_N01) {
  int compiles = 0;
  for (int round = 0; round < 50; ++round) {
    TemporaryFolder folder;
    EXPECT_EQ(failuresOf(8,
                         [&](int) {
                           StubCompiler compiler(std::chrono::microseconds(200));
                           Messages messages;
                           Cache cache(optionsFor(folder.path, messages));
                           for (int kernel = 0; kernel < 8; ++kernel)
                             if (!givesRightKernel(cache, compiler, "k" + std::to_string(kernel)))
                               return 1;
                           writeFile(folder / ("calls/" + std::to_string(::getpid())),
                                     std::to_string(compiler.calls));
                           return messages.count() == 0 ? 0 : 2;
                         }),
              0);
    for (const auto &file : std::filesystem::directory_iterator(folder / "calls"))
      compiles += std::stoi(readFile(file.path()));
  }
  EXPECT_EQ(compiles, 50 * 8) << "one compile per kernel and host";
}

// Kill -9 while compiling; the next run goes on within seconds.
TEST(CacheCases, case_N03) {
  TemporaryFolder folder;
  pid_t child = startChild([&] {
    StubCompiler slow(std::chrono::seconds(60));
    Cache cache(optionsFor(folder.path));
    return givesRightKernel(cache, slow, "a") ? 0 : 1;
  });
  std::string lock = folder / ("kernels/" + keyOf(StubCompiler(), requestFor("a")) + ".lock");
  for (int i = 0; i < 500 && !std::filesystem::exists(lock); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ::kill(child, SIGKILL);
  EXPECT_EQ(waitFor(child), -1);
  ASSERT_TRUE(std::filesystem::exists(lock)) << "the killed process left its lock file";

  auto begin = std::chrono::steady_clock::now();
  StubCompiler compiler;
  Messages messages;
  Cache cache(optionsFor(folder.path, messages));
  EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_EQ(messages.count(), 0u) << messages.all();
  EXPECT_EQ(cache.list().size(), 1u);
}

TEST(CacheCases, case_N03_livingOwnerIsWaitedForOnlySoLong) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "kernels");
  std::string lock = folder / ("kernels/" + keyOf(StubCompiler(), requestFor("a")) + ".lock");
  pid_t child = startChild([&] {
    Files files;
    FileLock held(files, lock, 0600);
    (void)held.acquire(std::chrono::milliseconds(0));
    std::this_thread::sleep_for(std::chrono::seconds(60));
    return 0;
  });
  for (int i = 0; i < 500 && !std::filesystem::exists(lock); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  StubCompiler compiler;
  Messages messages;
  CacheOptions options = optionsFor(folder.path, messages);
  options.patience = std::chrono::milliseconds(200);
  ::chmod((folder / "kernels").c_str(), 0700);
  Cache cache(options);
  EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
  EXPECT_EQ(compiler.calls, 1);
  EXPECT_EQ(cache.counters(EntryKind::Kernel).waits, 1u);
  EXPECT_NE(messages.all().find("FUSEWRIGHT_CACHE_WAIT"), std::string::npos) << messages.all();
  ::kill(child, SIGKILL);
  waitFor(child);
}

/// Fails the calls that a test names, as a network or full file system would.
class FaultyFiles final : public Files {
public:
  int unlinkError = 0, lockError = 0, renameError = 0, writeError = 0;
  size_t writeLimit = SIZE_MAX; ///< bytes before writeError

  int unlink(const char *path) override {
    return unlinkError ? fail(unlinkError) : Files::unlink(path);
  }
  int flock(int file, int operation) override {
    return lockError ? fail(lockError) : Files::flock(file, operation);
  }
  int rename(const char *from, const char *to) override {
    return renameError ? fail(renameError) : Files::rename(from, to);
  }
  ssize_t write(int file, const void *bytes, size_t count) override {
    if (writeError && written >= writeLimit)
      return fail(writeError);
    ssize_t done = Files::write(file, bytes, std::min(count, writeLimit - written));
    written += size_t(std::max<ssize_t>(done, 0));
    return done;
  }

private:
  static int fail(int error) {
    errno = error;
    return -1;
  }
  size_t written = 0;
};

/// Gives each file that is locked another number than its name has, as some network and layered
/// file systems do.
class NamelessFiles final : public Files {
public:
  explicit NamelessFiles(std::string path) : path(std::move(path)) {}
  int flock(int file, int operation) override {
    ++calls;
    ::unlink(path.c_str());
    return Files::flock(file, operation);
  }
  const std::string path;
  int calls = 0;
};

TEST(CacheCases, aLockOnAFileThatLosesItsNameEachTimeIsTriedOnlySoLong) {
  TemporaryFolder folder;
  NamelessFiles files(folder / "lock");
  FileLock lock(files, files.path, 0600);
  int told = 0;
  EXPECT_EQ(lock.acquire(std::chrono::milliseconds(60), [&] { ++told; }),
            FileLock::Outcome::TimedOut);
  EXPECT_EQ(told, 1);
  EXPECT_LT(files.calls, 20) << "attempts are paced";
}

size_t filesBelow(const std::string &folder) {
  size_t count = 0;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder))
    count += entry.is_regular_file();
  return count;
}

// Removing a staged file or a lock says "busy": ignored, cleaned later.
TEST(CacheCases, case_N05) {
  TemporaryFolder folder;
  StubCompiler compiler;
  Messages messages;
  FaultyFiles files;
  files.unlinkError = EBUSY;
  files.renameError = EBUSY;
  CacheOptions options = optionsFor(folder.path, messages);
  options.folder.files = &files;
  {
    Cache cache(options);
    EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
  }
  EXPECT_EQ(filesBelow(folder.path), 2u) << "a staged file and a lock are left";
  files = FaultyFiles();
  struct timespec old[2] = {{::time(nullptr) - 7200, 0}, {::time(nullptr) - 7200, 0}};
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder.path))
    if (entry.is_regular_file())
      ::utimensat(AT_FDCWD, entry.path().c_str(), old, 0);
  Cache cache(options);
  EXPECT_TRUE(givesRightKernel(cache, compiler, "b"));
  EXPECT_EQ(filesBelow(folder.path), 1u) << "only the new entry";
}

// Folder not writable, owned by somebody else, or no home set.
TEST(CacheCases, case_N07) {
  TemporaryFolder folder;
  ASSERT_EQ(::chmod(folder.path.c_str(), 0755), 0);
  std::filesystem::create_directory(folder / "readonly");
  ASSERT_EQ(::chmod((folder / "readonly").c_str(), 0555), 0);
  auto run = [](const std::string &path, const char *wanted) {
    return inChild([&] {
      becomeUnprivileged();
      StubCompiler compiler;
      Messages messages;
      Cache cache(optionsFor(path, messages));
      if (!givesRightKernel(cache, compiler, "a") || !givesRightKernel(cache, compiler, "b") ||
          !givesRightKernel(cache, compiler, "a"))
        return 1;
      bool told = messages.count() == 1 &&
                  messages.all().find("FUSEWRIGHT_CACHE_DIR") != std::string::npos &&
                  messages.all().find(wanted) != std::string::npos;
      if (!told)
        std::fprintf(stderr, "got: %s\n", messages.all().c_str());
      return told && compiler.calls == 2 ? 0 : 2;
    });
  };
  EXPECT_EQ(run(folder / "readonly", "cannot be written"), 0);
  EXPECT_EQ(run("/dev/null/cache", "Not a directory"), 0);
  EXPECT_EQ(run(folder / "readonly/new/cache", "cannot be written"), 0);

  if (::geteuid() != 0) {
    std::printf("skipped: a folder of another user needs root to be made\n");
  } else {
    std::filesystem::create_directory(folder / "foreign");
    ASSERT_EQ(::chown((folder / "foreign").c_str(), 12345, 12345), 0);
    EXPECT_EQ(run(folder / "foreign", "not trusted"), 0);
  }

  EXPECT_EQ(inChild([&] { // no home: a private folder below the temporary one, told once
              StubCompiler compiler;
              Messages messages;
              auto environment = [&](const char *name) -> const char * {
                return name == std::string("TMPDIR") ? folder.path.c_str() : nullptr;
              };
              CacheOptions options = cacheOptions(Settings(), environment);
              options.reporter = messages.reporter();
              Cache cache(options);
              bool right =
                  givesRightKernel(cache, compiler, "a") && givesRightKernel(cache, compiler, "b");
              std::string own = folder / ("fusewright-" + std::to_string(::geteuid()));
              return right && messages.count() == 1 && filesBelow(own) == 2 ? 0 : 1;
            }),
            0);
}

TEST(CacheCases, case_N07_nothingUsableAtAllStaysInMemory) {
  StubCompiler compiler;
  Messages messages;
  auto environment = [](const char *) -> const char * { return "/dev/null"; };
  CacheOptions options = cacheOptions(Settings(), environment);
  options.reporter = messages.reporter();
  Cache cache(options);
  EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
  EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
  EXPECT_EQ(compiler.calls, 1);
  EXPECT_EQ(messages.count(), 1u) << messages.all();
}

// Device full or quota hit while writing: no partial entry, the run goes on.
TEST(CacheCases, case_N09) {
  for (int error : {ENOSPC, EDQUOT, EFBIG}) {
    TemporaryFolder folder;
    StubCompiler compiler;
    Messages messages;
    FaultyFiles files;
    files.writeError = error;
    files.writeLimit = 1000;
    CacheOptions options = optionsFor(folder.path, messages);
    options.folder.files = &files;
    Cache cache(options);
    EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
    EXPECT_TRUE(givesRightKernel(cache, compiler, "b"));
    EXPECT_EQ(filesBelow(folder.path), 0u);
    EXPECT_EQ(messages.count(), 1u) << messages.all();
    EXPECT_NE(messages.all().find("no room left"), std::string::npos);
  }
}

TEST(CacheCases, case_N09_realLimitOfTheSystem) {
  TemporaryFolder folder;
  EXPECT_EQ(inChild([&] {
              ::signal(SIGXFSZ, SIG_IGN);
              struct rlimit limit = {1000, 1000};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              StubCompiler compiler;
              Messages messages;
              Cache cache(optionsFor(folder.path, messages));
              bool right =
                  givesRightKernel(cache, compiler, "a") && givesRightKernel(cache, compiler, "b");
              return right && messages.count() == 1 && filesBelow(folder.path) == 0 ? 0 : 1;
            }),
            0);
}

// A group's folder keeps its modes; the staging folder is private.
TEST(CacheCases, case_N11) {
  TemporaryFolder folder;
  ASSERT_EQ(::chmod(folder.path.c_str(), 02770), 0);
  StubCompiler compiler;
  Messages messages;
  CacheOptions options = optionsFor(folder.path, messages);
  options.folder.share = true;
  Cache cache(options);
  EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
  auto mode = [](const std::string &path) {
    struct stat facts{};
    return ::lstat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0u;
  };
  EXPECT_EQ(mode(folder.path), 02770u);
  EXPECT_EQ(mode(folder / "kernels"), 02770u);
  EXPECT_EQ(mode(cache.list().at(0).path), 0660u);
  EXPECT_EQ(mode(folder / (".staging-" + std::to_string(::geteuid()))), 0700u);
  EXPECT_EQ(messages.count(), 0u) << messages.all();
}

TEST(CacheCases, case_N11_entriesOfTheGroupAreUsedOnlyWhereSharingIsAskedFor) {
  if (::geteuid() != 0) {
    std::printf("skipped: two users of one folder need root\n");
    return;
  }
  TemporaryFolder folder;
  ASSERT_EQ(::chown(folder.path.c_str(), 0, 65534), 0);
  ASSERT_EQ(::chmod(folder.path.c_str(), 02770), 0);
  auto run = [&](bool share, bool other) {
    return inChild([&] {
      if (other)
        becomeUnprivileged();
      StubCompiler compiler;
      CacheOptions options = optionsFor(folder.path);
      options.folder.share = share;
      Cache cache(options);
      return givesRightKernel(cache, compiler, "a") ? 10 + compiler.calls : 1;
    });
  };
  EXPECT_EQ(run(true, true), 11);
  EXPECT_EQ(run(true, false), 10) << "root reads what the other member wrote";
  EXPECT_EQ(run(false, false), 11) << "without sharing the group's folder is not trusted";
}

// Two hosts, the same pid, one network folder.
TEST(CacheCases, case_N13) {
  EXPECT_NE(stagingName("node1", 4711, 1), stagingName("node2", 4711, 1));
  EXPECT_NE(stagingName("node", 4711, 1), stagingName("node", 4711, 2))
      << "containers share host names";
  EXPECT_NE(freshStagingName(), freshStagingName());
  EXPECT_EQ(stagingName("a/../b", 1, 2).find('/'), std::string::npos);
}

TEST(CacheCases, locksThatDoNotWorkMeanACompileAndOneWarning) {
  TemporaryFolder folder;
  StubCompiler compiler;
  Messages messages;
  FaultyFiles files;
  files.lockError = ENOLCK;
  CacheOptions options = optionsFor(folder.path, messages);
  options.folder.files = &files;
  Cache cache(options);
  EXPECT_TRUE(givesRightKernel(cache, compiler, "a"));
  EXPECT_TRUE(givesRightKernel(cache, compiler, "b"));
  EXPECT_EQ(cache.list().size(), 2u);
  EXPECT_EQ(messages.count(), 1u) << messages.all();
  EXPECT_NE(messages.all().find("cannot be locked"), std::string::npos);
}

/// A process that asks for a program of one kernel. Returns ten and the number of records made, or
/// one where the program is not whole.
int recordsMade(const TemporaryFolder &folder, const char *release = "stub 1.0") {
  return inChild([&] {
    StubCompiler compiler;
    compiler.release = release;
    Cache cache(optionsFor(folder.path));
    int made = 0;
    std::string key = programKey("adamw | p=f32", "op hash");
    Result<ProgramRecord> program =
        compileProgram(cache, {key, "adamw", "op adamw\n"}, [&]() -> Result<ProgramRecord> {
          ++made;
          Result<ArtefactPtr> kernel = compileKernel(cache, compiler, requestFor("adamw"));
          if (!kernel)
            return kernel.error();
          ProgramRecord record;
          record.kernels = {{(*kernel)->launch, (*kernel)->key}};
          return record;
        });
    bool right = program && *findArtefact(cache, EntryKind::Kernel, program->kernels[0].key) &&
                 compiler.calls == made;
    return right ? 10 + made : 1;
  });
}

// The same op in two processes: the second compiles nothing.
TEST(CacheCases, case_O01) {
  TemporaryFolder folder;
  EXPECT_EQ(recordsMade(folder), 11);
  EXPECT_EQ(recordsMade(folder), 10);
}

// The kernel was pruned, and the compiler's version is another one by now: the kernel that is made
// has another key than the one in the record.
TEST(CacheCases, aRecordWhoseKernelIsGoneIsMadeAnewOnce) {
  TemporaryFolder folder;
  EXPECT_EQ(recordsMade(folder), 11);
  std::filesystem::remove_all(folder / "kernels");
  EXPECT_EQ(recordsMade(folder, "stub 2.0"), 11);
  EXPECT_EQ(recordsMade(folder, "stub 2.0"), 10);
}

TEST(CacheCases, aRecordThatCannotBeReadIsMadeAnew) {
  TemporaryFolder folder;
  const std::string key = programKey("request", "op hash");
  auto makeNothing = [] { return Result<ProgramRecord>(ProgramRecord()); };
  {
    Cache cache(optionsFor(folder.path));
    ASSERT_TRUE(cache.get({EntryKind::Program, key, key}, [] {
      Entry entry;
      entry.add(Section::Record, "of another time");
      return Result<Entry>(entry);
    }));
    EXPECT_TRUE(compileProgram(cache, {key, "x", ""}, makeNothing));
  }
  Cache cache(optionsFor(folder.path));
  EXPECT_TRUE(compileProgram(cache, {key, "x", ""}, makeNothing));
  EXPECT_EQ(cache.counters(EntryKind::Program).compiles, 0u);
}

// A change that kernel X does not contain: X still hits.
TEST(CacheCases, case_O07) {
  TemporaryFolder folder;
  StubCompiler compiler;
  for (const char *buildId :
       {"before", "after"}) { // any source of the compiler or a template was edited
    Cache cache(optionsFor(folder.path));
    std::string key = programKey("request", "op hash", buildId);
    ASSERT_TRUE(compileProgram(cache, {key, "x", ""}, [&]() -> Result<ProgramRecord> {
      EXPECT_TRUE(givesRightKernel(cache, compiler, "the same emitted text"));
      return ProgramRecord();
    }));
    EXPECT_EQ(cache.counters(EntryKind::Program).compiles, 1u);
  }
  EXPECT_EQ(compiler.calls, 1);
}

// An object of an AVX-512 host is a miss on an AVX2 host.
TEST(CacheCases, case_R07) {
  TemporaryFolder folder;
  int calls = 0;
  auto objectFor = [&](const std::string &features) {
    Cache cache(optionsFor(folder.path));
    ObjectRequest request{.phaseText = "module", .cpuFeatures = features, .backendVersion = "22.1"};
    Result<ArtefactPtr> object = compileObject(cache, request, [&] {
      ++calls;
      return Result<std::string>("code for " + features);
    });
    return std::string((*object)->code);
  };
  EXPECT_EQ(objectFor("+avx2,+avx512f"), "code for +avx2,+avx512f");
  EXPECT_EQ(objectFor("+avx2"), "code for +avx2");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(objectFor("+avx2,+avx512f"), "code for +avx2,+avx512f");
  EXPECT_EQ(calls, 2) << "entries of both hosts stand side by side";
}

} // namespace
} // namespace fw::jit::testing
