#include "runtime/plan/CudaPlanErrors.h"

#include <algorithm>

namespace fw::plan {
namespace {

Error leaving(Error error, const std::string &what, const std::string &remedy) {
  error.text += ", " + what;
  error.remedy += "; " + remedy + " before the next run";
  return error;
}

} // namespace

Error behindKernels(Error error) {
  return leaving(std::move(error), "behind kernels of the same run: some groups have had this step",
                 "restore the tensors and the step");
}

Error behindScalars(Error error) {
  return leaving(std::move(error),
                 "behind the scalars of the same run: the operands that have one value per tensor "
                 "or in all, and the step, may be those behind it",
                 "restore them");
}

Error behindScalarsOf(std::vector<size_t> groups, Error error) {
  std::ranges::sort(groups);
  std::string names;
  for (size_t group : groups)
    names += (names.empty() ? "" : ", ") + std::to_string(group);
  return leaving(std::move(error),
                 "behind scalars of the same run: in group " + names +
                     " the operands that have one value per tensor may be those behind it",
                 "restore them");
}

Error behindCount(Error error) {
  return leaving(std::move(error), "and the step that was counted for it cannot be taken back",
                 "restore the step");
}

} // namespace fw::plan
