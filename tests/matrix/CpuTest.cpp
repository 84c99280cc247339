// Every row of the matrix on the CPU backend: stored words lie within the evaluator's bounds and
// equal the bit reference, and so the emulated CUDA kernels of the same rows.
#include "compiler/Compiler.h"
#include "tests/matrix/Rows.h"
#include "tools/verify/Verify.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace fw;

namespace {

/// Calls the program's functions on each tensor of a case.
class CpuExecutor {
public:
  explicit CpuExecutor(const Program &program) : program(program) {}

  Result<void> operator()(const verify::Case &data, const verify::Arena &arena) const {
    verify::StagedScalars scalars(program.record, program.request, data, arena);
    for (size_t s = 0; s < program.record.stages.size(); ++s) {
      const jit::StageRecord &stage = program.record.stages[s];
      const bool isSkipped = stage.reductions.empty() && scalars.skips();
      if (stage.kernel != jit::StageRecord::NO_KERNEL && !isSkipped)
        runStage(s, data, arena, scalars);
    }
    scalars.store();
    return {};
  }

private:
  /// Kernels that reduce get one piece after the other.
  void runStage(size_t s, const verify::Case &data, const verify::Arena &arena,
                verify::StagedScalars &scalars) const {
    constexpr int64_t pieceElements = 65536;
    const jit::StageRecord &stage = program.record.stages[s];
    const jit::LaunchRecord &launch = program.record.kernels[size_t(stage.kernel)].launch;
    auto function = program.kernels[size_t(stage.kernel)].function;
    const auto rows = scalars.slotRows(s);
    for (size_t t = 0; t < data.sizes.size(); ++t) {
      std::vector<const void *> pointers;
      for (uint32_t k : launch.operands)
        pointers.push_back(arena.address(k, t));
      const auto slots = verify::packSlots({rows[rows.size() > 1 ? t : 0]}, launch.real);
      const int64_t size = int64_t(data.sizes[t]);
      const int64_t step = stage.reductions.empty() ? size : pieceElements;
      for (int64_t begin = 0; begin < size; begin += step) {
        std::vector<double> partials = scalars.identities(s);
        function(pointers.data(), begin, std::min(begin + step, size), slots.data(),
                 partials.data());
        for (size_t r = 0; r < partials.size(); ++r)
          scalars.merge(s, r, t, partials[r]);
      }
    }
  }

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
