// Steps that are skipped, over random lists: tests/steps has every set of features on the CPU.
#include "tests/gpu/suite/Steps.h"

namespace suite {
namespace {

class Skips : public GpuTest {};

TEST_F(Skips, change_no_byte) {
  const std::string all = "unscale,clip,clip_value,master,copy,ema,zero_grad,guard";
  const std::vector<ProgramRow> pairs[] = {
      {handStep("adam").row("all.norm=f64", all),
       handStep("adam").row("param=bf16,grad=f16,all.norm=f64", all)},
      {handStep("adamw").row("all.norm=f64", all)},
      {handStep("sgd").row("all.norm=f64", all),
       handStep("sgd").row("grad=bf16,all.norm=f64", all)},
      {handStep("lion").row("all.norm=f64", all)},
      {handStep("pair").row("all.norm=f64", all),
       handStep("pair").row("param=f64,grad=f64,state=f64,all.norm=f64", all)},
      {handStep("lion").row("", "guard"), handStep("lion").row("grad=bf16", "guard")},
      {handStep("adamw").row("", "zero_grad,guard")}};
  uint64_t seed = 0;
  for (const std::vector<ProgramRow> &rows : pairs) {
    std::vector<const Kernel *> kernels;
    for (const ProgramRow &row : rows)
      kernels.push_back(&compiled(row.name()));
    for (int lists = 0; lists < (isQuick() ? 1 : 3); ++lists) {
      expectStepsAreSkippedWhole(context(), onGpu, kernels, ++seed);
      if (HasFailure())
        return;
    }
  }
}

} // namespace
} // namespace suite
