// Steps of two ranks, one process each, that reduce through MPI: one norm, and one decision to
// skip. Run by world.py; every rank runs every test, in the same order.
#include "tests/gpu/suite/Steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mpi.h>

namespace suite {
namespace {

const double infinity = std::numeric_limits<double>::infinity();

int rankOf() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// The numbers of all ranks, in their order.
std::vector<double> ofAllRanks(double number) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<double> all(static_cast<size_t>(size));
  MPI_Allgather(&number, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
  return all;
}
bool isSameOnAllRanks(double number) {
  const std::vector<double> all = ofAllRanks(number);
  return std::ranges::all_of(all, [&](double other) {
    return other == number || (std::isnan(other) && std::isnan(number));
  });
}

/// MPI says nothing of a NaN in MPI_MAX.
void maxWithNaN(void *from, void *into, int *count, MPI_Datatype *) {
  for (int i = 0; i < *count; ++i) {
    const double a = static_cast<double *>(from)[i];
    double &b = static_cast<double *>(into)[i];
    b = std::isnan(a) || a > b ? a : b;
  }
}

class World : public testing::Test {
protected:
  World() {
    MPI_Op_create(maxWithNaN, /*commute=*/1, &max);
    world.struct_size = sizeof world;
    world.user_data = this;
    world.all_reduce = [](void *self, void *data, size_t count, const char *dtype, const char *kind,
                          fw_stream) {
      World &test = *static_cast<World *>(self);
      EXPECT_STREQ(dtype, "f64");
      ++test.exchanges;
      const MPI_Op op = kind == std::string("sum") ? MPI_SUM : test.max;
      return MPI_Allreduce(MPI_IN_PLACE, data, int(count), MPI_DOUBLE, op, MPI_COMM_WORLD) ==
                     MPI_SUCCESS
                 ? FW_OK
                 : FW_DEVICE;
    };
  }
  ~World() override { MPI_Op_free(&max); }

  const Kernel &compiled(const ProgramRow &row) {
    rows.push_back(std::make_unique<ProgramRow>(row));
    return *kernels.emplace_back(makeCpuKernel(context.get(), *rows.back()));
  }
  double number(const Trial &trial, const std::string &operand) const {
    return trial.arena().numbers(trial.image(), operand).front();
  }

  api::Context context = api::context();
  std::vector<std::unique_ptr<ProgramRow>> rows;
  std::vector<std::unique_ptr<Kernel>> kernels;
  MPI_Op max = MPI_OP_NULL;
  fw_world world = {};
  int exchanges = 0;
  const int rank = rankOf();
};

/// The shard of a rank: its own list, which may be empty.
class Shard {
public:
  Shard(fw_context *context, const std::vector<GroupSpec> &groups, uint64_t seed)
      : kernel(*groups.front().kernel), counter(context, onCpu, {0}),
        trial(context, onCpu, groups, seed), clean(trial.images()) {}

  Scalars scalars() const { return stepScalars(kernel); }
  void run(const fw_world &world) {
    trial.run(scalars().setData("t", counter.data(), "i64", 1, true), nullptr, &world);
  }
  double squares() const {
    double sum = 0;
    for (size_t g = 0; g < clean.size(); ++g)
      for (double x : trial.arena(g).numbers(clean[g], "g"))
        sum += x * x;
    return sum;
  }
  bool isUnchanged(const std::vector<Bytes> &before) const {
    for (size_t g = 0; g < before.size(); ++g)
      for (const OperandInfo &operand : trial.arena(g).kernel.operands)
        if (operand.isElement()) {
          const size_t k = kernel.operand(operand.name);
          if (trial.arena(g).words(trial.image(g), k) != trial.arena(g).words(before[g], k))
            return false;
        }
    return true;
  }

  const Kernel &kernel;
  Numbers<int64_t> counter;
  Trial trial;
  const std::vector<Bytes> clean;
};

const char *const guarded = "unscale,clip,guard";

TEST_F(World, ranks_have_one_norm_and_step_together) {
  const HandStep &adamw = handStep("adamw");
  const Kernel &plain = compiled(adamw.row("all.norm=f64", guarded)),
               &narrow = compiled(adamw.row("grad=bf16,all.norm=f64", guarded));
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(2 * seed + uint64_t(rank));
    const bool isEmpty = seed % 3 == 0 && rank == int(seed % 2);
    const List list = isEmpty ? seed % 2 ? List{} : vectors({0, 0}) : randomList(random);
    Shard shard(context.get(),
                {{&plain, list, {}, Values::USUAL},
                 {&narrow, isEmpty ? List{} : randomList(random), {}, Values::USUAL}},
                random());
    shard.run(world);
    const std::vector<double> squares = ofAllRanks(shard.squares());
    double norm = 0;
    for (double sum : squares)
      norm += sum;
    norm = std::sqrt(norm) / 24; // all.scale
    EXPECT_NEAR(number(shard.trial, "all.norm"), norm, 1e-5 * norm);
    EXPECT_TRUE(isSameOnAllRanks(number(shard.trial, "all.norm")));
    EXPECT_EQ(number(shard.trial, "all.skipped"), 0);
    EXPECT_EQ(shard.counter.read().front(), 1);
    const Scalars given = shard.scalars().set("t", 1).set("norm", number(shard.trial, "all.norm"));
    for (size_t g = 0; g < 2; ++g)
      EXPECT_EQ(checkByHand(context.get(), adamw, shard.trial.arena(g), shard.clean[g],
                            shard.trial.image(g), given),
                "");
  }
  EXPECT_EQ(exchanges, 2 * 10) << "a sum of squares, and the first bad tensor as a maximum";
}

TEST_F(World, all_ranks_skip_where_one_has_an_infinity) {
  const Kernel &kernel = compiled(handStep("adamw").row("all.norm=f64", guarded));
  int step = 0;
  for (int bad : {0, 1})
    for (bool isOtherEmpty : {false, true}) {
      SCOPED_TRACE("rank " + std::to_string(bad) + " has an infinity");
      const bool isEmpty = isOtherEmpty && rank != bad;
      Shard shard(context.get(),
                  {{&kernel, isEmpty ? List{} : vectors({5, 0, 300}), {}, Values::USUAL}},
                  uint64_t(++step));
      std::vector<Bytes> before = shard.clean;
      if (rank == bad)
        shard.trial.arena().set(before[0], 2, kernel.operand("g"), 299, 0x7f800000);
      shard.trial.write(0, before[0]);
      shard.run(world);
      EXPECT_EQ(number(shard.trial, "all.skipped"), 3) << "the tensor's number on its rank, and 1";
      EXPECT_EQ(number(shard.trial, "all.norm"), infinity);
      EXPECT_TRUE(shard.isUnchanged(before));
      EXPECT_EQ(shard.counter.read().front(), 0);
      shard.trial.reset();
      shard.run(world);
      EXPECT_EQ(number(shard.trial, "all.skipped"), 0);
      EXPECT_EQ(shard.counter.read().front(), 1);
      EXPECT_EQ(shard.isUnchanged(shard.clean), isEmpty);
    }
}

/// Finite gradients whose squares overflow on one rank.
TEST_F(World, all_ranks_skip_where_the_norm_overflows) {
  const Kernel &kernel = compiled(handStep("adamw").row("all.norm=f64", guarded));
  Shard shard(context.get(), {{&kernel, vectors({40}), {}, Values::USUAL}}, 1);
  std::vector<Bytes> before = shard.clean;
  if (rank == 1)
    shard.trial.arena().set(before[0], 0, kernel.operand("g"), 7, 0x7f7fffff);
  shard.trial.write(0, before[0]);
  shard.run(world);
  EXPECT_EQ(number(shard.trial, "all.skipped"), infinity);
  EXPECT_TRUE(shard.isUnchanged(before));
  EXPECT_EQ(shard.counter.read().front(), 0);
}

TEST_F(World, every_kind_of_reduction) {
  const Kernel &kernel = compiled(programRow("extremes"));
  for (bool isEmpty : {false, true}) { // on rank 1
    Trial trial(context.get(), onCpu,
                {{&kernel, isEmpty && rank == 1 ? List{} : vectors({100, 7}), {}, Values::USUAL}},
                uint64_t(rank + 1));
    const std::vector<double> x = trial.arena().numbers(trial.arena().bytes, "x");
    double low = infinity, high = -infinity, total = 0;
    for (double value : x) {
      low = std::min(low, value);
      high = std::max(high, value);
      total += value;
    }
    trial.run({}, nullptr, &world);
    const std::vector<double> lows = ofAllRanks(low), highs = ofAllRanks(high),
                              totals = ofAllRanks(total);
    EXPECT_EQ(number(trial, "low"), std::ranges::min(lows));
    EXPECT_EQ(number(trial, "high"), std::ranges::max(highs));
    EXPECT_NEAR(number(trial, "total"), totals[0] + totals[1], 1e-4);
    EXPECT_TRUE(isSameOnAllRanks(number(trial, "total")));
  }
}

TEST_F(World, a_nan_of_one_rank_is_that_of_all) {
  const Kernel &kernel = compiled(programRow("extremes"));
  for (int bad : {0, 1}) {
    Trial trial(context.get(), onCpu, {{&kernel, vectors({9}), {}, Values::USUAL}});
    Bytes image = trial.image();
    if (rank == bad)
      trial.arena().set(image, 0, kernel.operand("x"), 4, 0x7fc00000);
    trial.write(0, image);
    trial.run({}, nullptr, &world);
    for (const char *result : {"low", "high", "total"})
      EXPECT_TRUE(std::isnan(number(trial, result))) << result << ", rank " << rank;
  }
}

/// A rank other than 0 is silent but for what fails.
class Failures : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult &result) override {
    if (result.failed())
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", rankOf(), result.file_name(),
                   result.line_number(), result.message());
  }
};

} // namespace
} // namespace suite

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  testing::TestEventListeners &listeners = testing::UnitTest::GetInstance()->listeners();
  if (suite::rankOf() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new suite::Failures);
  }
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    std::fprintf(stderr, "expected 2 ranks, got %d; run it by tests/steps/world.py\n", size);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int status = RUN_ALL_TESTS();
  if (status != 0)
    MPI_Abort(MPI_COMM_WORLD, status); // the other rank may wait for this one
  MPI_Finalize();
  return 0;
}
