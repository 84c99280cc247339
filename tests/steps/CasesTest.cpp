// Handed cases of whole steps and norms, on the CPU through the public C header.
#include "tests/runtime/Api.h"

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <sys/mman.h>
#include <vector>

namespace {

using namespace api;

constexpr float infinity = std::numeric_limits<float>::infinity();

/// f32 numbers by operand, one tensor each; a plan over them.
class Step {
public:
  using Numbers = std::map<std::string, std::vector<float>>;

  Step(const Context &context, const Request &request, Numbers given) : values(std::move(given)) {
    size_t operands = 0;
    EXPECT_EQ(fw_request_operand_count(request.get(), &operands), FW_OK) << lastError();
    counts.reserve(operands);
    for (size_t k = 0; k < operands; ++k)
      add(request, k);
    program = compile(context, request);
    fw_plan_group group = {};
    group.struct_size = sizeof group;
    group.program = program.get();
    group.tensors = tensors.data();
    group.tensor_count = tensors.size();
    plan = make<Plan>([&](fw_plan **out) { return fw_plan_create(context.get(), &group, 1, out); });
  }

  void run(const std::vector<fw_scalar> &scalars) {
    EXPECT_EQ(fw_plan_run(plan.get(), scalars.data(), scalars.size(), nullptr, nullptr), FW_OK)
        << lastError();
  }
  std::vector<float> &operator[](const std::string &name) { return values.at(name); }
  /// Everything but what a skipped step reports.
  Numbers kept() const {
    Numbers kept = values;
    kept.erase("all.skipped");
    return kept;
  }

private:
  void add(const Request &request, size_t k) {
    fw_operand_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(fw_request_operand(request.get(), k, &info), FW_OK);
    std::vector<float> &numbers = values[info.name];
    if (numbers.empty())
      numbers.assign(std::string(info.scope) == "element" ? values["p"].size() : 1, 0.0f);
    counts.push_back(int64_t(numbers.size()));
    tensors.push_back(tensor("f32", numbers.data(), &counts.back()));
  }

  Numbers values;
  std::vector<int64_t> counts;
  std::vector<fw_tensor> tensors;
  Program program;
  Plan plan;
};

Request requestOf(const Context &context, const char *op, const std::vector<std::string> &features,
                  const std::map<std::string, std::string> &options = {}) {
  Request made = request(find(context, op));
  for (const std::string &feature : features)
    EXPECT_EQ(fw_request_feature(made.get(), feature.c_str()), FW_OK) << lastError();
  for (const auto &[option, value] : options)
    EXPECT_EQ(fw_request_option(made.get(), option.c_str(), value.c_str()), FW_OK) << lastError();
  return made;
}

fw_scalar inMemory(const char *name, void *data, const char *dtype, bool advance = false) {
  fw_scalar scalar = api::scalar(name, 0);
  scalar.data = data;
  scalar.dtype = dtype;
  scalar.count = 1;
  scalar.advance = advance;
  return scalar;
}

// --- C: loss scales ------------------------------------------------------------------------------

TEST(StepCases, case_C01_momentum_is_not_touched_by_a_skipped_step) {
  Context context = api::context();
  fw_scaler_options options;
  fw_scaler_options_init(&options);
  options.init_scale = 4;
  using Scaler = std::unique_ptr<fw_scaler, Destroy<fw_scaler_destroy>>;
  auto scaler =
      make<Scaler>([&](fw_scaler **out) { return fw_scaler_create(context.get(), &options, out); });
  Step step(context, requestOf(context, "sgd", {"unscale", "guard"}, {{"momentum", "classical"}}),
            {{"p", {3, 4}}, {"g", {infinity, 4}}});
  int64_t t = 0;
  fw_scalar scale = {};
  scale.struct_size = sizeof scale;
  auto run = [&] {
    EXPECT_EQ(fw_scaler_scalar(scaler.get(), &scale), FW_OK) << lastError();
    step.run({inMemory("t", &t, "i64", true), scale, scalar("mu", 0.9), scalar("dampening", 0.5),
              scalar("lr", 0.5)});
    const void *skipped[] = {step["all.skipped"].data()};
    EXPECT_EQ(fw_scaler_update(scaler.get(), skipped, 1, nullptr), FW_OK) << lastError();
  };
  const Step::Numbers before = step.kept();
  run();
  EXPECT_EQ(step.kept(), before);
  EXPECT_EQ(step["all.skipped"], std::vector<float>{1});
  EXPECT_EQ(t, 0);
  step["g"] = {2, 2}; // ones under the scale, which is halved
  run();
  EXPECT_EQ(step["all.skipped"], std::vector<float>{0});
  EXPECT_EQ(step["b"], (std::vector<float>{1, 1})) << "a first call: the gradient, not its half";
  EXPECT_EQ(step["p"], (std::vector<float>{2.5f, 3.5f}));
  EXPECT_EQ(t, 1);
}

/// The guard looks at what the step reads, not at a flag of an earlier pass.
TEST(StepCases, case_C13_gradients_that_become_infinite_behind_their_unscaling) {
  Context context = api::context();
  std::vector<float> g = {8, -16}, bad = {7}, norm = {0}, scale = {8};
  const int64_t two = 2, one = 1;
  Program unscale = compile(context, requestOf(context, "unscale", {}));
  const fw_tensor tensors[] = {tensor("f32", g.data(), &two), tensor("f32", g.data(), &two),
                               tensor("f32", scale.data(), &one), tensor("f32", bad.data(), &one),
                               tensor("f32", norm.data(), &one)};
  ASSERT_EQ(fw_launch(context.get(), unscale.get(), tensors, 5, nullptr, 0, nullptr), FW_OK)
      << lastError();
  EXPECT_EQ(g, (std::vector<float>{1, -2}));
  EXPECT_EQ(bad[0], 0);
  for (float hook : {infinity, -infinity, std::nanf("")}) {
    Step step(context, requestOf(context, "adamw", {"guard"}), {{"p", {3, 4}}, {"g", g}});
    step["g"][1] = hook;
    const std::vector<float> p = step["p"];
    step.run({scalar("t", 1)});
    EXPECT_EQ(step["all.skipped"], std::vector<float>{1});
    EXPECT_EQ(step["p"], p);
    EXPECT_EQ(step["m"], (std::vector<float>{0, 0}));
    EXPECT_EQ(step["v"], (std::vector<float>{0, 0}));
  }
}

// --- A: a learning rate in memory ----------------------------------------------------------------

TEST(StepCases, case_A07_lr_in_memory_is_zero_or_tiny) {
  Context context = api::context();
  const std::vector<float> p = {3, -0.0f, 1e-42f, -2, 0}, g = {0, 0, 1, -1e30f, 1};
  for (const char *op : {"adam", "adamw"}) {
    SCOPED_TRACE(op);
    float lr = 0;
    int64_t t = 0;
    Step step(context, requestOf(context, op, {"guard"}), {{"p", p}, {"g", g}});
    step.run(
        {inMemory("t", &t, "i64", true), inMemory("lr", &lr, "f32"), scalar("weight_decay", 0)});
    for (size_t i = 0; i < p.size(); ++i)
      EXPECT_EQ(std::bit_cast<uint32_t>(step["p"][i]), std::bit_cast<uint32_t>(p[i])) << i;
    for (float tiny : {1e-20f, 1e-30f}) {
      Step moved(context, requestOf(context, op, {"guard"}), {{"p", p}, {"g", g}});
      lr = tiny;
      t = 0;
      moved.run(
          {inMemory("t", &t, "i64", true), inMemory("lr", &lr, "f32"), scalar("weight_decay", 0)});
      EXPECT_EQ(moved["p"][0], 3);
      EXPECT_EQ(moved["p"][3], -2);
      EXPECT_NEAR(moved["p"][4], -double(tiny) / (1 + 1e-8), 1e-6 * double(tiny));
    }
  }
}

// --- E: norms of lists ---------------------------------------------------------------------------

/// A norm over dense f32 tensors, all of the list or each.
std::vector<float> normsOf(const Context &context, const Request &request,
                           const std::vector<std::vector<float>> &x, bool isEach) {
  Program program = compile(context, request);
  std::vector<float> norms(isEach ? x.size() : 1, -1);
  const int64_t one = 1;
  std::vector<int64_t> counts(x.size());
  std::vector<fw_tensor> tensors;
  for (size_t i = 0; i < x.size(); ++i) {
    counts[i] = int64_t(x[i].size());
    tensors.push_back(tensor("f32", const_cast<float *>(x[i].data()), &counts[i]));
    if (isEach)
      tensors.push_back(tensor("f32", &norms[i], &one));
  }
  if (!isEach)
    tensors.push_back(tensor("f32", norms.data(), &one));
  EXPECT_EQ(
      fw_launch(context.get(), program.get(), tensors.data(), tensors.size(), nullptr, 0, nullptr),
      FW_OK)
      << lastError();
  return norms;
}

TEST(StepCases, case_E03_norms_of_each_with_empty_tensors_between) {
  Context context = api::context();
  for (size_t unit : {size_t(2457600), size_t(33)}) {
    const size_t sizes[] = {2 * unit, 2 * unit, 2 * unit, unit, 0, 0, 2 * unit};
    std::vector<std::vector<float>> x;
    std::vector<float> l2, inf;
    for (size_t i = 0; i < std::size(sizes); ++i) {
      x.emplace_back(sizes[i], float(i + 1)); // squares and their sums are exact
      l2.push_back(float(double(i + 1) * std::sqrt(double(sizes[i]))));
      inf.push_back(sizes[i] ? float(i + 1) : 0);
    }
    EXPECT_EQ(normsOf(context, requestOf(context, "l2norm", {}, {{"each", "true"}}), x, true), l2);
    EXPECT_EQ(normsOf(context, requestOf(context, "infnorm", {}, {{"each", "true"}}), x, true),
              inf);
  }
}

TEST(StepCases, case_E05_norms_of_nothing_are_zero) {
  Context context = api::context();
  auto cubic = [&] {
    return request(parse(context, "op norm3 over elements {\n"
                                  "  in x;  out norm[all]\n"
                                  "  norm = exp(log(sum[all](abs(x)^3))/3)\n"
                                  "}\n"));
  };
  const std::vector<float> zero = {0};
  for (const std::vector<std::vector<float>> &list :
       {std::vector<std::vector<float>>{}, {{}}, {{}, {}, {}}}) {
    EXPECT_EQ(normsOf(context, requestOf(context, "l2norm", {}), list, false), zero);
    EXPECT_EQ(normsOf(context, requestOf(context, "infnorm", {}), list, false), zero);
    EXPECT_EQ(normsOf(context, cubic(), list, false), zero);
    EXPECT_EQ(normsOf(context, requestOf(context, "l2norm", {}, {{"each", "true"}}), list, true),
              std::vector<float>(list.size(), 0.0f));
  }
  EXPECT_NEAR(normsOf(context, cubic(), {{3, -4}, {5}}, false)[0], 6, 1e-6);
  Program scale = compile(context, requestOf(context, "scale", {}));
  EXPECT_EQ(fw_launch(context.get(), scale.get(), nullptr, 0, nullptr, 0, nullptr), FW_OK)
      << lastError();
}

// --- U: sizes ------------------------------------------------------------------------------------

/// Zeros that take no memory until they are written.
class Zeros {
public:
  explicit Zeros(size_t count) : bytes(count * sizeof(float)) {
    address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(address, MAP_FAILED);
    madvise(address, bytes, MADV_HUGEPAGE); // fewer faults, where the system has that
  }
  Zeros(const Zeros &) = delete;
  ~Zeros() { munmap(address, bytes); }
  float *data() const { return static_cast<float *>(address); }

private:
  size_t bytes;
  void *address;
};

TEST(StepCases, case_U01_norm_of_more_elements_than_31_bits_count) {
  Context context = api::context();
  Program l2norm = compile(context, requestOf(context, "l2norm", {})),
          nonfinite = compile(context, requestOf(context, "nonfinite", {}));
  const int64_t shape[] = {19345706, 128}, one = 1;
  const size_t count = 2476250368;
  Zeros zeros(count);
  for (size_t at : {size_t(0), size_t(1) << 31, (size_t(1) << 31) + 1, count - 1})
    zeros.data()[at] = 1.5f;
  float norm = -1, bad = -1, first = -1;
  fw_tensor x = tensor("f32", zeros.data(), shape);
  x.rank = 2;
  const fw_tensor both[] = {x, tensor("f32", &norm, &one)};
  ASSERT_EQ(fw_launch(context.get(), l2norm.get(), both, 2, nullptr, 0, nullptr), FW_OK)
      << lastError();
  EXPECT_EQ(norm, 3);
  zeros.data()[count - 1] = infinity;
  const fw_tensor three[] = {x, tensor("f32", &bad, &one), tensor("f32", &first, &one)};
  ASSERT_EQ(fw_launch(context.get(), nonfinite.get(), three, 3, nullptr, 0, nullptr), FW_OK)
      << lastError();
  EXPECT_EQ(bad, 1);
  EXPECT_EQ(first, 0);
}

} // namespace
