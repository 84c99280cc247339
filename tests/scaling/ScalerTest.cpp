// Loss scalers through the C API on the CPU.
#include "tests/scaling/Scaler.h"
#include "tests/runtime/Numbers.h"

#include <cfloat>
#include <cmath>
#include <limits>
#include <map>

namespace scaling {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::string failure(fw_status status) {
  return status == FW_OK ? "no error" : fw_status_text(status) + (": " + api::lastError());
}

std::string createError(const api::Context &context, const fw_scaler_options &options) {
  fw_scaler *raw = nullptr;
  const std::string text = failure(fw_scaler_create(context.get(), &options, &raw));
  fw_scaler_destroy(raw);
  return text;
}

class Scalers : public testing::Test {
protected:
  Log log;
  api::Context context = scaling::context(&log);
};

TEST_F(Scalers, defaults_are_documented) {
  Scaler scaler(context);
  const fw_scaler_state state = scaler.state();
  EXPECT_EQ(state.scale, 65536);
  EXPECT_EQ(state.previous_scale, 65536);
  EXPECT_EQ(state.hysteresis_left, 1u);
  EXPECT_EQ(state.outcome, FW_STEP_APPLIED);
  EXPECT_EQ(state.tensor, -1);
  for (int step = 0; step < 60; ++step)
    scaler.update(1);
  EXPECT_EQ(scaler.scale(), 0x1p-16); // the floor
  for (int step = 0; step < 2000; ++step)
    scaler.update(0);
  EXPECT_EQ(scaler.scale(), 0x1p-15);
}

TEST_F(Scalers, case_C03_growth_that_overflows_is_refused) {
  fw_scaler_options options = scaling::options();
  options.init_scale = 0x1p127;
  options.growth_interval = 1;
  Scaler scaler(context, options);
  for (int step = 0; step < 3; ++step)
    scaler.update(0);
  EXPECT_EQ(scaler.scale(), 0x1p127);
  EXPECT_EQ(scaler.state().growth_count, 0u);
}

TEST_F(Scalers, case_C05_without_a_floor_the_scale_goes_under_1) {
  fw_scaler_options options = scaling::options();
  options.init_scale = 2;
  options.min_scale = 0;
  Scaler scaler(context, options);
  for (double expected : {1.0, 0.5, 0.25, 0.125}) {
    scaler.update(1);
    EXPECT_EQ(scaler.scale(), expected);
  }
  for (int step = 0; step < 146; ++step)
    scaler.update(1);
  EXPECT_EQ(scaler.scale(), 0x1p-149);
}

TEST_F(Scalers, case_C07_the_log_tells_the_hysteresis_and_the_scale) {
  fw_scaler_options options = scaling::options();
  options.hysteresis = 3;
  Scaler scaler(context, options);
  for (int step = 0; step < 3; ++step)
    scaler.update(4);
  EXPECT_EQ(log.texts(),
            (std::vector<std::string>{
                "loss scale: step 1 skipped since a gradient of tensor 3 is not finite; hysteresis "
                "3 to 2",
                "loss scale: it starts high and comes down at the first overflows; such skips are "
                "part of the search, and nothing but the step is lost",
                "loss scale: step 2 skipped since a gradient of tensor 3 is not finite; hysteresis "
                "2 to 1",
                "loss scale: step 3 skipped since a gradient of tensor 3 is not finite; 65536 to "
                "32768"}));
  for (const auto &[level, text] : log.lines)
    EXPECT_EQ(level, FW_LOG_INFO) << text;
}

TEST_F(Scalers, later_skips_are_warnings_with_counts) {
  Scaler scaler(context);
  for (int step = 0; step < 11; ++step)
    scaler.update(1);
  scaler.update(0);
  scaler.update(infinity);
  ASSERT_EQ(log.lines.size(), 13u);
  EXPECT_EQ(log.lines[10].first, FW_LOG_INFO);
  EXPECT_EQ(log.lines[11].first, FW_LOG_WARNING);
  EXPECT_EQ(log.lines[11].second,
            "loss scale: step 11 skipped since a gradient of tensor 0 is not finite; 64 to 32 (11 "
            "skips in 11 steps, 11 in a row)");
  EXPECT_EQ(log.lines[12].second,
            "loss scale: step 13 skipped since the norm of the gradients is not finite; 32 to 16 "
            "(12 skips in 13 steps, 1 in a row)");
}

TEST_F(Scalers, the_log_tells_of_the_floor) {
  fw_scaler_options options = scaling::options();
  options.init_scale = options.min_scale = 8;
  Scaler scaler(context, options);
  scaler.update(-1);
  EXPECT_EQ(log.texts().front(),
            "loss scale: step 1 skipped since its caller said so; scale 8 stays, it is at its "
            "floor; where no scale helps, look for NaN in the model or its data");
}

TEST_F(Scalers, case_C09_gradients_are_unscaled_once_between_updates) {
  Scaler scaler(context);
  const int first = 0, second = 0;
  EXPECT_EQ(failure(fw_scaler_claim(scaler, &first)), "no error");
  EXPECT_EQ(failure(fw_scaler_claim(scaler, &second)), "no error");
  EXPECT_EQ(failure(fw_scaler_claim(scaler, &first)),
            std::string(fw_status_text(FW_USAGE)) +
                ": expected gradients to be unscaled once between two updates of the loss scaler, "
                "got a second time for the same owner; call fw_scaler_update once a step; "
                "accumulated gradients are unscaled behind the last of them");
  scaler.update(0);
  EXPECT_EQ(failure(fw_scaler_claim(scaler, &first)), "no error");
}

TEST_F(Scalers, a_claim_is_taken_back) {
  Scaler scaler(context);
  const int first = 0, second = 0;
  EXPECT_EQ(failure(fw_scaler_release(scaler, &first)), "no error") << "there is none";
  EXPECT_EQ(failure(fw_scaler_claim(scaler, &first)), "no error");
  EXPECT_EQ(failure(fw_scaler_claim(scaler, &second)), "no error");
  EXPECT_EQ(failure(fw_scaler_release(scaler, &first)), "no error");
  EXPECT_EQ(failure(fw_scaler_claim(scaler, &first)), "no error");
  for (const int *owner : {&first, &second})
    EXPECT_EQ(fw_scaler_claim(scaler, owner), FW_USAGE);
}

/// A run that fails has unscaled nothing, so it may be made again.
TEST_F(Scalers, a_run_that_failed_is_made_again) {
  Scaler scaler(context);
  const api::Request req = api::withFeatures(api::find(context, "sgd"), "unscale,guard");
  const api::Program program = api::compile(context, req);
  api::Numbers numbers(req);
  api::Plan plan;
  ASSERT_EQ(api::makePlan(context, {api::group(program, numbers.tensors)}, plan), FW_OK);
  fw_scalar scalars[2] = {{}, api::scalar("lr", -1)};
  scalars[0].struct_size = sizeof scalars[0];
  ASSERT_EQ(fw_scaler_scalar(scaler, &scalars[0]), FW_OK);
  for (double lr : {-1, 1}) {
    scalars[1].value = lr;
    ASSERT_EQ(fw_scaler_claim(scaler, plan.get()), FW_OK) << api::lastError();
    const fw_status status = fw_plan_run(plan.get(), scalars, 2, nullptr, nullptr);
    EXPECT_EQ(status, lr < 0 ? FW_USAGE : FW_OK) << api::lastError();
    if (status != FW_OK)
      ASSERT_EQ(fw_scaler_release(scaler, plan.get()), FW_OK);
  }
  EXPECT_EQ(numbers["p"][0], 1 - 0x1p-16f);
  EXPECT_EQ(fw_scaler_claim(scaler, plan.get()), FW_USAGE) << "the step is taken";
}

TEST_F(Scalers, case_C11_a_step_tells_whether_it_was_applied) {
  Scaler scaler(context);
  struct {
    float skipped;
    int outcome;
    int64_t tensor;
  } const rows[] = {{0, FW_STEP_APPLIED, -1},         {8, FW_STEP_BAD_GRADIENT, 7},
                    {infinity, FW_STEP_BAD_NORM, -1}, {NAN, FW_STEP_BAD_NORM, -1},
                    {-1, FW_STEP_LEFT_OUT, -1},       {-2, FW_STEP_BAD_NUMBER, -1},
                    {-3, FW_STEP_BAD_NUMBER, -1},     {0, FW_STEP_APPLIED, -1}};
  uint64_t updates = 0, skips = 0;
  for (const auto &row : rows) {
    scaler.update(row.skipped);
    const fw_scaler_state state = scaler.state();
    EXPECT_EQ(state.outcome, row.outcome) << row.skipped;
    EXPECT_EQ(state.tensor, row.tensor) << row.skipped;
    skips += row.outcome != FW_STEP_APPLIED;
    EXPECT_EQ(state.updates, ++updates);
    EXPECT_EQ(state.skips, skips);
  }
  EXPECT_EQ(scaler.state().skips_in_a_row, 0u);
}

/// What is reported by others than guard: a tensor is told where the number is exactly one.
TEST_F(Scalers, reports_of_any_kind_are_skips) {
  Scaler scaler(context);
  struct {
    float skipped;
    int outcome;
    int64_t tensor;
    const char *reason;
  } const rows[] = {
      {1.5f, FW_STEP_BAD_NUMBER, -1, "the report is 1.5"},
      {0.5f, FW_STEP_BAD_NUMBER, -1, "the report is 0.5"},
      {0x1p-149f, FW_STEP_BAD_NUMBER, -1, "the report is 1.40129846e-45"},
      {-7, FW_STEP_BAD_NUMBER, -1, "the report is -7"},
      {-1.5f, FW_STEP_BAD_NUMBER, -1, "the report is -1.5"},
      {-1, FW_STEP_LEFT_OUT, -1, "its caller said so"},
      {-2, FW_STEP_BAD_NUMBER, -1,
       "a scalar, all.max_norm say, is outside its range where it is read from memory"},
      {-3, FW_STEP_BAD_NUMBER, -1,
       "other ranks gave no number of a tensor; look at the world's all_reduce"},
      {NAN, FW_STEP_BAD_NORM, -1, "the report is NaN"},
      {-NAN, FW_STEP_BAD_NORM, -1, "the report is NaN"},
      {-infinity, FW_STEP_BAD_NORM, -1, "the norm of the gradients is not finite"},
      {1, FW_STEP_BAD_GRADIENT, 0, "a gradient of tensor 0 is not finite"},
      {0x1p24f - 1, FW_STEP_BAD_GRADIENT, 0xfffffe, "a gradient of tensor 16777214 is not finite"},
      {0x1p24f, FW_STEP_BAD_GRADIENT, -1, "a gradient of one of its tensors is not finite"},
      {0x1p40f, FW_STEP_BAD_NUMBER, -1, "the report is 1.09951163e+12"}};
  uint64_t skips = 0;
  for (const auto &row : rows) {
    log.lines.clear();
    scaler.update(row.skipped);
    const fw_scaler_state state = scaler.state();
    EXPECT_EQ(state.outcome, row.outcome) << row.skipped;
    EXPECT_EQ(state.tensor, row.tensor) << row.skipped;
    EXPECT_EQ(state.skips, ++skips);
    EXPECT_NE(log.texts().front().find(std::string("skipped since ") + row.reason + ";"),
              std::string::npos)
        << log.texts().front();
  }
  scaler.update(-0.0f);
  EXPECT_EQ(scaler.state().outcome, FW_STEP_APPLIED);
}

TEST_F(Scalers, several_optimizers_are_one_decision) {
  fw_scaler_options options = scaling::options();
  options.growth_interval = 2;
  Scaler scaler(context, options);
  for (size_t bad = 0; bad < 8; ++bad) {
    std::vector<float> reports(8, 0);
    reports[bad] = float(bad + 3);
    if (bad < 7)
      reports[7] = -1; // the first counts
    scaler.update(reports);
    const fw_scaler_state state = scaler.state();
    EXPECT_EQ(state.report, bad);
    EXPECT_EQ(state.tensor, int64_t(bad + 2));
    EXPECT_EQ(state.scale, std::ldexp(65536, -int(bad) - 1));
  }
  scaler.update({0, 0, 0}); // those that say nothing count as applied
  EXPECT_EQ(scaler.state().outcome, FW_STEP_APPLIED);
  EXPECT_EQ(scaler.state().growth_count, 1u);
}

TEST_F(Scalers, per_loss_scalers_are_several) {
  Scaler one(context), other(context);
  one.update(1);
  EXPECT_EQ(one.scale(), 32768);
  EXPECT_EQ(other.scale(), 65536);
}

TEST_F(Scalers, a_static_scale_stays_and_counts) {
  fw_scaler_options options = scaling::options();
  options.mode = "static";
  options.init_scale = 128;
  Scaler scaler(context, options);
  scaler.update(2);
  scaler.update(0);
  const fw_scaler_state state = scaler.state();
  EXPECT_EQ(state.scale, 128);
  EXPECT_EQ(state.updates, 2u);
  EXPECT_EQ(state.skips, 1u);
  EXPECT_EQ(log.texts().front(), "loss scale: step 1 skipped since a gradient of tensor 1 is not "
                                 "finite; static scale 128 stays");
}

TEST_F(Scalers, each_option_has_its_own_default) {
  fw_scaler_options options = {};
  options.struct_size = 16;
  options.device = "cpu";
  EXPECT_NE(createError(context, options), "no error"); // smaller than the first version
  options = scaling::options();
  options.mode = options.refill = options.denormals = options.device = nullptr;
  Scaler scaler(context, options);
  EXPECT_EQ(scaler.scale(), 65536);
}

TEST_F(Scalers, refuse_options_by_name) {
  auto error = [&](auto change) {
    fw_scaler_options options = scaling::options();
    change(options);
    const std::string text = createError(context, options);
    return text.substr(text.find(": ") + 2);
  };
  EXPECT_EQ(error([](auto &o) { o.init_scale = NAN; }),
            "init_scale: expected a finite f32 number > 0, got nan; 65536 is the default");
  EXPECT_EQ(error([](auto &o) { o.init_scale = 0.1; }),
            "init_scale: expected a finite f32 number > 0, got 0.1; 65536 is the default");
  EXPECT_EQ(error([](auto &o) { o.min_scale = 1 << 20; }),
            "init_scale: expected a number from min_scale 1048576 to max_scale 3.40282347e+38, got "
            "65536; start inside the limits, or move them");
  EXPECT_EQ(error([](auto &o) { o.min_scale = -1; }),
            "min_scale: expected 0 for no floor, or a positive f32 number, got -1; 2^-16 is the "
            "default");
  EXPECT_EQ(error([](auto &o) { o.max_scale = infinity; }),
            "max_scale: expected a finite f32 number, at least min_scale, got inf; the largest f32 "
            "number is the default");
  EXPECT_EQ(error([](auto &o) { o.growth_interval = 0; }),
            "growth_interval: expected 1 to 16777216 steps, got 0; 2000 is the default");
  EXPECT_EQ(error([](auto &o) { o.hysteresis = 0; }),
            "hysteresis: expected 1 to 16777216 skips, got 0; 1 is the default: the first skip "
            "lowers the scale");
  EXPECT_EQ(
      error([](auto &o) { o.device = "sm_90"; }),
      "device: expected \"cpu\", or \"cuda:\" and a number, got \"sm_90\"; name the device of "
      "the plans that read the scale");
  for (auto change : {+[](fw_scaler_options &o) { o.growth_factor = 0.5; },
                      +[](fw_scaler_options &o) { o.backoff_factor = 1; }})
    EXPECT_NE(error(change).find("factor: expected"), std::string::npos) << error(change);
  EXPECT_NE(error([](auto &o) { o.mode = "manual"; }).find("manual"), std::string::npos);
}

TEST_F(Scalers, refuse_what_is_no_list_of_reports) {
  Scaler scaler(context);
  const float zero = 0;
  const void *nine[9], *none[] = {nullptr};
  std::fill(std::begin(nine), std::end(nine), &zero);
  for (size_t count : {0, 9})
    EXPECT_EQ(failure(fw_scaler_update(scaler, nine, count, nullptr)),
              fw_status_text(FW_USAGE) +
                  (": count: expected 1 to 8 reports, got " + std::to_string(count)) +
                  "; let optimizers share a plan, or give them scalers of their own");
  EXPECT_NE(failure(fw_scaler_update(scaler, none, 1, nullptr)).find("skipped[0]: expected"),
            std::string::npos);
  const void *odd[] = {reinterpret_cast<const char *>(&zero) + 1};
  EXPECT_EQ(
      failure(fw_scaler_update(scaler, odd, 1, nullptr)),
      std::string(fw_status_text(FW_USAGE)) +
          ": skipped[0]: expected the address of an f32 number, a multiple of 4, got another; "
          "reports are f32; numbers stand at multiples of their size");
  EXPECT_EQ(scaler.state().updates, 0u);
}

TEST_F(Scalers, name_the_address_that_is_missing) {
  Scaler scaler(context);
  fw_scaler *none = nullptr;
  fw_scaler_state state = {};
  state.struct_size = sizeof state;
  fw_scalar scalar = {};
  scalar.struct_size = sizeof scalar;
  size_t count = 0;
  auto missing = [](fw_status status) {
    const std::string text = api::lastError();
    return status == FW_USAGE ? text.substr(0, text.find(':')) : "no error";
  };
  EXPECT_EQ(missing(fw_scaler_create(nullptr, nullptr, &none)), "context");
  EXPECT_EQ(missing(fw_scaler_create(context.get(), nullptr, nullptr)), "out");
  EXPECT_EQ(missing(fw_scaler_scalar(nullptr, &scalar)), "scaler");
  EXPECT_EQ(missing(fw_scaler_scalar(scaler, nullptr)), "out");
  EXPECT_EQ(missing(fw_scaler_claim(nullptr, &count)), "scaler");
  EXPECT_EQ(missing(fw_scaler_claim(scaler, nullptr)), "owner");
  EXPECT_EQ(missing(fw_scaler_release(nullptr, &count)), "scaler");
  EXPECT_EQ(missing(fw_scaler_release(scaler, nullptr)), "owner");
  EXPECT_EQ(missing(fw_scaler_update(nullptr, nullptr, 1, nullptr)), "scaler");
  EXPECT_EQ(missing(fw_scaler_update(scaler, nullptr, 1, nullptr)), "skipped");
  EXPECT_EQ(missing(fw_scaler_read(nullptr, &state)), "scaler");
  EXPECT_EQ(missing(fw_scaler_read(scaler, nullptr)), "out");
  EXPECT_EQ(missing(fw_scaler_wait(nullptr, nullptr)), "scaler");
  EXPECT_EQ(missing(fw_scaler_save(nullptr, nullptr, 0, &count, nullptr)), "scaler");
  EXPECT_EQ(missing(fw_scaler_save(scaler, nullptr, 0, nullptr, nullptr)), "count");
  EXPECT_EQ(missing(fw_scaler_load(nullptr, nullptr, 0, nullptr)), "scaler");
  fw_scaler_destroy(nullptr);
  fw_scaler_options_init(nullptr);
}

} // namespace
} // namespace scaling
