#include "compiler/jit/ProgramRecord.h"

#include "compiler/jit/Hash.h"

#include <gtest/gtest.h>
#include <random>

namespace fw::jit {
namespace {

/// What adamw with amsgrad and a bf16 copy leaves behind: more than any shipped program of step 1.
ProgramRecord largeRecord() {
  ProgramRecord record;
  record.op = "adamw";
  record.opHash = sha256Hex("adamw");
  record.target = "sm_90";
  record.usesStep = true;
  const char *operands[][3] = {{"p", "param", "f32"},    {"g", "grad", "bf16"},
                               {"m", "state", "f32"},    {"v", "state", "bf16"},
                               {"vmax", "state", "f32"}, {"p.copy", "out", "bf16"}};
  for (auto [name, role, dtype] : operands)
    record.operands.push_back(
        {.name = name, .role = role, .dtype = dtype, .read = true, .written = true});
  const char *hypers[] = {"lr", "beta1", "beta2", "eps", "weight_decay"};
  for (const char *name : hypers)
    record.hypers.push_back(
        {.name = name, .fallback = 0.999, .low = 0, .high = 1, .highOpen = true});
  record.stages.resize(2);
  ScalarProgram &scalars = record.stages[0].scalars;
  for (uint32_t i = 0; i < 5; ++i)
    scalars.input(ScalarInput::Kind::Hyper, i);
  uint32_t step = scalars.input(ScalarInput::Kind::Step), one = scalars.constant(1);
  for (uint32_t i = 0; i < 5; ++i) {
    uint32_t power = scalars.operation(ScalarCode::pow_int, i, step);
    uint32_t correction = scalars.operation(ScalarCode::sub, one, power);
    scalars.slot(correction, "c" + std::to_string(i));
    scalars.slot(i, hypers[i]);
  }
  LaunchRecord launch;
  launch.symbol = "fw_adamw_p_f32_g_bf16_v4";
  launch.pattern = "elements";
  launch.skeleton = "chunk";
  launch.schedule = "#fuse.schedule<skeleton = chunk, threads = 512, vec = 4, inflight = 2, chunk "
                    "= 8192, load = default>";
  launch.gridRule = "chunk";
  launch.threads = 512;
  launch.chunk = 8192;
  launch.vec = 4;
  launch.slots = 10;
  launch.parameters = {"launch"};
  launch.operands = {0, 1, 2, 3, 4, 5};
  launch.registers = 52;
  launch.spillBytes = 0;
  record.kernels = {{launch, sha256Hex("one")}, {launch, sha256Hex("two")}};
  record.stages[0].kernel = 0;
  record.stages[0].reductions = {{"norm2", "sum", "world"}};
  record.stages[1].scalars = scalars;
  record.stages[1].scalars.inputs[0] = {ScalarInput::Kind::Reduction, 0};
  record.stages[1].scalars.results = {{3, 5, true}};
  record.stages[1].scalars.skip = 2;
  record.stages[1].kernel = 1;
  return record;
}

TEST(ProgramRecord, comesBackEqual) {
  ProgramRecord record = largeRecord();
  Result<ProgramRecord> back = decodeProgramRecord(encode(record));
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(*back, record);
  Result<LaunchRecord> launch = decodeLaunchRecord(encode(record.kernels[0].launch));
  ASSERT_TRUE(launch) << launch.error().text;
  EXPECT_EQ(*launch, record.kernels[0].launch);
}

TEST(ProgramRecord, infiniteBoundsAndNegativeZeroSurvive) {
  ProgramRecord record;
  record.hypers.push_back({.name = "x", .fallback = -0.0});
  Result<ProgramRecord> back = decodeProgramRecord(encode(record));
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_TRUE(std::signbit(back->hypers[0].fallback));
  EXPECT_EQ(back->hypers[0].high, std::numeric_limits<double>::infinity());
}

TEST(ProgramRecord, largestShippedShapeStaysInsideTheLimit) {
  size_t bytes = encode(largeRecord()).size();
  std::printf("program record of two kernels, 6 operands, 5 hypers, 10 scalars: %zu bytes\n",
              bytes);
  EXPECT_LE(bytes, maxProgramRecordBytes - 100); // the container's head
}

TEST(ProgramRecord, encodingIsDeterministic) {
  EXPECT_EQ(encode(largeRecord()), encode(largeRecord()));
}

TEST(ProgramRecord, everyTruncationIsRefused) {
  std::string bytes = encode(largeRecord());
  for (size_t length = 0; length < bytes.size(); ++length)
    ASSERT_FALSE(decodeProgramRecord(std::string_view(bytes).substr(0, length))) << length;
}

TEST(ProgramRecord, anyDamageIsRefusedOrGivesAConsistentRecord) {
  std::string bytes = encode(largeRecord());
  std::mt19937 random(7);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = bytes;
    for (int n = 1 + int(random() % 3); n > 0; --n)
      damaged[random() % damaged.size()] = char(random());
    Result<ProgramRecord> record = decodeProgramRecord(damaged);
    if (!record) {
      ASSERT_EQ(record.error().code == Code::CACHE || record.error().code == Code::INTERNAL, true);
      continue;
    }
    ++accepted;
    for (const StageRecord &stage : record->stages)
      ASSERT_TRUE(check(stage.scalars));
    for (const KernelRecord &kernel : record->kernels)
      for (uint32_t operand : kernel.launch.operands)
        ASSERT_LT(operand, record->operands.size());
  }
  EXPECT_GT(accepted, 0) << "a changed letter of a name is no damage that this reader can see";
}

TEST(ProgramRecord, deepNestingIsRefusedWithoutDeepRecursion) {
  EXPECT_FALSE(decodeProgramRecord(std::string(1 << 20, char(0x81))));
  EXPECT_FALSE(decodeProgramRecord(std::string((1 << 20) + 1, 'x')));
}

TEST(ProgramRecord, errorsSayWhatIsWrong) {
  EXPECT_EQ(decodeProgramRecord("").error().text,
            "expected a record of format 6, got bytes that are not CBOR");
  ProgramRecord record = largeRecord();
  record.kernels[0].launch.operands[0] = 6;
  EXPECT_EQ(decodeProgramRecord(encode(record)).error().text,
            "expected a record of format 6, got a kernel operand out of range");
  record = largeRecord();
  record.kernels[0].key = "../x";
  EXPECT_EQ(decodeProgramRecord(encode(record)).error().text,
            "expected a record of format 6, got a kernel without a key");
  record = largeRecord();
  record.stages[0].scalars.inputs[0] = {ScalarInput::Kind::Reduction, 0};
  EXPECT_EQ(decodeProgramRecord(encode(record)).error().text,
            "expected a record of format 6, got a scalar input out of range");
  record = largeRecord();
  record.stages[1].kernel = 2;
  EXPECT_EQ(decodeProgramRecord(encode(record)).error().text,
            "expected a record of format 6, got a stage with a kernel out of range");
  record = largeRecord();
  record.stages[0].kernel = StageRecord::NO_KERNEL;
  EXPECT_EQ(decodeProgramRecord(encode(record)).error().text,
            "expected a record of format 6, got reductions without a kernel");
}

} // namespace
} // namespace fw::jit
