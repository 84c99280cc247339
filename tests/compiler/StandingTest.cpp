#include "ops/Profiles.h"
#include "tests/compiler/Support.h"

#include "compiler/jit/Hash.h"

namespace fw {
namespace {

using StandingTest = testing::CompilerTest;

std::string factsOnDisk(Compiler &compiler, const std::string &key) {
  jit::EntryPtr entry = compiler.cache().peek(jit::EntryKind::Program, key);
  const std::string *facts = entry ? entry->find(jit::Section::Facts) : nullptr;
  return facts ? *facts : "";
}

TEST_F(StandingTest, aColdRequestNamesItsKernelsWithoutCompiling) {
  Compiler compiler(options("FW_FAKE_NVRTC_13"));
  auto cold = compiler.standing(scaleFor("sm_90"));
  ASSERT_TRUE(cold) << render(cold.error());
  EXPECT_FALSE(cold->isIndexed);
  ASSERT_EQ(cold->kernels.size(), 1u);
  EXPECT_FALSE(cold->kernels[0].isStored);
  EXPECT_EQ(compiler.cache().counters(jit::EntryKind::Kernel).compiles, 0u);

  auto program = compiler.compile(scaleFor("sm_90"));
  ASSERT_TRUE(program) << render(program.error());
  EXPECT_EQ((*program)->key, cold->key);
  EXPECT_EQ((*program)->record.kernels[0].key, cold->kernels[0].key);
  auto warm = compiler.standing(scaleFor("sm_90"));
  ASSERT_TRUE(warm);
  EXPECT_TRUE(warm->isIndexed);
  EXPECT_TRUE(warm->kernels[0].isStored);
}

TEST_F(StandingTest, theRecordKeepsWhatItsKeyWasMadeOf) {
  Compiler compiler(options("FW_FAKE_NVRTC_13"));
  auto program = compiler.compile(scaleFor("sm_90"));
  ASSERT_TRUE(program) << render(program.error());
  std::string facts = factsOnDisk(compiler, (*program)->key);
  EXPECT_EQ(facts, (*program)->request.canonicalText + "op_hash " + (*program)->request.opHash +
                       "\ncompiler " + std::string(jit::compilerBuildId()) + "\n");
  EXPECT_EQ(facts, compiler.standing(scaleFor("sm_90"))->facts);
}

TEST_F(StandingTest, withoutTheRecordItsKernelsAreStillFound) {
  Compiler compiler(options("FW_FAKE_NVRTC_13"));
  ASSERT_TRUE(compiler.compile(scaleFor("sm_90")));
  std::filesystem::remove_all(cache + "/index"); // as after an upgrade of the library
  auto standing = compiler.standing(scaleFor("sm_90"));
  ASSERT_TRUE(standing);
  EXPECT_FALSE(standing->isIndexed);
  ASSERT_EQ(standing->kernels.size(), 1u);
  EXPECT_TRUE(standing->kernels[0].isStored);
}

TEST_F(StandingTest, withoutNvrtcTheKernelsOfAColdRequestAreUnknown) {
  auto standing = Compiler(options("/nowhere")).standing(scaleFor("sm_90"));
  ASSERT_TRUE(standing);
  EXPECT_FALSE(standing->isIndexed);
  ASSERT_TRUE(standing->unknown);
  EXPECT_EQ(standing->unknown->code, Code::TOOLCHAIN);
}

TEST_F(StandingTest, lookingIsNoUse) {
  Compiler compiler(options("FW_FAKE_NVRTC_13"));
  ASSERT_TRUE(compiler.compile(scaleFor("sm_90")));
  using std::filesystem::last_write_time;
  auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(48);
  for (const jit::CacheListing &entry : compiler.cache().list())
    last_write_time(entry.path, old);
  ASSERT_TRUE(compiler.standing(scaleFor("sm_90")));
  for (const jit::CacheListing &entry : compiler.cache().list())
    EXPECT_EQ(last_write_time(entry.path), old) << entry.path;
}

/// Records stay small with the facts in them (INTERFACES 3).
TEST_F(StandingTest, everyRecordOfAShippedOpFitsItsLimit) {
  Compiler compiler(options("FW_FAKE_NVRTC_13"));
  for (const std::string &name : compiledOpNames()) {
    Request request = scaleFor("sm_90");
    request.op = *findShippedOp(name);
    auto program = compiler.compile(request);
    ASSERT_TRUE(program) << render(program.error());
  }
  for (const jit::CacheListing &entry : compiler.cache().list())
    if (entry.kind == jit::EntryKind::Program) {
      EXPECT_LE(entry.bytes, jit::maxProgramRecordBytes) << entry.key;
    }
}

} // namespace
} // namespace fw
