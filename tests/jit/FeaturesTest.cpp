// The rows of the arch table against the assembler: a kernel that uses the feature assembles where,
// and only where, the table says that the arch has it.
#include "compiler/jit/Jobs.h"
#include "compiler/jit/Nvrtc.h"
#include "compiler/target/Target.h"

#include <gtest/gtest.h>
#include <mutex>

namespace fw::jit {
namespace {

struct Probe {
  target::Feature feature;
  const char *body; ///< statements; `p` and `q` are float pointers, `s` an address in shared memory
};

using enum target::Feature;
constexpr Probe probes[] = {
    {bf16_convert,
     R"(unsigned r; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(p[0]), "f"(p[1])); q[0] = r;)"},
    {max_nan,
     R"(float r; asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(p[0]), "f"(p[1])); q[0] = r;)"},
    {l2_policy,
     R"(unsigned long long h; asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(h));
                   float r; asm("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(r) : "l"(p), "l"(h)); q[0] = r;)"},
    {cp_async, R"(asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(s), "l"(p));)"},
    {mbarrier, R"(asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(s));)"},
    {redux,
     R"(int r; asm("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(r) : "r"((int)p[0])); q[0] = r;)"},
    {fp8_convert,
     R"(unsigned short r; asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(p[0]), "f"(p[1]));
                     q[0] = r;)"},
    {bulk_copy,
     R"(asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];"
                   :: "r"(s), "l"(p), "r"(s + 16));)"},
    {cluster, R"(asm volatile("barrier.cluster.arrive;");)"},
    {early_launch, R"(asm volatile("griddepcontrol.wait;");)"},
    {vector_red,
     R"(asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" :: "l"(q), "f"(p[0]));)"},
    {load_256,
     R"(float r; asm("{ .reg .f32 a<8>; ld.global.v8.f32 {%0, a1, a2, a3, a4, a5, a6, a7}, [%1]; }"
                  : "=f"(r) : "l"(p)); q[0] = r;)"},
    {fma_x2,
     R"(unsigned long long r; asm("fma.rn.f32x2 %0, %1, %1, %1;" : "=l"(r) : "l"((unsigned long long)p));
                q[0] = r;)"},
    {redux_f32,
     R"(float r; asm("redux.sync.max.NaN.f32 %0, %1, 0xffffffff;" : "=f"(r) : "f"(p[0])); q[0] = r;)"},
    {set_registers, R"(asm volatile("setmaxnreg.inc.sync.aligned.u32 128;");)"},
};

std::string sourceOf(const Probe &probe) {
  return std::string(
             "extern \"C\" __global__ void k(float *p, float *q) { __shared__ float ring[64];\n"
             "unsigned s = (unsigned)(unsigned long long)ring;\n") +
         probe.body + "\nq[1] = s; }";
}

TEST(Features, everyFeatureHasAProbe) {
  EXPECT_EQ(std::size(probes), size_t(set_registers) + 1);
  for (unsigned i = 0; i < std::size(probes); ++i)
    EXPECT_EQ(probes[i].feature, target::Feature(i)) << target::featureName(probes[i].feature);
}

TEST(Features, tableAgreesWithTheAssembler) {
  Result<std::shared_ptr<const Nvrtc>> nvrtc = Nvrtc::open(*Settings::read());
  if (!nvrtc)
    GTEST_SKIP() << "NVRTC is not installed: " << render(nvrtc.error());
  std::vector<int> known = (*nvrtc)->supportedArchs();
  std::vector<std::pair<const Probe *, const target::Arch *>> questions;
  for (const Probe &probe : probes)
    for (const target::Arch &arch : target::archs())
      if (std::find(known.begin(), known.end(), arch.number) != known.end())
        questions.emplace_back(&probe, &arch);

  std::mutex mutex;
  runJobs(questions.size(), 0, [&](size_t i) {
    auto [probe, arch] = questions[i];
    const target::Feature used[] = {probe->feature};
    bool assembles =
        bool((*nvrtc)->compile(sourceOf(*probe), "k.cu", target::compileName(*arch, used), {}));
    std::lock_guard guard(mutex);
    EXPECT_EQ(assembles, target::has(*arch, probe->feature))
        << target::featureName(probe->feature) << " " << arch->name;
  });
}

} // namespace
} // namespace fw::jit
