#include "tests/gpu/suite/Steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace suite {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

int64_t below(Random &random, int64_t n) { return int64_t(random() % uint64_t(n)); }

EntrySpec randomEntry(Random &random) {
  EntrySpec spec;
  switch (below(random, 7)) {
  case 0:
    spec.shape = {0};
    break;
  case 1:
    spec.shape = {1};
    break;
  case 2:
    spec.shape = {};
    break;
  case 3:
    spec.shape = {1 + below(random, 40)};
    break;
  case 4:
    spec.shape = {1 + below(random, 1500)};
    break;
  case 5:
    spec.shape = {1 + below(random, 9),
                  2 + below(random, 40)}; // a dimension of size 1 has no stride
    spec.strides = {spec.shape[1] + below(random, 5), 1};
    if (below(random, 2)) // gradients that nobody writes: wider rows, or one row for all
      spec.readStrides = {below(random, 2) ? 0 : spec.shape[1] + below(random, 9), 1};
    break;
  default:
    spec.shape = {2, 3, 1 + below(random, 6)};
    spec.strides = dense(spec.shape, {0, 2, 1});
  }
  if (below(random, 3) == 0)
    spec.offByOne = random();
  return spec;
}

} // namespace

List randomList(Random &random) {
  List list;
  for (int64_t left = below(random, 5); left > 0; --left)
    list.push_back(randomEntry(random));
  list.push_back({.shape = {1 + below(random, 70)}, .offByOne = random() & random()});
  if (below(random, 2))
    list.push_back({.shape = {0}});
  return list;
}

Scalars stepScalars(const Kernel &kernel) {
  Scalars scalars;
  const std::pair<const char *, double> values[] = {
      {"all.scale", 24},       {"all.max_norm", 0.5}, {"all.max_value", 0.01},
      {"all.ema_decay", 0.75}, {"lr", 0.125},         {"weight_decay", 0.0625}};
  for (const auto &[name, value] : values)
    if (std::ranges::count(kernel.scalars, name, &ScalarInfo::name))
      scalars.set(name, value);
  return scalars;
}

namespace {

class GuardedSteps {
public:
  GuardedSteps(fw_context *context, Place place, const std::vector<const Kernel *> &kernels,
               uint64_t seed)
      : context(context), place(place), random(seed), counter(context, place, {counted}),
        scalars(stepScalars(*kernels.front())), step(kernels.front()->step()),
        trial(context, place, groupsOf(kernels), seed), clean(trial.images()) {}

  void leaveOut() {
    const float words[] = {1, -2, 0.5f};
    Numbers<float> word(context, place, {words[below(random, 3)]});
    Scalars given = now();
    if (below(random, 2))
      given.setData("all.skip", word.data(), "f32");
    else
      given.set("all.skip", double(word.read().front()));
    trial.run(given);
    expectUnchanged(clean);
    EXPECT_EQ(report("all.skipped"), -1);
    if (hasNorm())
      expectNorm();
  }

  void poison() {
    std::vector<Bytes> bad = clean;
    size_t first = std::numeric_limits<size_t>::max();
    for (int64_t times = 1 + below(random, 2); times > 0; --times)
      first = std::min(first, plant(bad));
    write(bad);
    Scalars given = now();
    trial.run(below(random, 4) ? given : given.set("all.skip", 1));
    expectUnchanged(bad);
    EXPECT_EQ(report("all.skipped"), double(first + 1));
    if (hasNorm())
      EXPECT_FALSE(std::isfinite(report("all.norm")));
    write(clean);
  }

  /// Finite gradients whose squares are not; clipping alone has a norm.
  void overflow() {
    if (!hasNorm())
      return;
    std::vector<Bytes> bad = clean;
    const Arena &arena = trial.arena();
    size_t entry = 0;
    while (arena.list[entry].elements() == 0)
      ++entry;
    const size_t operand = gradientOf(arena);
    const Format &format = formatOf(arena.kernel.operands[operand].dtype);
    arena.set(bad[0], entry, operand, 0,
              ((format.top() - 1) << format.mantissaBits) | format.mantissa());
    write(bad);
    trial.run(now());
    expectUnchanged(bad);
    EXPECT_EQ(report("all.skipped"), infinity);
    EXPECT_EQ(report("all.norm"), infinity);
    write(clean);
  }

  void apply() {
    trial.run(now());
    EXPECT_EQ(report("all.skipped"), 0);
    EXPECT_EQ(counter.read().front(), counted + !step.empty());
    if (hasNorm())
      expectNorm();
    Scalars given = scalars;
    if (!step.empty())
      given.set(step, double(counted + 1));
    if (hasNorm())
      given.set("norm", report("all.norm"));
    const HandStep &hand = handStep(trial.arena().kernel.row->op);
    for (size_t g = 0; g < clean.size(); ++g)
      EXPECT_EQ(checkByHand(context, hand, trial.arena(g), clean[g], trial.image(g), given), "")
          << "group " << g;
  }

private:
  std::vector<GroupSpec> groupsOf(const std::vector<const Kernel *> &kernels) {
    std::vector<GroupSpec> groups;
    for (const Kernel *kernel : kernels)
      groups.push_back({kernel, randomList(random), {}, Values::USUAL});
    if (below(random, 2))
      groups.push_back({kernels.front(), randomList(random), {}, Values::USUAL});
    return groups;
  }
  Scalars now() const {
    Scalars given = scalars;
    if (!step.empty())
      given.setData(step, counter.data(), "i64", 1, true);
    return given;
  }
  void write(const std::vector<Bytes> &images) {
    for (size_t g = 0; g < images.size(); ++g)
      trial.write(g, images[g]);
  }

  bool hasNorm() const {
    return std::ranges::count(trial.arena().kernel.operands, "all.norm", &OperandInfo::name) > 0;
  }
  double report(const std::string &name) const {
    return trial.arena().numbers(trial.image(), name).front();
  }
  void expectNorm() {
    double squares = 0;
    for (size_t g = 0; g < clean.size(); ++g)
      for (const OperandInfo &operand : trial.arena(g).kernel.operands)
        for (double x : operand.role == "grad" ? trial.arena(g).numbers(clean[g], operand.name)
                                               : std::vector<double>())
          squares += x * x;
    double norm = std::sqrt(squares);
    for (const fw_scalar &scalar : scalars.array())
      norm /= scalar.name == std::string("all.scale") ? scalar.value : 1;
    EXPECT_NEAR(report("all.norm"), norm, 1e-5 * norm);
    seenNorm = std::isnan(seenNorm) ? report("all.norm") : seenNorm;
    EXPECT_EQ(report("all.norm"), seenNorm) << "runs repeat";
  }

  /// Makes one gradient bad; the number of its tensor in the plan.
  size_t plant(std::vector<Bytes> &images) {
    struct Candidate {
      size_t group, entry, number;
      bool isNarrow;
    };
    std::vector<Candidate> all, narrow;
    size_t number = 0;
    for (size_t g = 0; g < images.size(); ++g) {
      const Arena &arena = trial.arena(g);
      const bool isNarrow = formatOf(arena.kernel.operands[gradientOf(arena)].dtype).bytes == 2;
      for (size_t entry = 0; entry < arena.list.size(); ++entry, ++number)
        if (arena.list[entry].elements() > 0)
          all.push_back({g, entry, number, isNarrow});
    }
    std::ranges::copy_if(all, std::back_inserter(narrow), &Candidate::isNarrow);
    const int64_t way = below(random, 4);
    const std::vector<Candidate> &from = way == 0 && !narrow.empty() ? narrow : all;
    const Candidate chosen =
        way == 1 ? all.back() : from[size_t(below(random, int64_t(from.size())))];
    const Arena &arena = trial.arena(chosen.group);
    const size_t operand = gradientOf(arena);
    const int64_t count = arena.list[chosen.entry].elements();
    const int64_t element = way <= 2 ? count - 1 : below(random, count);
    arena.set(images[chosen.group], chosen.entry, operand, size_t(element),
              badWord(formatOf(arena.kernel.operands[operand].dtype)));
    return chosen.number;
  }
  size_t gradientOf(const Arena &arena) {
    std::vector<size_t> gradients;
    for (size_t k = 0; k < arena.kernel.operands.size(); ++k)
      if (arena.kernel.operands[k].role == "grad")
        gradients.push_back(k);
    return gradients[size_t(below(random, int64_t(gradients.size())))];
  }
  uint64_t badWord(const Format &format) {
    const uint64_t infinity = format.top() << format.mantissaBits;
    const uint64_t words[] = {infinity, infinity | format.sign(), infinity | 1,
                              infinity | format.mantissa()};
    return words[below(random, 4)];
  }

  /// No byte of any group but those of the two reports, and no number of steps.
  void expectUnchanged(std::vector<Bytes> before) {
    const Arena &first = trial.arena();
    for (const char *name : {"all.norm", "all.skipped"})
      if (std::string(name) == "all.skipped" || hasNorm()) {
        const size_t k = first.kernel.operand(name), at = first.offset(0, k);
        std::memcpy(&before[0][at], &trial.image()[at],
                    formatOf(first.kernel.operands[k].dtype).bytes);
      }
    for (size_t g = 0; g < before.size(); ++g) {
      const Bytes after = trial.image(g);
      const auto differ = std::ranges::mismatch(after, before[g]);
      if (differ.in1 != after.end())
        ADD_FAILURE() << "group " << g << ", changed by a skipped step: "
                      << trial.arena(g).describe(size_t(differ.in1 - after.begin()));
    }
    EXPECT_EQ(counter.read().front(), counted);
  }

  static constexpr int64_t counted = 3;

  fw_context *context;
  const Place place;
  Random random;
  Numbers<int64_t> counter;
  const Scalars scalars;
  const std::string step;
  Trial trial;
  const std::vector<Bytes> clean;
  double seenNorm = std::numeric_limits<double>::quiet_NaN();
};

} // namespace

void expectStepsAreSkippedWhole(fw_context *context, Place place,
                                const std::vector<const Kernel *> &kernels, uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", features " + kernels.front()->row->features);
  GuardedSteps steps(context, place, kernels, seed);
  steps.leaveOut();
  for (int times = 0; times < 3; ++times)
    steps.poison();
  steps.overflow();
  steps.apply();
}

} // namespace suite
