// Lists of f32 tensors for any request, and plans of them, on the CPU through the C API.
#pragma once

#include "tests/runtime/Api.h"

#include <algorithm>
#include <string>
#include <vector>

namespace api {

/// Numbers of the operands of a request, 3 to a tensor with elements, and 1 else; all 1 at first.
struct Numbers {
  explicit Numbers(const Request &req, size_t entries = 1) {
    size_t count = 0;
    EXPECT_EQ(fw_request_operand_count(req.get(), &count), FW_OK) << lastError();
    std::vector<size_t> perEntry, ofAll;
    for (size_t k = 0; k < count; ++k) {
      fw_operand_info info = {};
      info.struct_size = sizeof info;
      EXPECT_EQ(fw_request_operand(req.get(), k, &info), FW_OK);
      names.push_back(info.name);
      isElement.push_back(std::string(info.scope) == "element");
      (std::string(info.scope) == "all" ? ofAll : perEntry).push_back(k);
    }
    values.resize(count);
    for (size_t k = 0; k < count; ++k)
      values[k].assign(isElement[k] ? 3 * entries : entries, 1.0f);
    for (size_t entry = 0; entry < entries; ++entry)
      for (size_t k : perEntry)
        add(k, entry);
    for (size_t k : ofAll)
      add(k, 0);
  }
  Numbers(const Numbers &) = delete;
  std::vector<float> &operator[](const std::string &name) {
    return values[size_t(std::ranges::find(names, name) - names.begin())];
  }

  std::vector<std::string> names;
  std::vector<bool> isElement;
  std::vector<std::vector<float>> values; ///< [operand], entry after entry
  std::vector<fw_tensor> tensors;

private:
  void add(size_t k, size_t entry) {
    const size_t size = isElement[k] ? 3 : 1;
    tensors.push_back(tensor("f32", &values[k][size * entry], isElement[k] ? &three : &one));
  }
  const int64_t three = 3, one = 1;
};

inline fw_plan_group group(const Program &program, const std::vector<fw_tensor> &tensors,
                           const std::vector<fw_scalar> &scalars = {}) {
  fw_plan_group out = {};
  out.struct_size = sizeof out;
  out.program = program.get();
  out.tensors = tensors.data();
  out.tensor_count = tensors.size();
  out.scalars = scalars.data();
  out.scalar_count = scalars.size();
  return out;
}

inline fw_status makePlan(const Context &ctx, const std::vector<fw_plan_group> &groups,
                          Plan &plan) {
  fw_plan *raw = nullptr;
  const fw_status status = fw_plan_create(ctx.get(), groups.data(), groups.size(), &raw);
  plan.reset(raw);
  return status;
}

/// A request of an op with features, "clip,guard".
inline Request withFeatures(const Op &op, const std::string &features) {
  Request req = request(op);
  for (size_t at = 0; at < features.size();) {
    const size_t end = std::min(features.find(',', at), features.size());
    EXPECT_EQ(fw_request_feature(req.get(), features.substr(at, end - at).c_str()), FW_OK);
    at = end + 1;
  }
  return req;
}

/// One value per tensor; `values` must outlive it.
inline fw_scalar perTensor(const char *name, const std::vector<double> &values) {
  fw_scalar out = scalar(name, 0);
  out.values = values.data();
  out.count = values.size();
  return out;
}

/// Numbers in memory, which must outlive it.
template <class T>
fw_scalar data(const char *name, std::vector<T> &numbers, const char *dtype, int advance = 0) {
  fw_scalar out = scalar(name, 0);
  out.data = numbers.data();
  out.count = numbers.size();
  out.dtype = dtype;
  out.advance = advance;
  return out;
}

} // namespace api
