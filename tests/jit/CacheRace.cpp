// Many processes on one cold cache, with everything that goes wrong on clusters going wrong: kill
// -9 in the middle of a compile, files truncated, flipped and replaced, a read-only folder, a full
// disk. Passes when no process ever gets a wrong kernel, none hangs, and none tells a cause twice.
//
// usage: cache-race [processes [rounds]]        prints its figures
#include "tests/jit/Support.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>

namespace fw::jit::testing {
namespace {

constexpr int kernelCount = 8, hangSeconds = 60;
enum class Role { Plain, Victim, ReadOnly, FullDisk };

/// What a process tells the parent, in one write to a pipe.
struct Outcome {
  uint64_t right = 0, wrong = 0, compiles = 0, diskHits = 0, waits = 0, faults = 0;
  uint64_t warnings = 0, repeated = 0; ///< told; told again for a cause that was told
};

std::string nameOf(int kernel) { return "kernel " + std::to_string(kernel); }

/// Counts warnings per cause: the words in front of the circumstances.
class WarningCount {
public:
  Reporter reporter() {
    return Reporter([this](Severity severity, std::string_view text) {
      if (severity <= Severity::Warning)
        ++perCause[std::string(text.substr(0, text.find(" (")))];
    });
  }
  void into(Outcome &outcome) const {
    for (const auto &[cause, count] : perCause) {
      outcome.warnings += count;
      outcome.repeated += count - 1;
    }
  }

private:
  std::map<std::string, uint64_t> perCause;
};

/// Every kernel twice, the second time with a new cache object, in an order of its own.
Outcome work(const std::string &folder, Role role, unsigned seed) {
  if (role == Role::ReadOnly)
    becomeUnprivileged();
  if (role == Role::FullDisk) {
    ::signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  Outcome outcome;
  WarningCount warnings;
  std::mt19937 random(seed);
  StubCompiler compiler(std::chrono::microseconds(role == Role::Victim ? 3000 : 500));
  for (int pass = 0; pass < 2; ++pass) {
    CacheOptions options = optionsFor(folder);
    options.reporter = warnings.reporter();
    Cache cache(options);
    std::vector<int> order(kernelCount);
    for (int i = 0; i < kernelCount; ++i)
      order[size_t(i)] = i;
    std::shuffle(order.begin(), order.end(), random);
    for (int kernel : order)
      ++(givesRightKernel(cache, compiler, nameOf(kernel)) ? outcome.right : outcome.wrong);
    CacheCounters counters = cache.counters(EntryKind::Kernel);
    outcome.compiles += counters.compiles;
    outcome.diskHits += counters.diskHits;
    outcome.waits += counters.waits;
    outcome.faults += counters.faults;
  }
  warnings.into(outcome);
  return outcome;
}

/// Truncates, flips and replaces files of the cache until it is killed.
[[noreturn]] void vandalise(const std::string &folder, unsigned seed) {
  std::mt19937 random(seed);
  while (true) {
    ::usleep(500 + random() % 1500);
    std::vector<std::string> paths;
    std::error_code ignored;
    for (std::filesystem::directory_iterator entry(folder + "/kernels", ignored), end;
         !ignored && entry != end; entry.increment(ignored))
      if (entry->path().extension() == ".fwk")
        paths.push_back(entry->path().string());
    if (paths.empty())
      continue;
    const std::string &path = paths[random() % paths.size()];
    switch (random() % 3) {
    case 0:
      (void)::truncate(path.c_str(), long(random() % 3000));
      break;
    case 1: {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(long(random() % 4000));
      file.put(char(random()));
      break;
    }
    case 2: // a whole file of another key: the checksum alone must tell
      std::filesystem::copy_file(paths[random() % paths.size()], path,
                                 std::filesystem::copy_options::overwrite_existing, ignored);
    }
  }
}

/// A folder with half of the kernels that nobody but its owner may write.
void makeReadOnlyFolder(const std::string &path) {
  {
    StubCompiler compiler;
    Cache cache(optionsFor(path));
    for (int kernel = 0; kernel < kernelCount / 2; ++kernel)
      givesRightKernel(cache, compiler, nameOf(kernel));
  }
  for (const auto &entry : std::filesystem::recursive_directory_iterator(path))
    ::chmod(entry.path().c_str(), entry.is_directory() ? 0555 : 0444);
  ::chmod(path.c_str(), 0555);
}

struct Totals {
  Outcome sum;
  int finished = 0, killed = 0, hung = 0, crashed = 0, mostFiles = 0;
};

Role roleOf(int process) {
  constexpr Role roles[] = {Role::Plain, Role::Victim,   Role::Plain, Role::FullDisk,
                            Role::Plain, Role::ReadOnly, Role::Plain, Role::Victim};
  return roles[process % 8];
}

void add(Outcome &sum, const Outcome &one) {
  sum.right += one.right, sum.wrong += one.wrong, sum.compiles += one.compiles,
      sum.diskHits += one.diskHits;
  sum.waits += one.waits, sum.faults += one.faults, sum.warnings += one.warnings,
      sum.repeated += one.repeated;
}

void collect(pid_t child, Role role, int pipe, Totals &totals) {
  int status = 0;
  ::waitpid(child, &status, 0);
  Outcome outcome;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    ++totals.hung;
  else if (WIFSIGNALED(status) && role == Role::Victim && WTERMSIG(status) == SIGKILL)
    ++totals.killed;
  else if (WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
           ::read(pipe, &outcome, sizeof outcome) == sizeof outcome)
    ++totals.finished, add(totals.sum, outcome);
  else
    ++totals.crashed;
}

void runRound(int processes, unsigned seed, Totals &totals) {
  TemporaryFolder place;
  ::chmod(place.path.c_str(), 0755);
  std::string folder = place / "cache", readOnly = place / "readonly";
  makeReadOnlyFolder(readOnly);

  std::vector<pid_t> children;
  std::vector<int> pipes;
  for (int i = 0; i < processes; ++i) {
    int ends[2];
    if (::pipe(ends) != 0)
      std::abort();
    Role role = roleOf(i);
    children.push_back(startChild([&] {
      ::alarm(hangSeconds);
      Outcome outcome = work(role == Role::ReadOnly ? readOnly : folder, role, seed + unsigned(i));
      return ::write(ends[1], &outcome, sizeof outcome) == sizeof outcome ? 0 : 1;
    }));
    ::close(ends[1]);
    pipes.push_back(ends[0]);
  }
  pid_t vandal = startChild([&]() -> int { vandalise(folder, seed); });
  std::mt19937 random(seed);
  for (int i = 0; i < processes; ++i)
    if (roleOf(i) == Role::Victim) {
      ::usleep(random() % 8000);
      ::kill(children[size_t(i)], SIGKILL);
    }
  for (int i = 0; i < processes; ++i) {
    collect(children[size_t(i)], roleOf(i), pipes[size_t(i)], totals);
    ::close(pipes[size_t(i)]);
  }
  ::kill(vandal, SIGKILL);
  ::waitpid(vandal, nullptr, 0);
}

int report(int processes, int rounds, double seconds, const Totals &totals) {
  const Outcome &sum = totals.sum;
  std::printf("%d processes x %d rounds, %d kernels each, twice: %.1f s\n", processes, rounds,
              kernelCount, seconds);
  std::printf("finished %d, killed %d, hung %d, crashed %d\n", totals.finished, totals.killed,
              totals.hung, totals.crashed);
  std::printf("right kernels %llu, wrong kernels %llu\n", (unsigned long long)sum.right,
              (unsigned long long)sum.wrong);
  std::printf("compiles %llu, disk hits %llu, waits %llu, faults met %llu\n",
              (unsigned long long)sum.compiles, (unsigned long long)sum.diskHits,
              (unsigned long long)sum.waits, (unsigned long long)sum.faults);
  std::printf("warnings %llu, of them a cause told twice by one process %llu\n",
              (unsigned long long)sum.warnings, (unsigned long long)sum.repeated);
  bool good = sum.wrong == 0 && totals.hung == 0 && totals.crashed == 0 && sum.repeated == 0 &&
              sum.right > 0;
  std::printf("%s\n", good ? "ok" : "FAILED");
  return good ? 0 : 1;
}

} // namespace
} // namespace fw::jit::testing

int main(int count, char **arguments) {
  using namespace fw::jit::testing;
  int processes = count > 1 ? std::atoi(arguments[1]) : 16,
      rounds = count > 2 ? std::atoi(arguments[2]) : 50;
  if (processes < 1 || rounds < 1) {
    std::fprintf(stderr, "usage: cache-race [processes [rounds]]\n");
    return 2;
  }
  Totals totals;
  auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < rounds; ++round)
    runRound(processes, unsigned(1000 * round + 1), totals);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report(processes, rounds, seconds, totals);
}
