// What the surroundings of a call must not change: the floating-point mode; and what settings must:
// strict mode and the features of CPU code.
#include "tests/runtime/Api.h"
#include "tests/support/FloatModes.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

namespace {

using namespace api;

/// A cache folder of its own.
class Settings : public testing::Test {
protected:
  Settings() {
    std::string name = testing::TempDir() + "fusewright-settings-XXXXXX";
    folder = mkdtemp(name.data());
  }
  ~Settings() override { std::filesystem::remove_all(folder); }

  Context strictContext() {
    fw_context_options options;
    fw_context_options_init(&options);
    options.cache_dir = folder.c_str();
    options.strict = 1;
    return make<Context>([&](fw_context **out) { return fw_context_create(&options, out); });
  }

  std::string folder;
};

/// An environment variable while it lives; contexts read it when they are made.
class Variable {
public:
  Variable(const char *name, const std::string &value) : name(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name); }

private:
  const char *name;
};

// --- Floating-point mode

struct Numbers {
  std::vector<float> launched;
  std::vector<double> values, bounds;
  bool operator==(const Numbers &other) const { // bits: -0 is not 0, NaN is NaN
    auto same = [](const auto &a, const auto &b) {
      return a.size() == b.size() && !std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0]));
    };
    return same(launched, other.launched) && same(values, other.values) &&
           same(bounds, other.bounds);
  }
};

/// The scalar program scales a denormal and divides; elements get both.
Numbers numbersOf(const std::string &folder, std::vector<float> x) {
  Context ctx = context(folder.c_str());
  Request req = request(parse(ctx, "fuse 1\n"
                                   "op mode over elements {\n"
                                   "  in x;  out y\n"
                                   "  hyper tiny = 1e-310 >= 0, a = 0.1, b = 3\n"
                                   "  y = x*(tiny*1e300) + x*(a/b)\n"
                                   "}\n"));
  Program program = compile(ctx, req);
  const auto count = int64_t(x.size());
  std::vector<float> y(x.size());
  fw_tensor tensors[] = {tensor("f32", x.data(), &count), tensor("f32", y.data(), &count)};
  Numbers out{.values = std::vector<double>(x.size()), .bounds = std::vector<double>(x.size())};
  EXPECT_EQ(fw_evaluate(req.get(), tensors, 2, nullptr, 0, out.values.data(), out.bounds.data()),
            FW_OK)
      << lastError();
  EXPECT_EQ(fw_launch(ctx.get(), program.get(), tensors, 2, nullptr, 0, nullptr), FW_OK)
      << lastError();
  out.launched = y;
  return out;
}

TEST_F(Settings, floatModeOfTheCallerChangesNoBit) {
  std::vector<float> x; // made here: the test's own arithmetic is in the caller's mode
  for (int i = 0; i < 37; ++i)
    x.push_back(i % 2 ? 0.1f * float(i) : std::numeric_limits<float>::denorm_min() * float(7 * i));
  const Numbers standard = numbersOf(folder, x);
  for (const auto &[name, bits] : fw::test::callersModes) {
    std::string fresh = folder + "/" + name; // compiled in that mode too
    std::filesystem::create_directory(fresh);
    std::filesystem::permissions(fresh, std::filesystem::perms::owner_all);
    fw::test::CallersMode mode(bits);
    const uint64_t before = fw::test::floatMode();
    const Numbers changed = numbersOf(fresh, x);
    const uint64_t after = fw::test::floatMode();
    EXPECT_EQ(before | 0x3f, after | 0x3f) << name; // but for the flags of what happened
    EXPECT_TRUE(changed == standard) << name;
  }
}

TEST_F(Settings, denormalBelowARangeIsRefusedInEveryMode) {
  Context ctx = context(folder.c_str());
  Request req = request(find(ctx, "adamw"));
  Program program = compile(ctx, req);
  const int64_t count = 1;
  float data[4] = {1, 1, 1, 1};
  fw_tensor tensors[4];
  for (int k = 0; k < 4; ++k)
    tensors[k] = tensor("f32", &data[k], &count);
  const fw_scalar scalars[] = {scalar("t", 1), scalar("lr", -1e-310)};
  for (const auto &[name, bits] : fw::test::callersModes) {
    fw::test::CallersMode mode(bits);
    EXPECT_EQ(fw_launch(ctx.get(), program.get(), tensors, 4, scalars, 2, nullptr), FW_USAGE)
        << name;
  }
}

// --- Strict mode

TEST_F(Settings, strictModeTellsAMissAndNothingElse) {
  Context ctx = strictContext();
  Request req = request(find(ctx, "adamw"));
  fw_program *program = nullptr;
  EXPECT_EQ(fw_compile(ctx.get(), req.get(), &program), FW_STRICT_MISS);
  EXPECT_NE(lastError().find("strict mode: expected a cached program, got none for adamw"),
            std::string::npos)
      << lastError();

  Request wrong = request(find(ctx, "adamw"));
  ASSERT_EQ(fw_request_target(wrong.get(), "sm_90"), FW_OK);
  ASSERT_EQ(fw_request_schedule(wrong.get(), "threads", 100), FW_OK);
  EXPECT_EQ(fw_compile(ctx.get(), wrong.get(), &program), FW_USAGE) << lastError();

  Variable library("FUSEWRIGHT_CPU_LIBRARY", folder + "/missing.so");
  Context without = strictContext();
  EXPECT_EQ(fw_compile(without.get(), req.get(), &program), FW_TOOLCHAIN) << lastError();
}

TEST_F(Settings, strictModeWithoutNvrtcIsAMiss) {
  Variable nvrtc("FUSEWRIGHT_NVRTC", folder + "/missing.so");
  Context ctx = strictContext();
  Request req = request(find(ctx, "adamw"));
  ASSERT_EQ(fw_request_target(req.get(), "sm_90"), FW_OK);
  fw_program *program = nullptr;
  EXPECT_EQ(fw_compile(ctx.get(), req.get(), &program), FW_STRICT_MISS) << lastError();
  Context loose = context(folder.c_str());
  EXPECT_EQ(fw_compile(loose.get(), req.get(), &program), FW_TOOLCHAIN) << lastError();
}

TEST_F(Settings, strictModeKeepsTheRecordsThatItMakes) {
  {
    Context ctx = context(folder.c_str());
    compile(ctx, request(find(ctx, "adamw")));
  }
  std::filesystem::remove_all(folder + "/index"); // as an upgrade of the library leaves it
  for (const char *origin : {"compiled", "disk"}) {
    Context ctx = strictContext();
    EXPECT_STREQ(fw_program_origin(compile(ctx, request(find(ctx, "adamw"))).get()), origin);
  }
}

// --- Features of CPU code

#if defined(__x86_64__)
TEST_F(Settings, featuresInAnyOrderAreOneKey) {
  std::string key;
  for (const char *features : {"+avx2,+fma", "+fma,+avx2", "x86-64+fma+avx2+avx"}) {
    Variable variable("FUSEWRIGHT_CPU_FEATURES", features);
    Context ctx = context(folder.c_str());
    Program program = compile(ctx, request(find(ctx, "adamw")));
    EXPECT_STREQ(fw_program_origin(program.get()), key.empty() ? "compiled" : "disk") << features;
    key = key.empty() ? fw_program_key(program.get()) : key;
    EXPECT_EQ(fw_program_key(program.get()), key) << features;
  }
}

TEST_F(Settings, featuresOfAnotherMachineAreRefused) {
  fw_program *program = nullptr;
  for (const auto &[features, status] :
       {std::pair("aarch64+neon", FW_DEVICE), std::pair("+avx9", FW_USAGE)}) {
    Variable variable("FUSEWRIGHT_CPU_FEATURES", features);
    Context ctx = context(folder.c_str());
    Request req = request(find(ctx, "adamw"));
    EXPECT_EQ(fw_compile(ctx.get(), req.get(), &program), status) << features << lastError();
  }
}
#endif

} // namespace
