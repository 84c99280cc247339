// State of loss scalers, saved and loaded.
#include "tests/scaling/Scaler.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace scaling {
namespace {

using Numbers = std::vector<fw_scalar>;

Numbers save(const Scaler &scaler) {
  size_t count = 0;
  EXPECT_EQ(fw_scaler_save(scaler, nullptr, 0, &count, nullptr), FW_OK) << api::lastError();
  Numbers numbers(count, fw_scalar{});
  for (fw_scalar &number : numbers)
    number.struct_size = sizeof number;
  EXPECT_EQ(fw_scaler_save(scaler, numbers.data(), count, &count, nullptr), FW_OK)
      << api::lastError();
  return numbers;
}

fw_status load(const Scaler &scaler, const Numbers &numbers) {
  return fw_scaler_load(scaler, numbers.data(), numbers.size(), nullptr);
}

std::string loadError(const Scaler &scaler, const Numbers &numbers) {
  return load(scaler, numbers) == FW_OK ? "no error" : api::lastError();
}

double &valueOf(Numbers &numbers, std::string_view name) {
  return std::ranges::find_if(numbers, [&](auto &number) { return number.name == name; })->value;
}

bool isSame(const fw_scaler_state &a, const fw_scaler_state &b) {
  return std::equal(reinterpret_cast<const char *>(&a), reinterpret_cast<const char *>(&a + 1),
                    reinterpret_cast<const char *>(&b));
}

class Saved : public testing::Test {
protected:
  fw_scaler_options options() {
    fw_scaler_options options = scaling::options();
    options.growth_interval = 5;
    options.growth_factor = 1.7;
    options.backoff_factor = 0.3;
    options.hysteresis = 2;
    return options;
  }
  api::Context context = scaling::context(&log);
  Log log;
};

TEST_F(Saved, a_resumed_scaler_goes_on_to_the_bit) {
  std::mt19937 random(7);
  std::bernoulli_distribution overflows(0.3);
  for (int trial = 0; trial < 20; ++trial) {
    Scaler whole(context, options()), resumed(context, options());
    for (int step = 0; step < 3 * trial; ++step)
      whole.update(overflows(random) ? 5 : 0);
    Numbers numbers = save(whole);
    std::ranges::shuffle(numbers, random); // in any order
    ASSERT_EQ(loadError(resumed, numbers), "no error");
    EXPECT_TRUE(isSame(whole.state(), resumed.state()));
    for (int step = 0; step < 40; ++step) {
      const float skipped = overflows(random) ? 2 : 0;
      whole.update(skipped);
      resumed.update(skipped);
      ASSERT_TRUE(isSame(whole.state(), resumed.state())) << "trial " << trial << ", step " << step;
    }
  }
}

TEST_F(Saved, missing_numbers_are_those_of_a_new_scaler) {
  Scaler scaler(context, options());
  scaler.update(1);
  ASSERT_EQ(loadError(scaler, {api::scalar("scale", 24), api::scalar("growth_count", 3)}),
            "no error");
  const fw_scaler_state state = scaler.state();
  EXPECT_EQ(state.scale, 24);
  EXPECT_EQ(state.previous_scale, 24);
  EXPECT_EQ(state.growth_count, 3u);
  EXPECT_EQ(state.hysteresis_left, 2u);
  EXPECT_EQ(state.updates, 0u);
}

TEST_F(Saved, loading_is_no_news) {
  Scaler scaler(context, options());
  ASSERT_EQ(loadError(scaler, {api::scalar("scale", 24), api::scalar("skips", 3),
                               api::scalar("updates", 9)}),
            "no error");
  scaler.state();
  EXPECT_EQ(log.texts(), std::vector<std::string>());
}

TEST_F(Saved, nonsense_is_refused_by_name_and_changes_nothing) {
  Scaler scaler(context, options());
  scaler.update(1);
  const fw_scaler_state before = scaler.state();
  struct {
    const char *name;
    double value;
    const char *error;
  } const rows[] = {
      {"scale", NAN, "scale: expected a finite f32 number >= 0, got nan"},
      {"scale", -2, "scale: expected a finite f32 number >= 0, got -2"},
      {"scale", INFINITY, "scale: expected a finite f32 number >= 0, got inf"},
      {"scale", 0.1, "scale: expected a finite f32 number >= 0, got 0.1"},
      {"growth_count", 1.5, "growth_count: expected a whole number from 0 to 16777216, got 1.5"},
      {"hysteresis_left", -1,
       "hysteresis_left: expected a whole number from 0 to 16777216, got -1"},
      {"updates", NAN, "updates: expected a whole number from 0 to 9.00719925e+15, got nan"},
      {"skips", 2, "skips: expected at most updates, 1, got 2"},
      {"last_skipped", 0.1, "last_skipped: expected an f32 number, or NaN, got 0.1"},
  };
  for (const auto &row : rows) {
    Numbers numbers = save(scaler);
    valueOf(numbers, row.name) = row.value;
    EXPECT_EQ(loadError(scaler, numbers).substr(0, std::string(row.error).size()), row.error);
    EXPECT_TRUE(isSame(before, scaler.state())) << row.name;
  }
  EXPECT_EQ(
      loadError(scaler, {api::scalar("scales", 1)}),
      "expected a number of a loss scaler, got \"scales\"; fw_scaler_save gives the names; leave "
      "out what is no scaler's");
  EXPECT_EQ(loadError(scaler, {api::scalar("scale", 1), api::scalar("scale", 2)}),
            "scale: expected one value, got a second one; load what fw_scaler_save gave");
}

TEST_F(Saved, a_report_of_nan_comes_back) {
  Scaler scaler(context, options());
  Numbers numbers = save(scaler);
  valueOf(numbers, "last_skipped") = NAN;
  EXPECT_EQ(loadError(scaler, numbers), "no error");
  Numbers again = save(scaler);
  EXPECT_TRUE(std::isnan(valueOf(again, "last_skipped")));
}

TEST_F(Saved, room_for_too_few_is_refused) {
  Scaler scaler(context, options());
  Numbers few(3, fw_scalar{});
  few[0].struct_size = sizeof(fw_scalar);
  size_t count = 0;
  EXPECT_EQ(fw_scaler_save(scaler, few.data(), few.size(), &count, nullptr), FW_USAGE);
  EXPECT_EQ(api::lastError(),
            "capacity: expected room for 9 numbers, got 3; ask for their count with out = NULL");
  EXPECT_EQ(count, 9u);
}

} // namespace
} // namespace scaling
