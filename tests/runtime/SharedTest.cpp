// What all tensors of a step share: scalars that have one value, features that groups have in
// common. Launches, plans and the reference refuse alike.
#include "tests/runtime/Numbers.h"

#include <cmath>
#include <limits>

namespace {

using namespace api;

/// The norm of all depends on k, the elements on lr.
constexpr const char *weigh = "op weigh over elements {\n"
                              "  param p;  grad g;  out norm[all];  hyper lr = 1, k = 1\n"
                              "  norm = k*sqrt(sum[all](g^2))\n"
                              "  p = p - lr*g\n"
                              "}\n";

class Shared : public testing::Test {
protected:
  /// A list of two entries for a request, and its program.
  struct Step {
    Step(const Context &ctx, Request made, size_t entries = 2)
        : ctx(ctx), req(std::move(made)), program(compile(ctx, req)), numbers(req, entries) {}

    /// "" where the call succeeds, else its error.
    std::string launch(const std::vector<fw_scalar> &scalars) const {
      return outcome(fw_launch(ctx.get(), program.get(), numbers.tensors.data(),
                               numbers.tensors.size(), scalars.data(), scalars.size(), nullptr));
    }
    std::string evaluate(const std::vector<fw_scalar> &scalars) const {
      std::vector<double> values(100), bounds(100);
      return outcome(fw_evaluate(req.get(), numbers.tensors.data(), numbers.tensors.size(),
                                 scalars.data(), scalars.size(), values.data(), bounds.data()));
    }
    std::string run(const std::vector<fw_scalar> &scalars,
                    const std::vector<fw_scalar> &ofGroup = {}) const {
      Plan plan;
      EXPECT_EQ(makePlan(ctx, {group(program, numbers.tensors, ofGroup)}, plan), FW_OK)
          << lastError();
      return outcome(fw_plan_run(plan.get(), scalars.data(), scalars.size(), nullptr, nullptr));
    }
    static std::string outcome(fw_status status) {
      EXPECT_TRUE(status == FW_OK || status == FW_USAGE);
      return status == FW_OK ? "" : lastError();
    }

    const Context &ctx;
    const Request req;
    const Program program;
    Numbers numbers;
  };

  static std::string several(const std::string &name) {
    return name + ": expected one value for all tensors, got several; it, or what depends on it, "
                  "is shared by them all; pass one value, to a plan by fw_plan_run";
  }
  const Context ctx = context();
};

TEST_F(Shared, severalValuesOfWhatIsOneAreRefusedAlike) {
  const struct {
    const char *features, *scalar;
  } rows[] = {{"guard", "all.skip"},           {"unscale", "all.scale"},
              {"unscale,clip", "all.scale"},   {"unscale,clip,guard", "all.scale"},
              {"clip", "all.max_norm"},        {"clip,guard", "all.max_norm"},
              {"clip_value", "all.max_value"}, {"ema", "all.ema_decay"}};
  for (const auto &row : rows) {
    SCOPED_TRACE(row.features);
    Step step(ctx, withFeatures(find(ctx, "sgd"), row.features));
    const std::vector<std::vector<float>> before = step.numbers.values;
    const std::vector<double> different = {0.25, 0.5}, same = {0.5, 0.5};
    EXPECT_EQ(step.launch({perTensor(row.scalar, different)}), several(row.scalar));
    EXPECT_EQ(step.evaluate({perTensor(row.scalar, different)}), several(row.scalar));
    EXPECT_EQ(step.run({perTensor(row.scalar, different)}), several(row.scalar));
    EXPECT_EQ(step.run({}, {perTensor(row.scalar, different)}), several(row.scalar));
    std::vector<float> numbers = {0.5f, 0.5f};
    EXPECT_EQ(step.run({data(row.scalar, numbers, "f32")}), several(row.scalar));
    EXPECT_EQ(step.numbers.values, before) << "nothing is written";
    EXPECT_EQ(step.launch({perTensor(row.scalar, same)}), "");
    EXPECT_EQ(step.evaluate({perTensor(row.scalar, same)}), "");
    EXPECT_EQ(step.run({perTensor(row.scalar, same)}), "");
    EXPECT_EQ(step.run({scalar(row.scalar, 0.5)}, {perTensor(row.scalar, different)}), "")
        << "the value of a run wins";
  }
}

TEST_F(Shared, whatANumberOfAllDependsOnIsOne) {
  Step step(ctx, request(parse(ctx, weigh)));
  const std::vector<double> values = {1, 2};
  EXPECT_EQ(step.launch({perTensor("k", values)}), several("k"));
  EXPECT_EQ(step.evaluate({perTensor("k", values)}), several("k"));
  EXPECT_EQ(step.run({perTensor("k", values)}), several("k"));
  EXPECT_EQ(step.launch({perTensor("lr", values)}), "");
  EXPECT_EQ(step.numbers["p"], (std::vector<float>{0, 0, 0, -1, -1, -1}));
  EXPECT_EQ(step.evaluate({perTensor("lr", values)}), "");
  EXPECT_EQ(step.run({perTensor("lr", values)}), "");
}

TEST_F(Shared, groupsGiveOneValue) {
  Step step(ctx, withFeatures(find(ctx, "sgd"), "guard")),
      other(ctx, withFeatures(find(ctx, "sgd"), "guard"), 1);
  other.numbers.tensors.back().data = &step.numbers["all.skipped"][0];
  auto run = [&](const std::vector<fw_scalar> &first, const std::vector<fw_scalar> &second,
                 const std::vector<fw_scalar> &scalars = {}) {
    Plan plan;
    EXPECT_EQ(makePlan(ctx,
                       {group(step.program, step.numbers.tensors, first),
                        group(other.program, other.numbers.tensors, second)},
                       plan),
              FW_OK)
        << lastError();
    return Step::outcome(fw_plan_run(plan.get(), scalars.data(), scalars.size(), nullptr, nullptr));
  };
  const std::vector<fw_scalar> skip = {scalar("all.skip", 1)}, nan = {scalar("all.skip", NAN)};
  const std::vector<double> mixed = {0, 1, 0}, ones = {1, 1}, one = {1};
  EXPECT_EQ(run(skip, {}), several("all.skip"));
  EXPECT_EQ(run({}, {}, {perTensor("all.skip", mixed)}), several("all.skip"));
  EXPECT_EQ(step.numbers["all.skipped"][0], 1) << "as at first";
  EXPECT_EQ(run(skip, skip), "");
  EXPECT_EQ(step.numbers["all.skipped"][0], -1);
  EXPECT_EQ(run({perTensor("all.skip", ones)}, {perTensor("all.skip", one)}), "");
  EXPECT_EQ(step.numbers["all.skipped"][0], -1);
  EXPECT_EQ(run(nan, nan), "");
  EXPECT_EQ(step.numbers["all.skipped"][0], -1) << "NaN is not 0";
  EXPECT_EQ(run(skip, {}, {scalar("all.skip", 0)}), "");
  EXPECT_EQ(step.numbers["all.skipped"][0], 0);
}

TEST_F(Shared, groupsOfOtherFeaturesAreBothNamed) {
  const Op sgd = find(ctx, "sgd");
  Step clipped(ctx, withFeatures(sgd, "clip,guard")), unscaled(ctx, withFeatures(sgd, "unscale")),
      plain(ctx, request(sgd));
  auto error = [&](const Step &first, const Step &second) {
    Plan plan;
    EXPECT_EQ(makePlan(ctx,
                       {group(first.program, first.numbers.tensors),
                        group(second.program, second.numbers.tensors)},
                       plan),
              FW_USAGE);
    return lastError();
  };
  const std::string start = "group 1: expected the scalars and numbers of all tensors that the "
                            "features of group 0 add (",
                    end = "); compile both groups with the same features, or make a plan for each";
  EXPECT_EQ(error(clipped, unscaled),
            start + "clip, guard), got those of other features (unscale" + end);
  Step master(ctx, withFeatures(sgd, "guard,master")), guarded(ctx, withFeatures(sgd, "guard")),
      clearing(ctx, withFeatures(sgd, "zero_grad,guard"));
  EXPECT_EQ(error(guarded, master),
            start + "guard), got those of other features (guard, master" + end)
      << "all.skipped stands elsewhere";
  clearing.numbers.tensors.back().data = &guarded.numbers["all.skipped"][0];
  Plan plan;
  EXPECT_EQ(makePlan(ctx,
                     {group(guarded.program, guarded.numbers.tensors),
                      group(clearing.program, clearing.numbers.tensors)},
                     plan),
            FW_OK)
      << lastError();
  EXPECT_EQ(error(plain, clipped), start + "none), got those of other features (clip, guard" + end);
}

// --- Guarded steps -------------------------------------------------------------------------------

TEST_F(Shared, skippedStepsAreReportedAndNotCounted) {
  Step step(ctx, withFeatures(find(ctx, "adamw"), "guard"), 1);
  Numbers &numbers = step.numbers;
  std::vector<float> steps = {0};
  auto run = [&] { EXPECT_EQ(step.run({data("t", steps, "f32", 1)}), ""); };
  run();
  EXPECT_EQ(numbers["all.skipped"][0], 0);
  EXPECT_EQ(steps[0], 1);
  EXPECT_LT(numbers["p"][0], 1);
  numbers["g"][1] = std::nanf("");
  const std::vector<std::vector<float>> before = {numbers["p"], numbers["m"], numbers["v"]};
  run();
  EXPECT_NE(numbers["all.skipped"][0], 0);
  EXPECT_EQ(steps[0], 1);
  EXPECT_EQ(before, (std::vector<std::vector<float>>{numbers["p"], numbers["m"], numbers["v"]}));
  numbers["g"][1] = 1;
  run();
  EXPECT_EQ(numbers["all.skipped"][0], 0);
  EXPECT_EQ(steps[0], 2);
  EXPECT_LT(numbers["p"][0], before[0][0]);
}

/// Ranges of numbers in memory are nobody's to check but the step's.
TEST_F(Shared, aScalarOutsideItsRangeSkipsAGuardedStep) {
  const float infinity = std::numeric_limits<float>::infinity();
  const struct {
    const char *features, *scalar;
    float value, report;
  } rows[] = {{"clip,guard", "all.max_norm", NAN, -2},
              {"clip,guard", "all.max_norm", -1, -2},
              {"clip,guard", "all.max_norm", -infinity, -2},
              {"clip,guard", "all.max_norm", 0, 0},
              {"clip,guard", "all.max_norm", infinity, 0},
              {"clip_value,guard", "all.max_value", NAN, -2},
              {"clip_value,guard", "all.max_value", -1, -2},
              {"ema,guard", "all.ema_decay", NAN, -2},
              {"unscale,guard", "all.scale", -4, -2},
              {"unscale,guard", "all.scale", NAN, infinity},
              {"unscale,clip,guard", "all.scale", 0, infinity}};
  for (const auto &row : rows) {
    SCOPED_TRACE(testing::Message() << row.scalar << " = " << row.value);
    Step step(ctx, withFeatures(find(ctx, "sgd"), row.features), 1);
    const std::vector<float> before = step.numbers["p"];
    std::vector<float> number = {row.value};
    EXPECT_EQ(step.run({data(row.scalar, number, "f32")}), "");
    EXPECT_EQ(step.numbers["all.skipped"][0], row.report);
    if (row.report != 0)
      EXPECT_EQ(step.numbers["p"], before);
    for (float p : step.numbers["p"])
      EXPECT_TRUE(std::isfinite(p)) << p;
  }
}

/// Another rank's word, of which the other numbers are those of this one.
struct Broken {
  const char *kind;
  double number;

  static fw_status reduce(void *self, void *numbers, size_t count, const char *, const char *kind,
                          fw_stream) {
    const Broken &broken = *static_cast<Broken *>(self);
    if (std::string(kind) == broken.kind)
      std::fill_n(static_cast<double *>(numbers), count, broken.number);
    return FW_OK;
  }
};

TEST_F(Shared, whatABrokenCollectiveGivesIsASkip) {
  const double infinity = std::numeric_limits<double>::infinity();
  const struct {
    const char *features;
    Broken broken;
    double report;
  } rows[] = {{"clip,guard", {"sum", NAN}, infinity},
              {"clip,guard", {"sum", -1}, infinity},
              {"guard", {"max", NAN}, -3},
              {"clip,guard", {"max", NAN}, -3},
              {"guard", {"max", infinity}, -3},
              {"guard", {"max", 1}, -3},
              {"guard", {"max", 0}, 1},
              {"guard", {"max", -infinity}, 0}};
  for (const auto &row : rows) {
    SCOPED_TRACE(testing::Message() << row.broken.kind << " gives " << row.broken.number);
    Step step(ctx, withFeatures(find(ctx, "sgd"), row.features), 1);
    const std::vector<float> before = step.numbers["p"];
    Broken broken = row.broken;
    fw_world world = {};
    world.struct_size = sizeof world;
    world.user_data = &broken;
    world.all_reduce = Broken::reduce;
    Plan plan;
    ASSERT_EQ(makePlan(ctx, {group(step.program, step.numbers.tensors)}, plan), FW_OK);
    EXPECT_EQ(fw_plan_run(plan.get(), nullptr, 0, nullptr, &world), FW_OK) << lastError();
    EXPECT_EQ(step.numbers["all.skipped"][0], row.report);
    EXPECT_EQ(step.numbers["p"] == before, row.report != 0);
  }
}

TEST_F(Shared, aReportHasADtypeThatHoldsIt) {
  for (const char *dtype : {"f16", "bf16", "f64", "e5m2"}) {
    Request req = withFeatures(find(ctx, "sgd"), "guard");
    ASSERT_EQ(fw_request_dtype(req.get(), "all.skipped", dtype), FW_OK);
    fw_program *none = nullptr;
    EXPECT_EQ(fw_compile(ctx.get(), req.get(), &none), FW_USAGE);
    EXPECT_EQ(lastError(), std::string("all.skipped: expected dtype f32, got ") + dtype +
                               "; it tells the number of a tensor, which must be exact, and loss "
                               "scalers read f32; bind no other dtype to it");
    EXPECT_EQ(none, nullptr);
  }
}

} // namespace
