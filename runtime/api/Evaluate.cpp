// The reference through the C API: host tensors in, values and bounds out.
#include "runtime/api/Border.h"
#include "runtime/api/Handles.h"

#include "compiler/Reference.h"
#include "compiler/support/FloatMode.h"
#include "runtime/launch/Axes.h"
#include "runtime/launch/Layout.h"

#include <cmath>
#include <limits>

using namespace fw;
using namespace fw::api;

namespace {

/// The elements of a tensor in row-major order, decoded from storage.
std::vector<double> decodeTensor(const fw_tensor &tensor, const std::string &dtype,
                                 int64_t elements) {
  const Dtype *real = findDtype(dtype);
  const IntDtype *whole = findIntDtype(dtype);
  const unsigned bytes = storageBytes(dtype);
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
    std::memcpy(&word, static_cast<const char *>(tensor.data) + offset * int64_t(bytes), bytes);
    values.push_back(real ? evaluator::decode(*real, word) : double(decodeInt(*whole, word)));
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

/// A list of host tensors, checked as a launch would check it.
class HostList {
public:
  HostList(const ResolvedRequest &request, const launch::Program &launchable,
           const launch::TensorArray &tensors)
      : request(request), operands(launchable.operands), tensors(tensors),
        order(take(launch::ArrayOrder::ofCount(operands, tensors.size()))) {
    if (!launchable.header.axes.empty()) {
      axes = take(launch::readAxes(launchable.header, launchable.axes, operands, tensors));
      return;
    }
    launch::TensorList list = take(launch::checkTensors(operands, tensors));
    sizes.resize(list.length);
    for (const launch::Entry &entry : list.entries)
      sizes[entry.position] = size_t(entry.elements);
  }

  /// Elements of each entry; or, of an op over axes, how long each axis is.
  std::vector<size_t> sizes;
  launch::AxisList axes;

  size_t length() const { return order.length(); }

  /// Of operand `k`, decoded: one tensor for each entry, or one in all.
  std::vector<std::vector<double>> decode(size_t k) const {
    if (!operands[k].present)
      return {};
    std::vector<std::vector<double>> out;
    for (size_t i = 0; i < (operands[k].scope == launch::Scope::All ? 1 : length()); ++i) {
      const fw_tensor &tensor = tensors[order.index(i, k)];
      const int64_t elements = take(launch::countElements({tensor.shape, size_t(tensor.rank)}));
      out.push_back(elements ? decodeTensor(tensor, request.operands[k].dtype, elements)
                             : std::vector<double>());
    }
    return out;
  }

private:
  const ResolvedRequest &request;
  const std::vector<launch::Operand> &operands;
  const launch::TensorArray &tensors;
  launch::ArrayOrder order;
};

std::vector<std::vector<double>> rowsOf(const launch::ScalarRows &rows) {
  std::vector<std::vector<double>> out;
  for (size_t i = 0; i < rows.rows; ++i)
    out.emplace_back(rows.row(i).begin(), rows.row(i).end());
  return out;
}

/// All written elements, operand after operand.
std::vector<evaluator::Bound> flatten(const evaluator::Evaluation &result) {
  std::vector<evaluator::Bound> all;
  for (const auto &output : result.operands)
    for (const auto &tensor : output.tensors)
      all.insert(all.end(), tensor.begin(), tensor.end());
  return all;
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
    const Reference reference = take(Reference::make(resolved));
    const std::vector<bool> shared = reference.sharedScalars();
    for (size_t hyper = 0; hyper < shared.size(); ++hyper)
      launchable.hypers[hyper].ofAll |= shared[hyper];
    launch::TensorArray given = tensorsOf(tensors, tensor_count);
    HostList list(resolved, launchable, given);
    evaluator::Inputs inputs;
    inputs.sizes = list.sizes;
    for (const launch::Lengths &extents : list.axes.extents)
      inputs.extents.emplace_back(extents.begin(), extents.end());
    inputs.scalars = rowsOf(take(
        launch::readScalars(launchable.hypers, scalarsOf(scalars, scalar_count), list.length())));
    std::vector<std::vector<std::vector<double>>> decoded; // inputs refers to it
    for (size_t k = 0; k < launchable.operands.size(); ++k)
      decoded.push_back(list.decode(k));
    for (const auto &operand : decoded)
      inputs.data.emplace_back(operand.begin(), operand.end());
    const auto bound = flatten(take(reference.evaluate(inputs)));
    if (!bound.empty())
      need(values, "values"), need(bounds, "bounds");
    for (const evaluator::Bound &element : bound) {
      *values++ = element.value;
      *bounds++ = boundOf(element);
    }
  });
}

} // extern "C"
