// What is compiled, and how often.
#include "tests/gpu/suite/Trial.h"

#include <cstdio>
#include <filesystem>

namespace suite {
namespace {

class Compiles : public GpuTest {};

/// Launches of a program over vectors, on the device or as plans.
class Runner {
public:
  Runner(FreshContext &context, const char *program)
      : context(context), kernel(makeKernel(context, program)), before(context.counters()) {}

  void launch(const List &list, const Scalars &scalars) {
    Trial trial(context, onGpu, {{kernel.get(), list}});
    trial.launch(scalars);
    trial.run(scalars);
  }
  uint64_t compiles() const { return context.counters().compiles - before.compiles; }
  uint64_t modules() const { return context.counters().modules - before.modules; }

private:
  FreshContext &context;
  std::unique_ptr<Kernel> kernel;
  fw_counters before;
};

TEST_F(Compiles, one_for_the_gpu_and_one_for_the_cpu) {
  FreshContext fresh;
  makeKernel(fresh, "adamw");
  EXPECT_EQ(fresh.counters().compiles, 2u);
  makeKernel(fresh, "adamw");
  EXPECT_EQ(fresh.counters().compiles, 2u);
}

TEST_F(Compiles, a_program_is_loaded_once) {
  FreshContext fresh;
  auto adamw = makeKernel(fresh, "adamw");
  for (int time = 0; time < 3; ++time)
    EXPECT_OK(fw_preload(fresh, adamw->gpu.get(), 0));
  Trial trial(fresh, onGpu, {{adamw.get(), vectors({5})}});
  trial.run(Scalars().set("t", 1));
  trial.launch(Scalars().set("t", 1));
  EXPECT_EQ(fresh.counters().modules, 1u);
}

TEST_F(Compiles, case_Q01_none_for_a_thousand_learning_rates) {
  FreshContext fresh;
  Runner runner(fresh, "adamw");
  Trial trial(fresh, onGpu, {{makeKernel(fresh, "adamw").get(), vectors({5})}});
  for (int i = 1; i <= 1000; ++i)
    trial.run(Scalars().set("t", i).set("lr", 1.0 / i));
  EXPECT_EQ(runner.compiles(), 0u);
  EXPECT_EQ(fresh.counters().launches, 1000u);
}

TEST_F(Compiles, none_for_another_length) {
  FreshContext fresh;
  Runner runner(fresh, "adamw");
  for (int64_t length : {1, 7, 64, 1000, 4099})
    runner.launch(vectors({length}), Scalars().set("t", 1));
  EXPECT_EQ(runner.compiles(), 0u);
  EXPECT_EQ(runner.modules(), 1u);
}

TEST_F(Compiles, case_Q09_none_for_a_thousand_tensors) {
  FreshContext fresh;
  Runner runner(fresh, "adamw");
  for (size_t count : {1, 10, 1000})
    runner.launch(vectors(Sizes(count, 3)), Scalars().set("t", 1));
  EXPECT_EQ(runner.compiles(), 0u);
  EXPECT_EQ(runner.modules(), 1u);
}

/// What `gpu-suite --compiles` prints with this cache folder.
std::string compilesOfAProcess(const std::string &folder) {
  const std::string command = "FUSEWRIGHT_CACHE_DIR='" + folder + "' '" +
                              std::filesystem::read_symlink("/proc/self/exe").string() +
                              "' --compiles";
  std::FILE *pipe = popen(command.c_str(), "r");
  char line[64] = "";
  const bool got = pipe && std::fgets(line, sizeof line, pipe);
  const int status = pipe ? pclose(pipe) : -1;
  return got && status == 0 ? line : "failed";
}

TEST_F(Compiles, case_Q07_the_first_of_four_processes_alone) {
  FreshContext fresh; // for its folder
  EXPECT_EQ(compilesOfAProcess(fresh.folder()), "2\n");
  for (int process = 2; process <= 4; ++process)
    EXPECT_EQ(compilesOfAProcess(fresh.folder()), "0\n");
}

} // namespace
} // namespace suite
