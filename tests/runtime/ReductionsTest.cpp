// Ops with reductions through the C API, on the CPU: launches, plans of groups, other ranks.
#include "tests/runtime/Numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace api;

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<float> drawn(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> out(count);
  for (float &x : out)
    x = normal(random);
  return out;
}

/// The upper half of an f32, which is a bf16.
std::vector<uint16_t> halves(const std::vector<float> &values) {
  std::vector<uint16_t> out;
  for (float value : values) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    out.push_back(uint16_t(bits >> 16));
  }
  return out;
}

const int64_t one = 1;
template <class T> fw_tensor number(const char *dtype, T *value) {
  return tensor(dtype, value, &one);
}

/// A context whose launches use some threads.
Context contextWith(unsigned threads) {
  setenv("FUSEWRIGHT_NUM_THREADS", std::to_string(threads).c_str(), 1);
  Context made = context();
  unsetenv("FUSEWRIGHT_NUM_THREADS");
  return made;
}

Request withDtype(const Op &op, const char *operand, const char *dtype) {
  Request req = request(op);
  EXPECT_EQ(fw_request_dtype(req.get(), operand, dtype), FW_OK) << lastError();
  return req;
}

fw_status launch(const Context &ctx, const Program &program, const std::vector<fw_tensor> &tensors,
                 const std::vector<fw_scalar> &scalars = {}) {
  return fw_launch(ctx.get(), program.get(), tensors.data(), tensors.size(), scalars.data(),
                   scalars.size(), nullptr);
}

/// Compares a launch with the reference: `outputs` are the written numbers, in operand order.
void expectReference(const Request &req, const std::vector<fw_tensor> &tensors,
                     const std::vector<fw_scalar> &scalars, const std::vector<double> &outputs) {
  std::vector<double> values(outputs.size()), bounds(outputs.size());
  ASSERT_EQ(fw_evaluate(req.get(), tensors.data(), tensors.size(), scalars.data(), scalars.size(),
                        values.data(), bounds.data()),
            FW_OK)
      << lastError();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i] != values[i]) {
      EXPECT_LE(std::abs(outputs[i] - values[i]), bounds[i]) << i << ": " << values[i];
    }
}

/// What a launch on a GPU takes: a size that only the list has is one reason more why not.
TEST(Reductions, kernelsSayWhetherTheyAreTheWholeProgram) {
  Context ctx = context();
  const std::pair<Op, int> ops[] = {
      {find(ctx, "scale"), 1},
      {find(ctx, "adamw"), 1},
      {find(ctx, "l2norm"), 0},
      {find(ctx, "clip_by_norm"), 0},
      {parse(ctx, "op share over elements {\n  in x;  out y\n  y = x/size(all)\n}\n"), 0},
      {parse(ctx, "op place over elements {\n  in x;  out y\n  y = x + index(tensor)\n}\n"), 0}};
  for (const auto &[op, isOnePass] : ops) {
    Program program = compile(ctx, request(op));
    fw_kernel_info info = {};
    info.struct_size = sizeof info;
    ASSERT_EQ(fw_program_kernel(program.get(), 0, &info), FW_OK) << lastError();
    EXPECT_EQ(info.one_pass, isOnePass) << fw_op_name(op.get());
    info.one_pass = 7;
    info.struct_size = 64; // a caller of the first version
    ASSERT_EQ(fw_program_kernel(program.get(), 0, &info), FW_OK) << lastError();
    EXPECT_EQ(info.one_pass, 7);
  }
}

TEST(Reductions, operandsSayTheirScope) {
  Context ctx = context();
  Request req = request(find(ctx, "clip_by_norm"));
  std::string scopes;
  size_t count = 0;
  ASSERT_EQ(fw_request_operand_count(req.get(), &count), FW_OK);
  for (size_t k = 0; k < count; ++k) {
    fw_operand_info info = {};
    info.struct_size = sizeof info;
    ASSERT_EQ(fw_request_operand(req.get(), k, &info), FW_OK);
    scopes += std::string(info.name) + " " + info.scope + "\n";
  }
  EXPECT_EQ(scopes, "x element\ny element\nnorm all\n");
}

TEST(Reductions, normOfAListIsTheSameForEveryNumberOfThreads) {
  std::vector<std::vector<float>> x;
  const std::vector<int64_t> counts = {70'000, 0, 17, 300'001, 65'536};
  for (int64_t count : counts)
    x.push_back(drawn(size_t(count), unsigned(count)));
  double expected = -1;
  for (unsigned threads : {1u, 2u, 7u, 7u}) {
    Context ctx = contextWith(threads);
    Request req = withDtype(find(ctx, "l2norm"), "norm", "f64");
    Program program = compile(ctx, req);
    double norm = -1;
    std::vector<fw_tensor> tensors;
    for (size_t i = 0; i < x.size(); ++i)
      tensors.push_back(tensor("f32", x[i].data(), &counts[i]));
    tensors.push_back(number("f64", &norm));
    ASSERT_EQ(launch(ctx, program, tensors), FW_OK) << lastError();
    if (expected < 0)
      expectReference(req, tensors, {}, {norm});
    expected = expected < 0 ? norm : expected;
    EXPECT_EQ(norm, expected) << threads;
  }
}

TEST(Reductions, normsOfEachTensor) {
  Context ctx = context();
  Request req = request(find(ctx, "l2norm"));
  ASSERT_EQ(fw_request_option(req.get(), "each", "true"), FW_OK) << lastError();
  Program program = compile(ctx, req);
  std::vector<float> x = drawn(1000, 1), y = drawn(70'000, 2);
  const int64_t counts[] = {1000, 0, 70'000};
  float norms[3] = {-1, -1, -1};
  std::vector<fw_tensor> tensors = {tensor("f32", x.data(), &counts[0]), number("f32", &norms[0]),
                                    tensor("f32", nullptr, &counts[1]),  number("f32", &norms[1]),
                                    tensor("f32", y.data(), &counts[2]), number("f32", &norms[2])};
  ASSERT_EQ(launch(ctx, program, tensors), FW_OK) << lastError();
  EXPECT_EQ(norms[1], 0);
  expectReference(req, tensors, {}, {norms[0], norms[1], norms[2]});
}

TEST(Reductions, clippingReadsTheNormOfAll) {
  Context ctx = context();
  Request req = request(find(ctx, "clip_by_norm"));
  Program program = compile(ctx, req);
  const int64_t counts[] = {3, 2};
  float x[5] = {1, -2, 4, 2, 0}, norm = 0; // in place
  const std::vector<fw_tensor> tensors = {
      tensor("f32", x, &counts[0]), tensor("f32", x, &counts[0]), tensor("f32", x + 3, &counts[1]),
      tensor("f32", x + 3, &counts[1]), number("f32", &norm)};
  ASSERT_EQ(launch(ctx, program, tensors, {scalar("max_norm", 2.5), scalar("eps", 0)}), FW_OK)
      << lastError();
  EXPECT_EQ(norm, 5);
  EXPECT_EQ(std::vector<float>(x, x + 5), (std::vector<float>{0.5f, -1, 2, 1, 0}));
}

TEST(Reductions, theFirstTensorThatIsNotFinite) {
  Context ctx = context();
  Program program = compile(ctx, request(find(ctx, "nonfinite")));
  const int64_t counts[] = {2, 0, 3};
  float x[5] = {1, 2, 3, std::nanf(""), float(infinity)}, bad = -1, first = -1;
  std::vector<fw_tensor> tensors = {
      tensor("f32", x, &counts[0]), tensor("f32", nullptr, &counts[1]),
      tensor("f32", x + 2, &counts[2]), number("f32", &bad), number("f32", &first)};
  ASSERT_EQ(launch(ctx, program, tensors), FW_OK) << lastError();
  EXPECT_EQ(bad, 2);
  EXPECT_EQ(first, 2);
  x[3] = x[4] = 0;
  ASSERT_EQ(launch(ctx, program, tensors), FW_OK) << lastError();
  EXPECT_EQ(bad, 0);
  EXPECT_EQ(first, float(infinity));
}

TEST(Reductions, statesOfAllAreKept) {
  Context ctx = context();
  Program program = compile(ctx, request(parse(ctx, "op track over elements {\n"
                                                    "  in x;  state top[all] = 0, runs[all] = 0\n"
                                                    "  top = max(top, absmax[all](x))\n"
                                                    "  runs = runs + 1\n"
                                                    "}\n")));
  float x[3] = {1, -5, 2}, top = 0, runs = 0;
  const int64_t count = 3;
  const std::vector<fw_tensor> tensors = {tensor("f32", x, &count), number("f32", &top),
                                          number("f32", &runs)};
  for (float expected : {5.0f, 7.0f, 7.0f}) {
    ASSERT_EQ(launch(ctx, program, tensors), FW_OK) << lastError();
    EXPECT_EQ(top, expected);
    x[0] = top == 5 ? 7 : 0;
  }
  EXPECT_EQ(runs, 3);
}

TEST(Reductions, opsOfScalarsAlone) {
  Context ctx = context();
  Program program =
      compile(ctx, request(parse(ctx, "op back_off over [] {\n"
                                      "  in bad;  state scale = 1;  hyper by = 0.5\n"
                                      "  scale = if bad > 0 then by*scale else scale\n"
                                      "}\n")));
  float bad = 1, scale = 8;
  const std::vector<fw_tensor> tensors = {number("f32", &bad), number("f32", &scale)};
  ASSERT_EQ(launch(ctx, program, tensors), FW_OK) << lastError();
  EXPECT_EQ(scale, 4);
  bad = 0;
  ASSERT_EQ(launch(ctx, program, tensors), FW_OK) << lastError();
  EXPECT_EQ(scale, 4);
}

// --- Plans ---------------------------------------------------------------------------------------

/// Groups of l2norm in three dtypes over one norm.
struct Norms {
  Norms() {
    for (const char *dtype : {"f32", "bf16", "f64"}) {
      Request req = withDtype(find(ctx, "l2norm"), "x", dtype);
      EXPECT_EQ(fw_request_dtype(req.get(), "norm", "f32"), FW_OK);
      programs.push_back(compile(ctx, req));
    }
    wide.assign(narrow.begin(), narrow.begin() + 7);
    half = halves(narrow);
    tensors = {{tensor("f32", narrow.data(), &counts[0]), number("f32", &norm)},
               {tensor("bf16", half.data(), &counts[0]), tensor("bf16", nullptr, &counts[2]),
                number("f32", &norm)},
               {tensor("f64", wide.data(), &counts[1]), number("f32", &norm)}};
  }
  std::vector<fw_plan_group> groups() const {
    std::vector<fw_plan_group> out;
    for (size_t g = 0; g < 3; ++g)
      out.push_back(group(programs[g], tensors[g]));
    return out;
  }
  double exact() const {
    double sum = 0;
    for (size_t i = 0; i < narrow.size(); ++i) {
      const uint32_t bits = uint32_t(half[i]) << 16;
      float rounded;
      std::memcpy(&rounded, &bits, sizeof bits);
      sum += double(narrow[i]) * narrow[i] + double(rounded) * rounded;
    }
    for (double x : wide)
      sum += x * x;
    return std::sqrt(sum);
  }

  Context ctx = context();
  const int64_t counts[3] = {100'000, 7, 0};
  std::vector<Program> programs;
  std::vector<float> narrow = drawn(100'000, 5);
  std::vector<double> wide;
  std::vector<uint16_t> half;
  float norm = -1, other = -1;
  std::vector<std::vector<fw_tensor>> tensors;
};

TEST(Reductions, groupsOfAllDtypesHaveOneNorm) {
  Norms norms;
  Plan plan;
  ASSERT_EQ(makePlan(norms.ctx, norms.groups(), plan), FW_OK) << lastError();
  float first = 0;
  for (int run = 0; run < 3; ++run) {
    norms.norm = -1;
    ASSERT_EQ(fw_plan_run(plan.get(), nullptr, 0, nullptr, nullptr), FW_OK) << lastError();
    EXPECT_NEAR(norms.norm, norms.exact(), 1e-5 * norms.exact());
    first = run ? first : norms.norm;
    EXPECT_EQ(norms.norm, first);
  }
  fw_plan_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(fw_plan_describe(plan.get(), &info), FW_OK);
  EXPECT_EQ(info.launches, 3u);
  EXPECT_EQ(info.exchanges, 0u);
  EXPECT_EQ(info.streamed_bytes, 100'000u * 6 + 7 * 8);
}

TEST(Reductions, groupsNameOneTensorForWhatAllHave) {
  Norms norms;
  Plan plan;
  norms.tensors[1].back().data = &norms.other;
  EXPECT_EQ(makePlan(norms.ctx, norms.groups(), plan), FW_USAGE);
  EXPECT_EQ(lastError(), "group 1: norm: expected the memory of group 0, since it has one value in "
                         "all, got another address; pass the same tensor in every group");
  norms.tensors[1].back().data = &norms.norm;
  Request req = withDtype(find(norms.ctx, "l2norm"), "norm", "f64");
  norms.programs[2] = compile(norms.ctx, req);
  double number64 = 0;
  std::vector<float> x = {1};
  norms.tensors[2] = {tensor("f32", x.data(), &one), number("f64", &number64)};
  EXPECT_EQ(makePlan(norms.ctx, norms.groups(), plan), FW_USAGE);
  EXPECT_EQ(lastError(), "group 2: norm: expected dtype f32 as in group 0, got f64; bind one dtype "
                         "in the programs of all groups");
}

TEST(Reductions, newAddressesOfOneValueAreThoseOfAllGroups) {
  Norms norms;
  Plan plan;
  ASSERT_EQ(makePlan(norms.ctx, norms.groups(), plan), FW_OK) << lastError();
  void *to[] = {&norms.other, &norms.other};
  EXPECT_EQ(fw_plan_set_pointers(plan.get(), 1, "norm", to, 2), FW_USAGE);
  EXPECT_EQ(lastError(), "norm: expected one address, since it has one value in all, got 2; pass "
                         "one address; it is that of all groups");
  ASSERT_EQ(fw_plan_set_pointers(plan.get(), 1, "norm", to, 1), FW_OK) << lastError();
  ASSERT_EQ(fw_plan_run(plan.get(), nullptr, 0, nullptr, nullptr), FW_OK) << lastError();
  EXPECT_EQ(norms.norm, -1);
  EXPECT_NEAR(norms.other, norms.exact(), 1e-5 * norms.exact());
}

// --- Other ranks ---------------------------------------------------------------------------------

/// p is divided by the norm over all ranks.
constexpr const char *normalise = "op normalise over elements {\n"
                                  "  param p;  out norm[all], top[all]\n"
                                  "  norm = sqrt(sum[world](p^2))\n"
                                  "  top = absmax[world](p)\n"
                                  "  p = p/norm\n"
                                  "}\n";

struct Ranks {
  int calls = 0;
  std::string kinds;
  fw_status status = FW_OK;
  float *watched = nullptr;

  static fw_status reduce(void *data, void *numbers, size_t count, const char *dtype,
                          const char *kind, fw_stream) {
    Ranks &ranks = *static_cast<Ranks *>(data);
    ++ranks.calls;
    ranks.kinds += std::string(kind) + " of " + std::to_string(count) + " " + dtype + "\n";
    EXPECT_EQ(*ranks.watched, 3) << "nothing is written before the exchange";
    auto *values = static_cast<double *>(numbers);
    if (std::string(kind) == "sum")
      values[0] += 16; // another rank has a 4
    else
      values[0] = std::max(values[0], 4.0);
    return ranks.status;
  }
};

struct World : testing::Test {
  World() {
    ranks.watched = &p;
    world.struct_size = sizeof world;
    world.user_data = &ranks;
    world.all_reduce = Ranks::reduce;
    EXPECT_EQ(makePlan(ctx, {group(program, tensors)}, plan), FW_OK) << lastError();
  }
  Context ctx = context();
  Program program = compile(ctx, request(parse(ctx, normalise)));
  float p = 3, norm = -1, top = -1;
  const std::vector<fw_tensor> tensors = {number("f32", &p), number("f32", &norm),
                                          number("f32", &top)};
  Ranks ranks;
  fw_world world = {};
  Plan plan;
};

TEST_F(World, ranksShareTheirReductions) {
  fw_plan_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(fw_plan_describe(plan.get(), &info), FW_OK);
  EXPECT_EQ(info.exchanges, 2u);
  ASSERT_EQ(fw_plan_run(plan.get(), nullptr, 0, nullptr, &world), FW_OK) << lastError();
  EXPECT_EQ(ranks.kinds, "sum of 1 f64\nmax of 1 f64\n");
  EXPECT_EQ(norm, 5);
  EXPECT_EQ(top, 4);
  EXPECT_EQ(p, 3.0f / 5.0f);
}

TEST_F(World, noWorldIsOneRank) {
  ASSERT_EQ(fw_plan_run(plan.get(), nullptr, 0, nullptr, nullptr), FW_OK) << lastError();
  EXPECT_EQ(norm, 3);
  EXPECT_EQ(top, 3);
  EXPECT_EQ(p, 1);
}

TEST_F(World, aFailingExchangeWritesNothing) {
  ranks.status = FW_DEVICE;
  EXPECT_EQ(fw_plan_run(plan.get(), nullptr, 0, nullptr, &world), FW_DEVICE);
  EXPECT_EQ(lastError(),
            "expected the world's all_reduce to give FW_OK for kind \"sum\", got status "
            "4; nothing was written; see what the host's collective says");
  EXPECT_EQ(ranks.calls, 1);
  EXPECT_EQ(p, 3);
  EXPECT_EQ(norm, -1);
  world.all_reduce = nullptr;
  EXPECT_EQ(fw_plan_run(plan.get(), nullptr, 0, nullptr, &world), FW_USAGE);
  EXPECT_EQ(lastError(), "world.all_reduce: expected an address, got NULL; pass the address of an "
                         "object; fusewright.h says which may be NULL");
  world.struct_size = 4;
  EXPECT_EQ(fw_plan_run(plan.get(), nullptr, 0, nullptr, &world), FW_USAGE);
}

TEST_F(World, gpusNeedAPlan) {
  Request req = request(parse(ctx, normalise));
  ASSERT_EQ(fw_request_target(req.get(), "sm_90"), FW_OK);
  fw_program *raw = nullptr;
  if (fw_compile(ctx.get(), req.get(), &raw) == FW_TOOLCHAIN)
    GTEST_SKIP() << "NVRTC is not here: " << lastError();
  Program gpu(raw);
  EXPECT_EQ(launch(ctx, gpu, tensors), FW_USAGE);
  EXPECT_EQ(lastError(), "expected an op of one pass over elements in a launch on a GPU, got one "
                         "with reductions, or with one value per tensor or in all; make a plan");
}

} // namespace
