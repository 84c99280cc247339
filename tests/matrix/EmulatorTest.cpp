// Every kernel of the matrix, as emitted, under the emulator with ASan and UBSan: stored words lie
// within the evaluator's bounds, equal the bit reference, and nothing else is written.
#include "compiler/Stages.h"
#include "compiler/dialect/Dtypes.h"
#include "compiler/target/Target.h"
#include "runtime/plan/Chunks.h"
#include "tests/emulator/Bundle.h"
#include "tests/matrix/Bundles.h"
#include "tests/matrix/Rows.h"
#include "tools/verify/Verify.h"

#include <gtest/gtest.h>

#include <map>

using namespace fw;

namespace {

const std::vector<Request> &rows() {
  static const std::vector<Request> all = [] {
    std::vector<std::string> archs;
    for (const target::Arch &arch : target::archs())
      archs.push_back(arch.name);
    return *matrix::matrixRows(archs, "sm_90");
  }();
  return all;
}

/// The bundled kernel of a row, by the name of its file.
const emulator::BundledKernel *findKernel(const std::string &name) {
  for (const emulator::BundledKernel *bundle : matrix::bundles())
    for (; bundle->symbol; ++bundle)
      if (bundle->file == name + ".cu")
        return bundle;
  return nullptr;
}

/// Runs a bundled kernel on the arena of a case.
class EmulatorExecutor {
public:
  EmulatorExecutor(const emulator::BundledKernel &kernel, const ResolvedRequest &request,
                   const jit::ProgramRecord &record)
      : kernel(kernel), request(request), record(record) {}

  Result<void> operator()(const verify::Case &data, const verify::Arena &arena) const {
    const jit::LaunchRecord &launch = record.kernels[0].launch;
    std::vector<unsigned> bytes;
    for (uint32_t k : launch.operands)
      bytes.push_back(findDtype(request.operands[k].dtype)->bytes);
    std::vector<std::vector<uint64_t>> addresses(data.sizes.size());
    std::vector<uint64_t> pointers;
    std::vector<plan::ListEntry> list;
    for (size_t t = 0; t < data.sizes.size(); ++t) {
      for (uint32_t k : launch.operands)
        addresses[t].push_back(reinterpret_cast<uint64_t>(arena.address(k, t)));
      pointers.insert(pointers.end(), addresses[t].begin(), addresses[t].end());
      list.push_back({data.sizes[t], addresses[t], uint32_t(data.scalars.size() > 1 ? t : 0)});
    }
    auto chunks = plan::planChunks(list, {uint64_t(launch.chunk), uint32_t(launch.vec), bytes});
    auto slots = verify::packSlots(verify::slotRows(record, request, data), launch.real);
    if (auto fault = emulator::emulate(kernel, chunks, pointers.data(), slots.data(), data.seed))
      return Error{Code::CHECK_FAILED, *fault};
    return {};
  }

private:
  const emulator::BundledKernel &kernel;
  const ResolvedRequest &request;
  const jit::ProgramRecord &record;
};

class Matrix : public testing::TestWithParam<size_t> {};

TEST_P(Matrix, is_within_bounds_and_equals_the_bit_reference) {
  const Request &row = rows()[GetParam()];
  auto request = resolve(row);
  ASSERT_TRUE(request) << render(request.error());
  SCOPED_TRACE(describe(*request));
  auto lowered = lower(*request);
  ASSERT_TRUE(lowered) << render(lowered.error());
  const auto *kernel = findKernel(matrix::rowName(row, GetParam()));
  ASSERT_TRUE(kernel);
  const jit::LaunchRecord &launch = lowered->record.kernels[0].launch;
  auto report = verify::verify(
      *request, {uint64_t(launch.vec), uint64_t(launch.chunk), /*seed=*/GetParam() + 1},
      EmulatorExecutor(*kernel, *request, lowered->record));
  ASSERT_TRUE(report) << render(report.error());
  for (const std::string &failure : report->failures)
    ADD_FAILURE() << failure;
  EXPECT_GT(report->elements, 0u);
}

INSTANTIATE_TEST_SUITE_P(kernels, Matrix, testing::Range(size_t(0), rows().size()),
                         [](const testing::TestParamInfo<size_t> &info) {
                           return matrix::rowName(rows()[info.param], info.param);
                         });

} // namespace
