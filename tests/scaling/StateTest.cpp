// What the runtime knows about a scaler's numbers without a scaler.
#include "runtime/scaling/State.h"
#include "runtime/scaling/Messages.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

namespace fw::scaling {
namespace {

TEST(State, fields_cover_it) {
  size_t bytes = 0;
  for (const Field &field : fields())
    bytes += field.isDouble ? sizeof(double) : sizeof(float);
  EXPECT_EQ(bytes + 2 * sizeof(float), sizeof(State)); // none and reserved
  EXPECT_EQ(findField("skipped"), nullptr);
}

TEST(State, a_torn_copy_is_not_read) {
  State state = initial({.initScale = 8, .hysteresis = 1});
  ASSERT_TRUE(readWhole(state));
  state.updates = 1; // the first bytes of a copy have come, the last have not
  EXPECT_FALSE(readWhole(state));
  state.seal = 1;
  ASSERT_TRUE(readWhole(state));
  EXPECT_EQ(*readWhole(state), state);
}

/// A device writes upwards, word by word, while the host reads.
TEST(State, readers_see_whole_states_only) {
  alignas(64) State shared;
  auto words = reinterpret_cast<uint64_t *>(&shared);
  std::thread device([&] {
    for (double n = 1; n <= 200000; ++n) {
      State next;
      next.updates = next.seal = next.skips = next.skipsInARow = n;
      next.scale = next.previousScale = next.growthCount = next.hysteresisLeft = float(n);
      next.lastSkipped = next.lastReport = float(n);
      const auto *from = reinterpret_cast<const uint64_t *>(&next);
      for (size_t i = 0; i < sizeof(State) / sizeof(uint64_t); ++i)
        std::atomic_ref(words[i]).store(from[i], std::memory_order_release);
    }
  });
  size_t seen = 0;
  for (double last = 0; last < 200000;) {
    const std::optional<State> state = readWhole(shared);
    if (!state)
      continue;
    ++seen;
    last = state->updates;
    ASSERT_EQ(state->skips, last);
    ASSERT_EQ(state->skipsInARow, last);
    for (float part : {state->scale, state->previousScale, state->growthCount,
                       state->hysteresisLeft, state->lastSkipped, state->lastReport})
      ASSERT_EQ(part, float(last));
  }
  device.join();
  EXPECT_GT(seen, 0u);
}

TEST(Messages, several_steps_at_once_are_counted) {
  const Rules rules = {.initScale = 65536, .hysteresis = 1};
  State before = initial(rules), now = before;
  now.updates = 5;
  now.skips = 3;
  now.scale = 8192;
  auto messages = describeChange(before, now, rules);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].text, "loss scale: 3 of 5 steps skipped; 65536 to 8192");
  now.skipsInARow = 1;
  now.lastSkipped = 3;
  now.lastReport = 1;
  EXPECT_EQ(
      describeChange(before, now, rules)[0].text,
      "loss scale: 3 of 5 steps skipped, the last since a gradient of tensor 2 of optimizer 1 "
      "is not finite; 65536 to 8192");
}

TEST(Messages, the_optimizer_is_named_behind_what_it_reports) {
  const Rules rules = {.initScale = 65536, .hysteresis = 1};
  State before = initial(rules), now = before;
  now.updates = now.skips = now.skipsInARow = 1;
  now.lastReport = 2;
  const std::pair<float, const char *> rows[] = {
      {INFINITY, "the norm of the gradients of optimizer 2 is not finite"},
      {NAN, "the report of optimizer 2 is NaN"},
      {-2, "a scalar of optimizer 2, all.max_norm say, is outside its range where it is read from "
           "memory"},
      {0.25, "the report of optimizer 2 is 0.25"}};
  for (const auto &[report, reason] : rows) {
    now.lastSkipped = report;
    EXPECT_EQ(describeChange(before, now, rules)[0].text,
              std::string("loss scale: step 1 skipped since ") + reason + "; scale 65536 stays");
  }
}

TEST(Messages, growth_is_for_those_who_debug) {
  const Rules rules = {.initScale = 65536, .hysteresis = 1};
  State before = initial(rules), now = before;
  now.updates = 2000;
  now.scale = 131072;
  auto messages = describeChange(before, now, rules);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].level, FW_LOG_DEBUG);
  EXPECT_EQ(messages[0].text, "loss scale: 65536 to 131072 after 2000 steps");
  now.scale = before.scale;
  EXPECT_EQ(describeChange(before, now, rules).size(), 0u);
}

} // namespace
} // namespace fw::scaling
