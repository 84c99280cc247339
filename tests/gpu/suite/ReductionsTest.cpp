// Reductions over lists, and the numbers per tensor or in all that they make.
#include "tests/gpu/suite/Trial.h"

#include <cmath>

namespace suite {
namespace {

class Reductions : public GpuTest {
protected:
  /// `count` tensors of 1, 2, 3 ... elements, every seventh of them empty.
  List many(size_t count) const {
    Sizes sizes;
    for (size_t i = 0; i < count; ++i)
      sizes.push_back(i % 7 == 3 ? 0 : int64_t(i) + 1);
    return vectors(sizes);
  }
  double squares(const Arena &arena, const std::string &operand) const {
    double sum = 0;
    for (double x : arena.numbers(arena.bytes, operand))
      sum += x * x;
    return sum;
  }
  /// Of the first group, after a run.
  double number(const Trial &trial, const std::string &operand) const {
    return trial.arena().numbers(trial.image(), operand).front();
  }
};

TEST_F(Reductions, of_many_tensors_are_right) {
  for (const char *program : {"l2norm", "l2norm_in_bf16", "l2norm_each_true", "infnorm_each_true",
                              "nonfinite", "clip_by_norm_each_true"})
    for (Values values : {Values::USUAL, Values::ANY}) {
      SCOPED_TRACE(program);
      const Kernel &kernel = compiled(program);
      Trial trial(context(), onGpu, {{&kernel, many(300), {}, values}});
      for (int run = 0; run < 2; ++run) {
        trial.reset();
        trial.run();
        EXPECT_EQ(trial.arena().check(trial.image(), {}), "");
      }
    }
}

TEST_F(Reductions, long_tensors_are_many_partials) {
  const Kernel &kernel = compiled("l2norm_each_true");
  const int64_t piece = 65536;
  const List list = vectors({piece - 1, 2 * piece + 4, 0, 5, piece}, /*offByOne=*/1);
  Trial trial(context(), onGpu, {{&kernel, list, {}, Values::USUAL}});
  EXPECT_EQ(trial.info().blocks, 6u);
  trial.run();
  EXPECT_EQ(trial.arena().check(trial.image(), {}), "");
}

TEST_F(Reductions, of_nothing_are_neutral) {
  for (const List &list : {List{}, vectors({0, 0})}) {
    for (const char *program : {"l2norm", "infnorm", "nonfinite"}) {
      Trial trial(context(), onGpu, {{&compiled(program), list}});
      EXPECT_EQ(trial.info().launches, 1u) << program;
      trial.run();
      EXPECT_EQ(trial.arena().check(trial.image(), {}), "") << program;
    }
    Trial each(context(), onGpu, {{&compiled("l2norm_each_true"), list}});
    each.run();
    EXPECT_EQ(each.arena().numbers(each.image(), "norms"), std::vector<double>(list.size(), 0.0));
  }
}

TEST_F(Reductions, two_dtype_sets_have_one_norm) {
  const Kernel &plain = compiled("l2norm"), &narrow = compiled("l2norm_in_bf16");
  const GroupSpec full = {&plain, many(20), {}, Values::USUAL},
                  half = {&narrow, many(30), {}, Values::USUAL},
                  empty = {&narrow, vectors({0}), {}, Values::USUAL};
  for (const auto &[groups, launches] :
       std::initializer_list<std::pair<std::vector<GroupSpec>, uint32_t>>{
           {{full, half}, 2}, {{half, full, half}, 2}, {{full, empty}, 1}, {{empty, full}, 1}}) {
    Trial trial(context(), onGpu, groups);
    EXPECT_EQ(trial.info().launches, launches);
    double sum = 0;
    for (size_t g = 0; g < groups.size(); ++g)
      sum += squares(trial.arena(g), "x");
    for (int run = 0; run < 2; ++run)
      trial.run();
    EXPECT_NEAR(number(trial, "norm"), std::sqrt(sum), 1e-5 * std::sqrt(sum));
  }
}

TEST_F(Reductions, follow_new_addresses) {
  const Kernel &kernel = compiled("l2norm");
  const List list = vectors({65536, 70000, 3});
  Trial trial(context(), onGpu, {{&kernel, list, {}, Values::USUAL}});
  const Arena other(kernel, list, 99, Values::USUAL);
  for (ptrdiff_t by : {0, 4, 16}) {
    Bytes moved = other.bytes; // the tensors, `by` bytes behind their places
    moved.insert(moved.begin(), size_t(by), std::byte{0});
    Block block(context(), onGpu, moved);
    std::vector<void *> addresses;
    for (size_t entry = 0; entry < list.size(); ++entry)
      addresses.push_back(static_cast<char *>(block.data()) + other.offset(entry, 0) + by);
    EXPECT_OK(fw_plan_set_pointers(trial.plan(), 0, "x", addresses.data(), addresses.size()));
    trial.run();
    const double norm = std::sqrt(squares(other, "x"));
    EXPECT_NEAR(number(trial, "norm"), norm, 1e-5 * norm) << by;
  }
}

TEST_F(Reductions, results_elsewhere) {
  const Kernel &each = compiled("l2norm_each_true");
  const List list = many(9);
  Trial trial(context(), onGpu, {{&each, list, {}, Values::USUAL}}),
      reference(context(), onGpu, {{&each, list, {}, Values::USUAL}});
  reference.run();
  Numbers<float> norms(context(), onGpu, std::vector<float>(list.size(), -1));
  std::vector<void *> addresses;
  for (size_t entry = 0; entry < list.size(); ++entry)
    addresses.push_back(norms.data() + entry);
  EXPECT_OK(fw_plan_set_pointers(trial.plan(), 0, "norms", addresses.data(), addresses.size()));
  trial.run();
  EXPECT_EQ(trial.image(), trial.arena().bytes);
  const std::vector<float> got = norms.read();
  EXPECT_EQ(std::vector<double>(got.begin(), got.end()),
            reference.arena().numbers(reference.image(), "norms"));
}

TEST_F(Reductions, numbers_alone_are_one_launch) {
  const Kernel &tally = compiled("tally");
  Numbers<int64_t> t(context(), onGpu, {0});
  Trial trial(context(), onGpu,
              {{&tally, {}, Scalars().setData("t", t.data(), "i64", 1, true), Values::USUAL}});
  EXPECT_EQ(trial.info().launches, 1u);
  float n = float(number(trial, "n"));
  const double by = number(trial, "by");
  for (int64_t run = 1; run <= 3; ++run) {
    trial.run();
    n = float(std::min(n + by * double(run), 100.0));
    EXPECT_EQ(number(trial, "n"), n);
    EXPECT_EQ(t.read(), std::vector<int64_t>{run});
  }
}

// --- Order ---------------------------------------------------------------------------------------

class Orders : public FakeTest {};

TEST_F(Orders, of_blocks_change_no_bit) {
  const List list = vectors({200'000, 3, 0, 70'000, 131'072});
  for (const char *program : {"l2norm", "l2norm_each_true", "clip_by_norm_in_bf16"}) {
    const Kernel &kernel = compiled(program);
    Bytes first;
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      gpu.fake.seed(seed);
      Trial trial(context(), onGpu, {{&kernel, list, {}, Values::USUAL}});
      trial.run();
      if (first.empty())
        first = trial.image();
      EXPECT_EQ(trial.image(), first) << program << ", seed " << seed;
    }
  }
}

} // namespace
} // namespace suite
