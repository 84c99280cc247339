// Every row of the matrix on the CPU backend: stored words lie within the evaluator's bounds and
// equal the bit reference, and so the emulated CUDA kernels of the same rows.
#include "compiler/Compiler.h"
#include "tests/matrix/Rows.h"
#include "tools/verify/Verify.h"

#include <gtest/gtest.h>

using namespace fw;

namespace {

/// Calls the program's function on each tensor of a case.
class CpuExecutor {
public:
  explicit CpuExecutor(const Program &program) : program(program) {}

  Result<void> operator()(const verify::Case &data, const verify::Arena &arena) const {
    const jit::LaunchRecord &launch = program.record.kernels[0].launch;
    auto rows = verify::slotRows(program.record, program.request, data);
    for (size_t t = 0; t < data.sizes.size(); ++t) {
      std::vector<const void *> pointers;
      for (uint32_t k : launch.operands)
        pointers.push_back(arena.address(k, t));
      auto slots = verify::packSlots({rows[rows.size() > 1 ? t : 0]}, launch.real);
      program.kernels[0].function(pointers.data(), 0, int64_t(data.sizes[t]), slots.data());
    }
    return {};
  }

private:
  const Program &program;
};

TEST(matrix, every_row_on_the_cpu_equals_the_bit_reference) {
  const std::vector<std::string> targets = {"cpu"};
  auto rows = matrix::matrixRows(targets, "cpu");
  ASSERT_TRUE(rows) << render(rows.error());
  Compiler compiler({.settings = *jit::Settings::read()});
  for (size_t i = 0; i < rows->size(); ++i) {
    auto program = compiler.compile((*rows)[i]);
    ASSERT_TRUE(program) << render(program.error()) << program.error().log;
    SCOPED_TRACE(describe((*program)->request));
    auto options = verify::caseOptions((*rows)[i], "sm_90", /*seed=*/i + 1);
    ASSERT_TRUE(options) << render(options.error());
    auto report = verify::verify((*program)->request, *options, CpuExecutor(**program));
    ASSERT_TRUE(report) << render(report.error());
    for (const std::string &failure : report->failures)
      ADD_FAILURE() << failure;
    EXPECT_GT(report->elements, 0u);
  }
  std::printf("%zu programs\n", rows->size());
}

} // namespace
