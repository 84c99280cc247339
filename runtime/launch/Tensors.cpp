#include "runtime/launch/Tensors.h"

#include "runtime/launch/Layout.h"
#include "runtime/launch/Overlap.h"

#include <algorithm>

namespace fw::launch {

std::string tensorName(std::span<const Operand> operands, size_t index) {
  return "tensor " + std::to_string(index) + " (" + operands[index % operands.size()].name +
         " of entry " + std::to_string(index / operands.size()) + ")";
}

namespace {

std::string deviceName(int32_t device, int32_t id) {
  return device == FW_DEVICE_CPU    ? "the CPU"
         : device == FW_DEVICE_CUDA ? "CUDA device " + std::to_string(id)
                                    : "an unknown device (" + std::to_string(device) + ")";
}

Error wrongDevice(const fw_tensor &tensor, Place place) {
  std::string remedy = "pass device = FW_DEVICE_CPU or FW_DEVICE_CUDA";
  if (place.device == FW_DEVICE_CPU && tensor.device == FW_DEVICE_CUDA)
    remedy = "copy it to host memory, or compile for the device's arch";
  else if (place.device == FW_DEVICE_CUDA && tensor.device == FW_DEVICE_CPU)
    remedy = "copy it to the device, or compile for \"cpu\"";
  else if (place.device == tensor.device)
    remedy = "make a list for each device";
  return {Code::DEVICE,
          "expected a tensor on " + deviceName(place.device, place.id) + ", got one on " +
              deviceName(tensor.device, tensor.device_id),
          remedy};
}

std::span<const int64_t> shapeOf(const fw_tensor &tensor) {
  return {tensor.shape, size_t(tensor.rank)};
}

Result<void> checkFields(const Operand &operand, const fw_tensor &tensor, Place place) {
  if (tensor.device != place.device ||
      (place.device != FW_DEVICE_CPU && tensor.device_id != place.id))
    return wrongDevice(tensor, place);
  if (tensor.rank < 0 || (tensor.rank > 0 && !tensor.shape))
    return Error{Code::USAGE,
                 "expected rank >= 0 and a shape of that length, got rank " +
                     std::to_string(tensor.rank) + (tensor.shape ? "" : " and no shape"),
                 "set rank to the number of dimensions, and shape to their sizes"};
  if (!tensor.dtype || operand.dtype != tensor.dtype)
    return Error{Code::USAGE,
                 "expected dtype " + operand.dtype + ", got " +
                     (tensor.dtype ? tensor.dtype : "none"),
                 "bind the tensor's dtype in the request, or cast the tensor"};
  return {};
}

/// Elements of one tensor of an entry, whose shape must be `shape`.
Result<int64_t> checkShape(const fw_tensor &tensor, std::span<const int64_t> shape) {
  Result<int64_t> elements = countElements(shapeOf(tensor));
  if (!elements)
    return elements;
  if (!std::ranges::equal(shapeOf(tensor), shape))
    return Error{Code::USAGE,
                 "expected shape " + printSizes(shape) + " as the entry's first operand, got " +
                     printSizes(shapeOf(tensor)),
                 "pass operands of one shape, or an entry for each"};
  if (*elements > 0 && !tensor.data)
    return Error{Code::USAGE,
                 "expected memory for " + std::to_string(*elements) + " elements, got data = NULL",
                 "only an empty tensor, or an operand that the request calls absent, has no data"};
  return elements;
}

bool isRowMajor(const fw_tensor &tensor) {
  if (!tensor.strides)
    return true;
  int64_t dense = 1;
  for (int32_t d = tensor.rank; d-- > 0;) {
    if (tensor.shape[d] != 1 && tensor.strides[d] != dense)
      return false;
    dense *= tensor.shape[d];
  }
  return true;
}

class EntryReader {
public:
  EntryReader(std::span<const Operand> operands, const TensorArray &tensors, size_t position,
              Place place)
      : operands(operands), tensors(tensors), first(position * operands.size()), position(position),
        place(place) {}

  /// The entry's loops; an entry of no elements when its tensors are empty.
  Result<Entry> read() const {
    const fw_tensor *model = nullptr;
    int64_t elements = 0;
    bool rowMajor = true;
    for (size_t k = 0; k < operands.size(); ++k) {
      const fw_tensor &tensor = tensors[first + k];
      if (!operands[k].present) {
        if (tensor.data)
          return named(k,
                       {Code::USAGE, "expected data = NULL for an absent operand, got an address",
                        "make a request in which the operand is present"});
        continue;
      }
      if (Result<void> fields = checkFields(operands[k], tensor, place); !fields)
        return named(k, fields.takeError());
      model = model ? model : &tensor;
      Result<int64_t> count = checkShape(tensor, shapeOf(*model));
      if (!count)
        return named(k, count.takeError());
      elements = *count;
      rowMajor = rowMajor && isRowMajor(tensor);
    }
    if (elements > 0 && !rowMajor)
      return readStrided();
    Entry entry;
    entry.elements = entry.run = elements;
    entry.position = position;
    return entry;
  }

private:
  /// The error with the tensor in front.
  Error named(size_t k, Error error) const {
    error.text = tensorName(operands, first + k) + ": " + error.text;
    return error;
  }

  Result<Entry> readStrided() const {
    std::vector<Dimensions> all(operands.size());
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k].present)
        all[k] = significantDimensions(tensors[first + k]);
    Result<Entry> entry = findLoops(operands, std::move(all), first);
    if (entry)
      entry->position = position;
    return entry;
  }

  std::span<const Operand> operands;
  const TensorArray &tensors;
  size_t first;
  size_t position;
  Place place;
};

} // namespace

Result<TensorList> checkTensors(std::span<const Operand> operands, const TensorArray &tensors,
                                Place place) {
  if (tensors.size() % operands.size() != 0)
    return Error{Code::USAGE,
                 "expected a multiple of " + std::to_string(operands.size()) +
                     " tensors, one per operand, got " + std::to_string(tensors.size()),
                 "pass tensors[i * operands + k] for operand k of entry i"};
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].struct_size != tensors[0].struct_size)
      return Error{Code::USAGE,
                   tensorName(operands, i) + ": expected struct_size " +
                       std::to_string(tensors[0].struct_size) + " as in tensor 0, got " +
                       std::to_string(tensors[i].struct_size),
                   "set struct_size to sizeof(fw_tensor) in every tensor"};

  TensorList list;
  list.operands = operands.size();
  for (size_t position = 0; position < tensors.size() / operands.size(); ++position) {
    Result<Entry> entry = EntryReader(operands, tensors, position, place).read();
    if (!entry)
      return entry.takeError();
    if (entry->elements == 0)
      continue;
    list.entries.push_back(std::move(*entry));
    for (size_t k = 0; k < operands.size(); ++k)
      list.pointers.push_back(operands[k].present ? tensors[position * operands.size() + k].data
                                                  : nullptr);
  }
  if (Result<void> apart = checkOverlap(operands, list); !apart)
    return apart.takeError();
  return list;
}

} // namespace fw::launch
