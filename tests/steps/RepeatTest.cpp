// Norms and whole steps give the same bits in every run, whatever the number of threads.
#include "tests/gpu/suite/Steps.h"

namespace suite {
namespace {

api::Context contextWith(unsigned threads) {
  setenv("FUSEWRIGHT_NUM_THREADS", std::to_string(threads).c_str(), 1);
  api::Context made = api::context();
  unsetenv("FUSEWRIGHT_NUM_THREADS");
  return made;
}

const List list = vectors({200'001, 3, 0, 65'536, 90'007}, /*offByOne=*/1),
           otherList = vectors({70'000, 1});

/// What three runs leave in all groups, one after the other.
std::vector<Bytes> threeRuns(const std::vector<ProgramRow> &rows, unsigned threads) {
  api::Context context = contextWith(threads);
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<GroupSpec> groups;
  for (const ProgramRow &row : rows) {
    kernels.push_back(makeCpuKernel(context.get(), row));
    groups.push_back({kernels.back().get(), groups.empty() ? list : otherList, {}, Values::USUAL});
  }
  Trial trial(context.get(), onCpu, groups);
  std::vector<Bytes> images;
  for (int run = 1; run <= 3; ++run) {
    Scalars scalars = stepScalars(*kernels.front());
    if (!kernels.front()->step().empty())
      scalars.set(kernels.front()->step(), run);
    trial.run(scalars);
    for (Bytes &image : trial.images())
      images.push_back(std::move(image));
  }
  return images;
}

void expectRepeats(const std::vector<ProgramRow> &rows) {
  SCOPED_TRACE(rows.front().name());
  const std::vector<Bytes> first = threeRuns(rows, 1);
  for (unsigned threads : {1u, 2u, 7u, 7u})
    EXPECT_TRUE(threeRuns(rows, threads) == first) << threads << " threads";
}

TEST(Repeats, norms) {
  for (const ProgramRow &row : {ProgramRow{"l2norm", "", ""}, ProgramRow{"l2norm", "", "each=true"},
                                ProgramRow{"infnorm", "", ""}, ProgramRow{"nonfinite", "", ""},
                                ProgramRow{"clip_by_norm", "", ""}})
    expectRepeats({row, {row.op, "in=bf16", row.options}});
}

TEST(Repeats, whole_steps) {
  const std::string all = "unscale,clip,clip_value,master,copy,ema,zero_grad,guard";
  for (const HandStep &step : handSteps()) {
    expectRepeats({step.row("", all), step.row("grad=bf16", all)});
    expectRepeats({step.row("", "clip,guard"), step.row("param=bf16,grad=f16", "clip,guard")});
  }
}

} // namespace
} // namespace suite
