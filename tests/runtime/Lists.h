// Lists of tensors for launch tests.
#pragma once

#include "runtime/launch/Tensors.h"

#include <deque>
#include <string>
#include <vector>

namespace fw::launch {

/// Tensors whose shapes and strides live as long as the list.
class List {
public:
  fw_tensor &add(std::string dtype, void *data, std::vector<int64_t> shape,
                 std::vector<int64_t> strides = {}) {
    sizes.push_back(std::move(shape));
    const std::vector<int64_t> &kept = sizes.back();
    fw_tensor tensor = {};
    tensor.struct_size = sizeof tensor;
    tensor.device = FW_DEVICE_CPU;
    tensor.rank = int32_t(kept.size());
    tensor.dtype = names.emplace_back(std::move(dtype)).c_str();
    tensor.data = data;
    tensor.shape = kept.data();
    if (!strides.empty())
      tensor.strides = sizes.emplace_back(std::move(strides)).data();
    tensors.push_back(tensor);
    return tensors.back();
  }
  TensorArray array() const { return {tensors.data(), tensors.size()}; }

  std::vector<fw_tensor> tensors;

private:
  std::deque<std::vector<int64_t>> sizes;
  std::deque<std::string> names;
};

/// A param that is read and written, and a grad that is read, both f32.
inline std::vector<Operand> paramAndGrad() {
  return {{.name = "p", .dtype = "f32", .bytes = 4, .read = true, .written = true},
          {.name = "g", .dtype = "f32", .bytes = 4, .read = true}};
}

} // namespace fw::launch
