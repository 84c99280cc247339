// The reference through the C API: host tensors in, values and bounds out.
#include "runtime/api/Border.h"
#include "runtime/api/Handles.h"

#include "compiler/Reference.h"
#include "compiler/support/FloatMode.h"

#include <cmath>
#include <limits>

using namespace fw;
using namespace fw::api;

namespace {

/// The elements of a tensor in row-major order, decoded from storage.
std::vector<double> decodeTensor(const fw_tensor &tensor, const Dtype &dtype, int64_t elements) {
  std::vector<double> values;
  values.reserve(size_t(elements));
  std::vector<int64_t> index(size_t(tensor.rank));
  for (int64_t e = 0; e < elements; ++e) {
    int64_t rest = e, offset = 0, dense = 1;
    for (int32_t d = tensor.rank; d-- > 0;) {
      offset += rest % tensor.shape[d] * (tensor.strides ? tensor.strides[d] : dense);
      rest /= tensor.shape[d];
      dense *= tensor.shape[d];
    }
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const char *>(tensor.data) + offset * int64_t(dtype.bytes),
                dtype.bytes);
    values.push_back(evaluator::decode(dtype, word));
  }
  return values;
}

/// The distance from the value within which C callers may expect every right result.
double boundOf(const evaluator::Bound &bound) {
  bool onlyNan = std::isnan(bound.value) && std::isnan(bound.lo);
  if (onlyNan)
    return 0;
  return bound.nan || std::isnan(bound.value) ? std::numeric_limits<double>::infinity()
                                              : bound.bound;
}

/// Checks the one entry as a launch would, and gives its number of elements.
size_t checkEntry(const launch::Program &launchable, const launch::TensorArray &tensors) {
  if (tensors.size() != launchable.operands.size())
    throw Failure{{Code::USAGE,
                   "expected " + std::to_string(launchable.operands.size()) +
                       " tensors, one list entry, got " + std::to_string(tensors.size()),
                   "pass one tensor for each operand, in the order of fw_request_operand"}};
  launch::TensorList list = take(launch::checkTensors(launchable.operands, tensors));
  return list.entries.empty() ? 0 : size_t(list.entries[0].elements);
}

} // namespace

extern "C" {

fw_status fw_evaluate(const fw_request *request, const fw_tensor *tensors, size_t tensor_count,
                      const fw_scalar *scalars, size_t scalar_count, double *values,
                      double *bounds) {
  return border([&] {
    StandardFloatMode mode; // tensors are decoded and bounds are formed here too
    const ResolvedRequest &resolved = need(request, "request").resolve();
    launch::Program launchable = describeLaunch(resolved);
    launch::TensorArray given = tensorsOf(tensors, tensor_count);
    evaluator::Inputs inputs;
    inputs.sizes = {checkEntry(launchable, given)};
    launch::ScalarRows rows =
        take(launch::readScalars(launchable.hypers, scalarsOf(scalars, scalar_count), 1));
    inputs.scalars = {{rows.values.begin(), rows.values.end()}};

    std::vector<std::vector<double>> decoded(given.size());
    for (size_t k = 0; k < given.size(); ++k) {
      if (inputs.sizes[0] > 0 && resolved.operands[k].present)
        decoded[k] = decodeTensor(given[k], *findDtype(resolved.operands[k].dtype),
                                  int64_t(inputs.sizes[0]));
      inputs.data.push_back({decoded[k]});
    }
    evaluator::Evaluation result = take(take(Reference::make(resolved)).evaluate(inputs));
    if (inputs.sizes[0] > 0)
      need(values, "values"), need(bounds, "bounds");
    for (const auto &output : result.operands)
      for (const evaluator::Bound &bound : output.tensors[0]) {
        *values++ = bound.value;
        *bounds++ = boundOf(bound);
      }
  });
}

} // extern "C"
