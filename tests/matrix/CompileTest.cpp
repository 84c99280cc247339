// Every kernel of the matrix through NVRTC: it compiles for its arch without a spilled register,
// and its widest stream moves 16 bytes an access.
#include "compiler/Stages.h"
#include "compiler/dialect/Dtypes.h"
#include "compiler/jit/Jobs.h"
#include "compiler/jit/Nvrtc.h"
#include "compiler/target/Target.h"
#include "tests/matrix/Rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>

using namespace fw;

namespace {

std::atomic<size_t> secondCandidates = 0;

/// Instructions of `ptx` that start with `opcode` and move `words` 32-bit words.
size_t countAccesses(const std::string &ptx, const std::string &opcode, int words) {
  std::string shape = words > 1 ? ".v" + std::to_string(words) + ".u32" : ".u32";
  size_t count = 0;
  for (size_t at = ptx.find(opcode); at != ptx.npos; at = ptx.find(opcode, at + 1)) {
    std::string instruction = ptx.substr(at, ptx.find_first_of(" \t", at) - at);
    count += instruction.ends_with(shape) && instruction.find(".v") == instruction.find(shape);
  }
  return count;
}

/// Every stream of a kernel moves a whole vector with one access, `inflight` times a trip.
std::string checkAccesses(const ResolvedRequest &request, const jit::LaunchRecord &launch,
                          const std::string &ptx) {
  size_t inflight = std::stoul(launch.schedule.substr(launch.schedule.find("inflight=") + 9));
  const bool stores = launch.skeleton == "chunk";
  for (int words : {2, 4}) {
    size_t wantedLoads = 0, wantedStores = 0;
    for (uint32_t k : launch.operands) {
      const RequestOperand &operand = request.operands[k];
      if (findDtype(operand.dtype)->bytes * launch.vec == 4u * words) {
        wantedLoads += operand.read;
        wantedStores += stores && operand.written;
      }
    }
    size_t gotLoads = countAccesses(ptx, "ld.global", words);
    size_t gotStores = countAccesses(ptx, "st.global", words);
    if (gotLoads < wantedLoads * inflight || gotStores < wantedStores * inflight)
      return "expected " + std::to_string(wantedLoads * inflight) + " loads and " +
             std::to_string(wantedStores * inflight) + " stores of " + std::to_string(4 * words) +
             " bytes, got " + std::to_string(gotLoads) + " and " + std::to_string(gotStores);
  }
  return {};
}

/// The code of a lowered request's kernels, and what the assembler said in their records.
Result<std::vector<jit::CompiledKernel>>
compileRow(const jit::KernelCompiler &compiler, const ResolvedRequest &request, Lowered &lowered) {
  auto low = lower(request);
  if (!low)
    return low.takeError();
  lowered = std::move(*low);
  auto arch = target::gpuArchitecture(request.request.target, compiler.supportedArchs());
  std::vector<jit::CompiledKernel> kernels;
  for (size_t k = 0; k < lowered.sources.size(); ++k) {
    jit::LaunchRecord &launch = lowered.record.kernels[k].launch;
    auto kernel =
        compiler.compile(lowered.sources[k], launch.symbol + ".cu", *arch, compiler.flags());
    if (!kernel)
      return kernel.takeError();
    if (kernel->resources.size() == 1) {
      launch.spillBytes = kernel->resources[0].spillBytes;
      launch.stackBytes = kernel->resources[0].stackBytes;
    }
    kernels.push_back(std::move(*kernel));
  }
  return kernels;
}

/// What is wrong with one kernel; empty: nothing.
std::string checkKernel(const ResolvedRequest &request, const jit::LaunchRecord &launch,
                        const jit::CompiledKernel &kernel) {
  if (kernel.cubin.empty() || kernel.resources.size() != 1)
    return "expected a cubin and the figures of one kernel";
  const jit::KernelResources &used = kernel.resources[0];
  if (used.spillBytes != 0 || used.stackBytes != 0)
    return "expected no spills, got " + std::to_string(used.spillBytes) + " bytes and a stack of " +
           std::to_string(used.stackBytes) + " with " + std::to_string(used.registers) +
           " registers";
  if (kernel.ptx.empty())
    return "expected the PTX of the same compile, got none";
  if (std::string fault = checkAccesses(request, launch, kernel.ptx); !fault.empty())
    return fault;
  if (kernel.ptx.find("ld.v") != std::string::npos || kernel.ptx.find("st.v") != std::string::npos)
    return "expected accesses to global memory, got generic ones";
  return {};
}

/// What is wrong with one row. A second candidate may mend the spills of the first.
std::string checkRow(const jit::KernelCompiler &compiler, const Request &row) {
  auto request = resolve(row);
  if (!request)
    return render(request.error());
  std::string what = describe(*request) + ": ";
  Lowered lowered;
  auto kernels = compileRow(compiler, *request, lowered);
  if (kernels)
    if (auto second = secondCandidate(*request, lowered.record)) {
      ++secondCandidates;
      kernels = compileRow(compiler, *second, lowered);
    }
  if (!kernels)
    return what + render(kernels.error()) + "\n" + kernels.error().log;
  for (size_t k = 0; k < kernels->size(); ++k) {
    const jit::LaunchRecord &launch = lowered.record.kernels[k].launch;
    if (std::string fault = checkKernel(*request, launch, (*kernels)[k]); !fault.empty())
      return what + launch.symbol + ": " + fault;
  }
  return {};
}

std::vector<std::string> supportedArchs(const jit::KernelCompiler &compiler) {
  std::vector<std::string> names;
  auto supported = compiler.supportedArchs();
  for (const target::Arch &arch : target::archs())
    if (target::gpuArchitecture(arch.name, supported))
      names.push_back(arch.name);
  return names;
}

/// Compiles all rows on all cores; a failure of each that has a fault, in a fixed order.
void checkRows(const jit::KernelCompiler &compiler, const std::vector<Request> &rows) {
  std::mutex mutex;
  std::vector<std::string> failures;
  jit::runJobs(rows.size(), 0, [&](size_t i) {
    std::string failure = checkRow(compiler, rows[i]);
    std::lock_guard lock(mutex);
    if (!failure.empty())
      failures.push_back(failure);
  });
  std::sort(failures.begin(), failures.end());
  for (const std::string &failure : failures)
    ADD_FAILURE() << failure;
  std::printf("%zu kernels, %zu by their second candidate\n", rows.size(), secondCandidates.load());
}

class MatrixCompile : public testing::Test {
protected:
  void SetUp() override {
    auto opened = jit::Nvrtc::open(*jit::Settings::read());
    if (!opened)
      GTEST_SKIP() << "needs NVRTC: " << render(opened.error());
    nvrtc = *opened;
  }
  std::shared_ptr<const jit::Nvrtc> nvrtc;
};

TEST_F(MatrixCompile, pairwise_rows_compile_without_spills) {
  auto rows = matrix::matrixRows(supportedArchs(*nvrtc), "sm_90");
  ASSERT_TRUE(rows) << render(rows.error());
  checkRows(*nvrtc, *rows);
}

/// Of the suite `full`.
TEST_F(MatrixCompile, every_profile_compiles_for_every_arch) {
  std::vector<Request> rows;
  for (const std::string &arch : supportedArchs(*nvrtc)) {
    auto profiles = matrix::matrixRows({}, arch);
    ASSERT_TRUE(profiles) << render(profiles.error());
    rows.insert(rows.end(), profiles->begin(), profiles->end());
  }
  checkRows(*nvrtc, rows);
}

} // namespace
