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

/// Every stream moves a whole vector with one access, `inflight` times a trip.
std::string checkAccesses(const ResolvedRequest &request, const jit::LaunchRecord &launch,
                          const std::string &ptx) {
  size_t inflight = std::stoul(launch.schedule.substr(launch.schedule.find("inflight=") + 9));
  for (int words : {2, 4}) {
    size_t loads = 0, stores = 0;
    for (const RequestOperand &operand : request.operands)
      if (findDtype(operand.dtype)->bytes * launch.vec == 4u * words) {
        loads += operand.read;
        stores += operand.written;
      }
    size_t gotLoads = countAccesses(ptx, "ld.global", words);
    size_t gotStores = countAccesses(ptx, "st.global", words);
    if (gotLoads < loads * inflight || gotStores < stores * inflight)
      return "expected " + std::to_string(loads * inflight) + " loads and " +
             std::to_string(stores * inflight) + " stores of " + std::to_string(4 * words) +
             " bytes, got " + std::to_string(gotLoads) + " and " + std::to_string(gotStores);
  }
  return {};
}

/// The code of a lowered request, and what the assembler said in its record.
Result<jit::CompiledKernel> compileRow(const jit::KernelCompiler &compiler,
                                       const ResolvedRequest &request, Lowered &lowered) {
  auto low = lower(request);
  if (!low)
    return low.takeError();
  lowered = std::move(*low);
  auto arch = target::gpuArchitecture(request.request.target, compiler.supportedArchs());
  jit::LaunchRecord &launch = lowered.record.kernels[0].launch;
  auto kernel =
      compiler.compile(lowered.sources[0], launch.symbol + ".cu", *arch, compiler.flags());
  if (kernel && kernel->resources.size() == 1)
    launch.spillBytes = kernel->resources[0].spillBytes;
  return kernel;
}

/// What is wrong with one row; empty: nothing. A second candidate may mend the spills of the first.
std::string checkRow(const jit::KernelCompiler &compiler, const Request &row) {
  auto request = resolve(row);
  if (!request)
    return render(request.error());
  std::string what = describe(*request) + ": ";
  Lowered lowered;
  auto kernel = compileRow(compiler, *request, lowered);
  if (kernel)
    if (auto second = secondCandidate(*request, lowered.record)) {
      ++secondCandidates;
      kernel = compileRow(compiler, *second, lowered);
    }
  if (!kernel)
    return what + render(kernel.error()) + "\n" + kernel.error().log;
  if (kernel->cubin.empty() || kernel->resources.size() != 1)
    return what + "expected a cubin and the figures of one kernel";
  const jit::KernelResources &used = kernel->resources[0];
  if (used.spillBytes != 0 || used.stackBytes != 0)
    return what + "expected no spills, got " + std::to_string(used.spillBytes) +
           " bytes and a stack of " + std::to_string(used.stackBytes) + " with " +
           std::to_string(used.registers) + " registers";
  if (kernel->ptx.empty())
    return what + "expected the PTX of the same compile, got none";
  if (std::string fault = checkAccesses(*request, lowered.record.kernels[0].launch, kernel->ptx);
      !fault.empty())
    return what + fault;
  if (kernel->ptx.find("ld.v") != std::string::npos ||
      kernel->ptx.find("st.v") != std::string::npos)
    return what + "expected accesses to global memory, got generic ones";
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
