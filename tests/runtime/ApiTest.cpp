// The C API from end to end on the CPU: metadata, requests, programs, launches, the reference.
#include "tests/runtime/Api.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <pthread.h>
#include <thread>
#include <tuple>
#include <vector>

namespace {

using namespace api;

constexpr const char *halve =
    "op halve over elements { in x; out y; hyper k = 0.5 >= 0\n  y = k*x\n}\n";

TEST(Metadata, shippedOpsAreSorted) {
  std::vector<std::string> names;
  for (size_t i = 0; i < fw_shipped_op_count(); ++i)
    names.push_back(fw_shipped_op_name(i));
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_NE(std::find(names.begin(), names.end(), "adamw"), names.end());
  EXPECT_EQ(fw_shipped_op_name(names.size()), nullptr);
}

TEST(Metadata, optionsAndFeaturesOfAnOp) {
  Context ctx = context();
  Op op = find(ctx, "adamw");
  EXPECT_STREQ(fw_op_name(op.get()), "adamw");
  EXPECT_EQ(std::strlen(fw_op_hash(op.get())), 64u);
  ASSERT_GE(fw_op_option_count(op.get()), 2u);
  fw_option_info option = {};
  option.struct_size = sizeof option;
  ASSERT_EQ(fw_op_option(op.get(), 0, &option), FW_OK);
  EXPECT_STREQ(option.name, "decay");
  ASSERT_EQ(option.value_count, 2u);
  EXPECT_STREQ(option.values[0], "decoupled");
  EXPECT_STREQ(option.values[1], "l2");
  std::vector<std::string> features;
  for (size_t i = 0; i < fw_op_feature_count(op.get()); ++i)
    features.push_back(fw_op_feature(op.get(), i));
  EXPECT_NE(std::find(features.begin(), features.end(), "copy"), features.end());
  EXPECT_NE(std::find(features.begin(), features.end(), "guard"), features.end());
  EXPECT_EQ(fw_op_feature(op.get(), features.size()), nullptr);
}

std::string operands(const Request &request) {
  std::string out;
  size_t count = 0;
  EXPECT_EQ(fw_request_operand_count(request.get(), &count), FW_OK);
  for (size_t i = 0; i < count; ++i) {
    fw_operand_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(fw_request_operand(request.get(), i, &info), FW_OK);
    out += std::string(info.name) + " " + info.role + " " + info.dtype + " " +
           (info.read ? "r" : "") + (info.written ? "w" : "") + "\n";
  }
  return out;
}

TEST(Requests, optionsAndFeaturesChangeTheOperands) {
  Context ctx = context();
  Request req = request(find(ctx, "adamw"));
  EXPECT_EQ(operands(req), "p param f32 rw\ng grad f32 r\nm state f32 rw\nv state f32 rw\n");
  ASSERT_EQ(fw_request_option(req.get(), "amsgrad", "true"), FW_OK);
  ASSERT_EQ(fw_request_dtype(req.get(), "grad", "bf16"), FW_OK);
  ASSERT_EQ(fw_request_feature(req.get(), "copy"), FW_OK);
  EXPECT_EQ(operands(req),
            "p param f32 rw\ng grad bf16 r\nm state f32 rw\nv state f32 rw\nvmax state f32 rw\n"
            "p.copy out bf16 w\n");
}

TEST(Requests, scalarsHaveDefaultsAndRanges) {
  Context ctx = context();
  Request req = request(find(ctx, "adamw"));
  size_t count = 0;
  ASSERT_EQ(fw_request_scalar_count(req.get(), &count), FW_OK);
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    fw_scalar_info info = {};
    info.struct_size = sizeof info;
    ASSERT_EQ(fw_request_scalar(req.get(), i, &info), FW_OK);
    out += std::string(info.name) + " " + info.kind + " " + (info.is_step ? "step " : "") +
           info.range + "\n";
  }
  EXPECT_NE(out.find("lr real >= 0\nbeta1 real in [0, 1)\n"), std::string::npos) << out;
  EXPECT_NE(out.find("t int step >= 1\n"), std::string::npos) << out;
}

TEST(Requests, handlesOutliveWhatTheyWereMadeFrom) {
  Program program;
  {
    Context ctx = context();
    Request req = request(parse(ctx, halve));
    program = compile(ctx, req);
  }
  EXPECT_EQ(fw_program_kernel_count(program.get()), 1u);
  EXPECT_EQ(std::strlen(fw_program_key(program.get())), 64u);
}

TEST(Requests, textOfAStage) {
  Context ctx = context();
  Request req = request(parse(ctx, halve));
  Text text = make<Text>(
      [&](fw_text **out) { return fw_request_text(ctx.get(), req.get(), "semantic", out); });
  EXPECT_NE(
      std::string(fw_text_data(text.get()), fw_text_length(text.get())).find("fuse.op @halve"),
      std::string::npos);
}

TEST(Programs, originsAndCounters) {
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "fusewright-origins";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  for (const char *first : {"compiled", "disk"}) {
    Context ctx = context(folder.c_str());
    Op op = parse(ctx, halve);
    Request one = request(op), two = request(op);
    EXPECT_STREQ(fw_program_origin(compile(ctx, one).get()), first);
    EXPECT_STREQ(fw_program_origin(compile(ctx, one).get()), "memory"); // by handle
    EXPECT_STREQ(fw_program_origin(compile(ctx, two).get()), "memory"); // by request
    fw_counters counters = {};
    counters.struct_size = sizeof counters;
    ASSERT_EQ(fw_context_counters(ctx.get(), &counters), FW_OK);
    EXPECT_EQ(counters.memory_hits, 2u);
    EXPECT_EQ(counters.disk_hits, std::string(first) == "disk");
    EXPECT_EQ(counters.compiles, std::string(first) == "compiled");
    EXPECT_EQ(counters.launches, 0u);
  }
  std::filesystem::remove_all(folder);
}

TEST(Programs, readOnlyFoldersAreLookedInto) {
  std::string root = testing::TempDir() + "fusewright-packs-XXXXXX";
  ASSERT_TRUE(mkdtemp(root.data()));
  std::string pack = root + "/pack", mine = root + "/mine";
  {
    Context ctx = context(pack.c_str());
    EXPECT_STREQ(fw_program_origin(compile(ctx, request(parse(ctx, halve))).get()), "compiled");
  }
  const char *folders[] = {pack.c_str()};
  fw_context_options options;
  fw_context_options_init(&options);
  options.cache_dir = mine.c_str();
  options.strict = 1;
  options.read_only_cache_dirs = folders;
  options.read_only_cache_dir_count = 1;
  auto create = [&](fw_context **out) { return fw_context_create(&options, out); };
  {
    Context ctx = make<Context>(create);
    EXPECT_STREQ(fw_program_origin(compile(ctx, request(parse(ctx, halve))).get()), "disk");
  }
  setenv("FUSEWRIGHT_CACHE_READ_ONLY", pack.c_str(), 1);
  options.read_only_cache_dir_count = 0; // none, whatever the setting says
  for (fw_status expected : {FW_STRICT_MISS, FW_OK}) {
    Context ctx = make<Context>(create);
    fw_program *raw = nullptr;
    EXPECT_EQ(fw_compile(ctx.get(), request(parse(ctx, halve)).get(), &raw), expected)
        << lastError();
    fw_program_destroy(raw);
    options.read_only_cache_dirs = nullptr;
  }
  unsetenv("FUSEWRIGHT_CACHE_READ_ONLY");
  folders[0] = "/a:/b";
  options.read_only_cache_dirs = folders;
  options.read_only_cache_dir_count = 1;
  fw_context *none = nullptr;
  EXPECT_EQ(create(&none), FW_USAGE);
  EXPECT_EQ(lastError(), "options: expected a path without ':' as read_only_cache_dirs[0], got "
                         "'/a:/b'; name the folder by another path");
  std::filesystem::remove_all(root);
}

TEST(Programs, kernelsOfTheCpu) {
  Context ctx = context();
  Program program = compile(ctx, request(parse(ctx, halve)));
  fw_kernel_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(fw_program_kernel(program.get(), 0, &info), FW_OK);
  EXPECT_STREQ(info.target, "cpu");
  EXPECT_EQ(info.registers, -1);
  EXPECT_EQ(info.slots, 1u);
  EXPECT_GT(info.image_bytes, 0u);
}

TEST(Launch, computesWhatTheReferenceSays) {
  Context ctx = context();
  Request req = request(find(ctx, "adamw"));
  Program program = compile(ctx, req);
  const int64_t count = 1001;
  std::vector<float> data[4];
  for (int k = 0; k < 4; ++k)
    for (int64_t i = 0; i < count; ++i)
      data[k].push_back(std::sin(float(i + k * 7)) * (k == 3 ? 0.5f : 1.0f) +
                        (k == 3 ? 0.5f : 0.0f));
  fw_tensor tensors[4];
  for (int k = 0; k < 4; ++k)
    tensors[k] = tensor("f32", data[k].data(), &count);
  fw_scalar scalars[] = {scalar("t", 3), scalar("lr", 0.01)};
  std::vector<double> values(3 * count), bounds(3 * count);
  ASSERT_EQ(fw_evaluate(req.get(), tensors, 4, scalars, 2, values.data(), bounds.data()), FW_OK)
      << lastError();
  ASSERT_EQ(fw_launch(ctx.get(), program.get(), tensors, 4, scalars, 2, nullptr), FW_OK)
      << lastError();
  const int written[] = {0, 2, 3};
  for (int w = 0; w < 3; ++w)
    for (int64_t i = 0; i < count; ++i) {
      size_t at = size_t(w * count + i);
      ASSERT_LT(bounds[at], 1e-5);
      ASSERT_LE(std::abs(double(data[written[w]][i]) - values[at]), bounds[at]) << w << " " << i;
    }
}

TEST(Launch, hostsThreadsAreUsed) {
  static std::atomic<int> calls;
  calls = 0;
  fw_context_options options;
  fw_context_options_init(&options);
  options.parallel_for = [](void *, size_t count, fw_parallel_body body, void *argument) {
    ++calls;
    for (size_t i = count; i-- > 0;)
      body(argument, i);
  };
  setenv("FUSEWRIGHT_NUM_THREADS", "4", 1);
  Context ctx = make<Context>([&](fw_context **out) { return fw_context_create(&options, out); });
  unsetenv("FUSEWRIGHT_NUM_THREADS");
  Program program = compile(ctx, request(parse(ctx, halve)));
  const int64_t count = 1'000'000;
  std::vector<float> x(count, 3.0f), y(count, 0.0f);
  fw_tensor tensors[] = {tensor("f32", x.data(), &count), tensor("f32", y.data(), &count)};
  ASSERT_EQ(fw_launch(ctx.get(), program.get(), tensors, 2, nullptr, 0, nullptr), FW_OK)
      << lastError();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(y, std::vector<float>(count, 1.5f));
}

TEST(Launch, cudaProgramsRefuseTensorsOfTheCpu) {
  Context ctx = context();
  Request req = request(parse(ctx, halve));
  ASSERT_EQ(fw_request_target(req.get(), "sm_90"), FW_OK);
  fw_program *raw = nullptr;
  if (fw_compile(ctx.get(), req.get(), &raw) == FW_TOOLCHAIN)
    GTEST_SKIP() << "NVRTC is not here: " << lastError();
  Program program(raw);
  const int64_t count = 1;
  float x = 1, y = 7;
  fw_tensor tensors[] = {tensor("f32", &x, &count), tensor("f32", &y, &count)};
  EXPECT_EQ(fw_launch(ctx.get(), program.get(), tensors, 2, nullptr, 0, nullptr), FW_DEVICE);
  EXPECT_EQ(
      lastError(),
      "tensor 0 (x of entry 0): expected a tensor on CUDA device 0, got one on the CPU; copy it to "
      "the device, or compile for \"cpu\"");
  EXPECT_EQ(y, 7);
  fw_kernel_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(fw_program_kernel(program.get(), 0, &info), FW_OK);
  EXPECT_GT(info.registers, 0);
  EXPECT_EQ(info.spill_bytes, 0);
  EXPECT_GT(info.chunk, 0u);
  EXPECT_GT(info.image_bytes, 0u);
}

TEST(Launch, boolHypersAreZeroOrOne) {
  Context ctx = context();
  Request req = request(parse(ctx, "op pick over elements { in x; out y; hyper k = 3 > 0\n"
                                   "  hyper twice : bool = true, negate : bool\n"
                                   "  s = if twice then 2*k else k\n"
                                   "  y = if negate then -s*x else s*x\n}\n"));
  fw_scalar_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(fw_request_scalar(req.get(), 1, &info), FW_OK);
  EXPECT_STREQ(info.kind, "bool");
  EXPECT_STREQ(info.range, "");
  Program program = compile(ctx, req);
  const int64_t count = 2;
  float x[2] = {1, 2}, y[2] = {};
  fw_tensor tensors[] = {tensor("f32", x, &count), tensor("f32", y, &count)};
  auto launch = [&](std::vector<fw_scalar> scalars) {
    return fw_launch(ctx.get(), program.get(), tensors, 2, scalars.data(), scalars.size(), nullptr);
  };
  using Row = std::tuple<int, int, float>;
  for (auto [twice, negate, expected] : {Row{1, 0, 12}, Row{0, 0, 6}, Row{0, 1, -6}}) {
    fw_scalar scalars[] = {scalar("twice", twice), scalar("negate", negate)};
    ASSERT_EQ(launch({scalars[0], scalars[1]}), FW_OK) << lastError();
    EXPECT_EQ(y[1], expected);
    double values[2], bounds[2];
    ASSERT_EQ(fw_evaluate(req.get(), tensors, 2, scalars, 2, values, bounds), FW_OK) << lastError();
    EXPECT_EQ(values[1], expected);
  }
  ASSERT_EQ(launch({scalar("negate", 1)}), FW_OK) << lastError();
  EXPECT_EQ(y[1], -12); // twice is true unless it is given
  EXPECT_EQ(launch({scalar("negate", 0.5)}), FW_USAGE);
  EXPECT_EQ(lastError(), "negate: expected 0 or 1, got 0.5; pass 0 or 1");
  EXPECT_EQ(launch({}), FW_USAGE);
  EXPECT_EQ(lastError(), "negate: expected a value, got none; pass a scalar \"negate\", or give it "
                         "a default in the op");
}

TEST(Launch, absentOperandsHaveTheirNeutralValue) {
  Context ctx = context();
  Request req =
      request(parse(ctx, "op opt over elements { in x; in w = 2 optional; out y\n  y = w*x\n}\n"));
  ASSERT_EQ(fw_request_absent(req.get(), "w"), FW_OK);
  Program program = compile(ctx, req);
  const int64_t count = 3;
  float x[3] = {1, 2, 3}, y[3] = {};
  fw_tensor tensors[] = {tensor("f32", x, &count), tensor("f32", nullptr, &count),
                         tensor("f32", y, &count)};
  ASSERT_EQ(fw_launch(ctx.get(), program.get(), tensors, 3, nullptr, 0, nullptr), FW_OK)
      << lastError();
  EXPECT_EQ(y[2], 6);
  tensors[1].data = x;
  EXPECT_EQ(fw_launch(ctx.get(), program.get(), tensors, 3, nullptr, 0, nullptr), FW_USAGE);
  EXPECT_EQ(
      lastError(),
      "tensor 1 (w of entry 0): expected data = NULL for an absent operand, got an address; make a "
      "request in which the operand is present");
}

TEST(Evaluate, stridesAndStorageAreDecoded) {
  Context ctx = context();
  Request req = request(parse(ctx, halve));
  ASSERT_EQ(fw_request_dtype(req.get(), "x", "bf16"), FW_OK);
  // Column-major 2 x 3; values 1..6 in bf16, in row-major order of meaning.
  uint16_t x[6] = {0x3f80, 0x4080, 0x4000, 0x40a0, 0x4040, 0x40c0};
  uint16_t y[6] = {};
  const int64_t shape[2] = {2, 3}, strides[2] = {1, 2};
  fw_tensor tensors[] = {tensor("bf16", x, shape), tensor("bf16", y, shape)};
  for (fw_tensor &tensor : tensors)
    tensor.rank = 2, tensor.strides = strides;
  double values[6], bounds[6];
  ASSERT_EQ(fw_evaluate(req.get(), tensors, 2, nullptr, 0, values, bounds), FW_OK) << lastError();
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(values[i], 0.5 * (i + 1));
    EXPECT_LE(bounds[i], 0x1p-8);
  }
}

TEST(Evaluate, nanIsExactAndEmptyIsNothing) {
  Context ctx = context();
  Request req = request(parse(ctx, halve));
  float x = std::nanf(""), y = 0;
  int64_t count = 1;
  fw_tensor tensors[] = {tensor("f32", &x, &count), tensor("f32", &y, &count)};
  double value = 0, bound = 1;
  ASSERT_EQ(fw_evaluate(req.get(), tensors, 2, nullptr, 0, &value, &bound), FW_OK) << lastError();
  EXPECT_TRUE(std::isnan(value));
  EXPECT_EQ(bound, 0);
  EXPECT_EQ(fw_evaluate(req.get(), tensors, 2, nullptr, 0, nullptr, nullptr), FW_USAGE);
  EXPECT_EQ(fw_evaluate(req.get(), tensors, 1, nullptr, 0, &value, &bound), FW_USAGE);
  EXPECT_EQ(
      lastError(),
      "expected a multiple of 2 tensors, one per operand, got 1; pass tensors[i * operands + k] "
      "for operand k of entry i");
  count = 0;
  EXPECT_EQ(fw_evaluate(req.get(), tensors, 2, nullptr, 0, nullptr, nullptr), FW_OK) << lastError();
}

TEST(Evaluate, listsGiveEachOperandsEntriesOneAfterTheOther) {
  Context ctx = context();
  Request req = request(parse(
      ctx, "op test over elements {\n  in x, k[tensor];  out y, n[tensor], m[all];  hyper a = 1\n"
           "  y = a*k*x;  n = sum[tensor](x);  m = max[all](y)\n}\n"));
  float x[3] = {1, 2, 5}, y[3] = {}, k[3] = {10, 20, 30}, n[3] = {}, m = 0;
  const int64_t counts[] = {2, 0, 1}, one = 1;
  std::vector<fw_tensor> tensors;
  for (size_t i = 0, at = 0; i < 3; at += size_t(counts[i++])) {
    tensors.push_back(tensor("f32", x + at, &counts[i]));
    tensors.push_back(tensor("f32", k + i, &one));
    tensors.push_back(tensor("f32", y + at, &counts[i]));
    tensors.push_back(tensor("f32", n + i, &one));
  }
  tensors.push_back(tensor("f32", &m, &one));
  const double each[] = {1, 1, 2};
  fw_scalar a = scalar("a", 0);
  a.values = each, a.count = 3;
  double values[7], bounds[7];
  ASSERT_EQ(fw_evaluate(req.get(), tensors.data(), tensors.size(), &a, 1, values, bounds), FW_OK)
      << lastError();
  EXPECT_EQ(std::vector<double>(values, values + 7),
            (std::vector<double>{10, 20, 300, 3, 0, 5, 300}));
  for (double bound : bounds)
    EXPECT_LE(bound, 1e-4);
}

TEST(Log, warningsOfOpTextsReachTheHost) {
  static std::string told;
  told.clear();
  fw_context_options options;
  fw_context_options_init(&options);
  options.log = [](void *, fw_log_level level, const char *message) {
    told += std::to_string(int(level)) + " " + message;
  };
  Context ctx = make<Context>([&](fw_context **out) { return fw_context_create(&options, out); });
  parse(ctx, "op idle over elements { option unused = a | b; in x; out y\n  y = x\n}\n");
  EXPECT_EQ(told.substr(0, 12), "2 test.fuse:") << told;
  EXPECT_NE(told.find("unused"), std::string::npos) << told;
}

TEST(Requests, aScheduleThatCannotWorkComesWithItsRemedy) {
  Context ctx = context();
  Request req = request(find(ctx, "adamw"));
  ASSERT_EQ(fw_request_target(req.get(), "sm_90"), FW_OK);
  ASSERT_EQ(fw_request_schedule(req.get(), "vec", 8), FW_OK);
  fw_text *text = nullptr;
  EXPECT_EQ(fw_request_text(ctx.get(), req.get(), "cuda", &text), FW_USAGE);
  EXPECT_STREQ(fw_last_error()->text, "expected vec to be a power of two up to 4 (16 bytes of the "
                                      "widest stream), got 8");
  EXPECT_STREQ(fw_last_error()->remedy, "choose a smaller vector, or narrower dtypes");
}

TEST(Threads, oneContextServesManyThreads) {
  Context ctx = context();
  Op op = find(ctx, "sgd");
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        Request req = request(op);
        Program program = compile(ctx, req);
        const int64_t count = 100;
        std::vector<float> p(count, 1.0f), g(count, 2.0f);
        fw_tensor tensors[] = {tensor("f32", p.data(), &count), tensor("f32", g.data(), &count)};
        fw_scalar lr = scalar("lr", 0.25);
        if (fw_launch(ctx.get(), program.get(), tensors, 2, &lr, 1, nullptr) == FW_OK &&
            p[99] == 0.5f)
          ++right;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 160);
}

TEST(Threads, errorsAreOfTheirThread) {
  EXPECT_EQ(fw_op_find(nullptr, "adamw", nullptr), FW_USAGE);
  std::string mine = lastError();
  std::thread([&] {
    fw_context *out = nullptr;
    EXPECT_EQ(fw_op_find(nullptr, "sgd", reinterpret_cast<fw_op **>(&out)), FW_USAGE);
    EXPECT_NE(lastError(), mine);
  }).join();
  EXPECT_EQ(lastError(), mine);
}

struct Thread {
  void (*body)();

  static void *run(void *body) {
    static_cast<Thread *>(body)->body();
    return nullptr;
  }
};

/// The most operations that an op may have, in one line, which is a tree as deep.
void addFourThousandTimes() {
  std::string sum = "x";
  for (int i = 0; i < 4000; ++i)
    sum += "+x";
  Context ctx = context();
  Op op = parse(ctx, "op add over elements { in x; out y\n  y = " + sum + "\n}\n");
  Request req = request(op);
  Program program = compile(ctx, req);
  float x = 1, y = 0;
  int64_t one = 1;
  fw_tensor tensors[] = {tensor("f32", &x, &one), tensor("f32", &y, &one)};
  EXPECT_EQ(fw_launch(ctx.get(), program.get(), tensors, 2, nullptr, 0, nullptr), FW_OK)
      << lastError();
  EXPECT_EQ(y, 4001);
  double value = 0, bound = 0;
  EXPECT_EQ(fw_evaluate(req.get(), tensors, 2, nullptr, 0, &value, &bound), FW_OK) << lastError();
  EXPECT_EQ(value, 4001);
}

TEST(Programs, deepOpsFitOnSmallStacks) {
  pthread_attr_t attributes;
  ASSERT_EQ(::pthread_attr_init(&attributes), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&attributes, 128 << 10), 0);
  Thread call{addFourThousandTimes};
  pthread_t thread;
  ASSERT_EQ(::pthread_create(&thread, &attributes, Thread::run, &call), 0);
  ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&attributes);
}

} // namespace
