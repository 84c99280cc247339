#include "runtime/launch/Tensors.h"

#include "runtime/launch/Layout.h"
#include "runtime/launch/Overlap.h"

#include <algorithm>

namespace fw::launch {

ArrayOrder::ArrayOrder(std::span<const Operand> operands, size_t length)
    : operands(operands), entries(length) {
  size_t ofAll = 0;
  for (const Operand &operand : operands)
    places.push_back(operand.scope == Scope::All ? ofAll++ : perEntry++);
}

Result<ArrayOrder> ArrayOrder::ofCount(std::span<const Operand> operands, size_t tensors) {
  ArrayOrder order(operands, 0);
  const size_t each = order.perEntry, ofAll = operands.size() - each;
  const size_t rest = tensors < ofAll ? 1 : tensors - ofAll;
  if (each ? rest % each == 0 : rest == 0) {
    order.entries = each ? rest / each : 0;
    return order;
  }
  const std::string place = "pass tensors[i * " + (ofAll ? std::to_string(each) : "operands") +
                            " + k] for operand k of entry i";
  if (ofAll == 0)
    return Error{Code::USAGE,
                 "expected a multiple of " + std::to_string(each) +
                     " tensors, one per operand, got " + std::to_string(tensors),
                 place};
  return Error{
      Code::USAGE,
      "expected " + (each ? "a multiple of " + std::to_string(each) + " tensors and " : "") +
          std::to_string(ofAll) + (each ? "" : " tensors") + " of all, got " +
          std::to_string(tensors),
      each ? place + ", then the operands of all, once" : "pass one tensor for each operand"};
}

size_t ArrayOrder::index(size_t position, size_t operand) const {
  return (operands[operand].scope == Scope::All ? entries : position) * perEntry + places[operand];
}

std::string ArrayOrder::name(size_t tensor) const {
  const bool ofAll = tensor >= entries * perEntry;
  size_t k = 0;
  while ((operands[k].scope == Scope::All) != ofAll ||
         places[k] != (ofAll ? tensor - entries * perEntry : tensor % perEntry))
    ++k;
  return "tensor " + std::to_string(tensor) + " (" + operands[k].name + " of " +
         (ofAll ? "all" : "entry " + std::to_string(tensor / perEntry)) + ")";
}

const Uniform *TensorList::uniform(size_t operand) const {
  auto found = std::ranges::find(uniforms, operand, &Uniform::operand);
  return found == uniforms.end() ? nullptr : &*found;
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

/// Bounds of what a caller can mean: a rank beyond is memory that was never set, and no process can
/// address as many bytes.
constexpr int32_t mostDimensions = 64;
constexpr int64_t mostBytes = int64_t(1) << 48;

} // namespace

Result<void> checkFields(const Operand &operand, const fw_tensor &tensor, Place place) {
  if (tensor.device != place.device ||
      (place.device != FW_DEVICE_CPU && tensor.device_id != place.id))
    return wrongDevice(tensor, place);
  if (tensor.rank < 0 || tensor.rank > mostDimensions || (tensor.rank > 0 && !tensor.shape))
    return Error{Code::USAGE,
                 "expected a rank from 0 to " + std::to_string(mostDimensions) +
                     " and a shape of that length, got rank " + std::to_string(tensor.rank) +
                     (tensor.shape ? "" : " and no shape"),
                 "set rank to the number of dimensions, and shape to their sizes"};
  if (!tensor.dtype || operand.dtype != tensor.dtype)
    return Error{Code::USAGE,
                 "expected dtype " + operand.dtype + ", got " +
                     (tensor.dtype ? tensor.dtype : "none"),
                 "bind the tensor's dtype in the request, or cast the tensor"};
  return {};
}

Result<void> checkMemory(const Operand &operand, const fw_tensor &tensor, int64_t elements) {
  if (elements > mostBytes / operand.bytes)
    return Error{Code::USAGE,
                 "expected at most " + std::to_string(mostBytes / operand.bytes) + " elements of " +
                     operand.dtype + ", got shape " + printSizes(shapeOf(tensor)),
                 "pass the tensor's own shape"};
  if (elements > 0 && !tensor.data)
    return Error{Code::USAGE,
                 "expected memory for " + std::to_string(elements) + " elements, got data = NULL",
                 "only an empty tensor, or an operand that the request calls absent, has no data"};
  return {};
}

namespace {

/// Elements of one tensor of an entry, whose shape must be `shape`.
Result<int64_t> checkShape(const Operand &operand, const fw_tensor &tensor,
                           std::span<const int64_t> shape) {
  Result<int64_t> elements = countElements(shapeOf(tensor));
  if (!elements)
    return elements;
  if (!std::ranges::equal(shapeOf(tensor), shape))
    return Error{Code::USAGE,
                 "expected shape " + printSizes(shape) + " as the entry's first operand, got " +
                     printSizes(shapeOf(tensor)),
                 "pass operands of one shape, or an entry for each"};
  if (Result<void> memory = checkMemory(operand, tensor, *elements); !memory)
    return memory.takeError();
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

} // namespace

Result<void> checkAbsent(const fw_tensor &tensor) {
  if (!tensor.data)
    return {};
  return Error{Code::USAGE, "expected data = NULL for an absent operand, got an address",
               "make a request in which the operand is present"};
}

Result<void> checkUniform(const Operand &operand, const fw_tensor &tensor, Place place) {
  if (!operand.present)
    return checkAbsent(tensor);
  if (Result<void> fields = checkFields(operand, tensor, place); !fields)
    return fields;
  Result<int64_t> elements = countElements(shapeOf(tensor));
  if (!elements)
    return elements.takeError();
  if (*elements != 1)
    return Error{Code::USAGE,
                 std::string("expected one element, the value of ") +
                     (operand.scope == Scope::All ? "all tensors" : "its entry") + ", got shape " +
                     printSizes(shapeOf(tensor)),
                 "pass a tensor of rank 0, or of shape [1]"};
  if (!tensor.data)
    return Error{Code::USAGE, "expected memory for 1 element, got data = NULL",
                 "only an operand that the request calls absent has no data"};
  return {};
}

namespace {

class ListReader {
public:
  ListReader(std::span<const Operand> operands, const TensorArray &tensors, const ArrayOrder &order,
             Place place)
      : operands(operands), tensors(tensors), order(order), place(place) {}

  /// The loops of an entry; an entry of no elements when its tensors are empty.
  Result<Entry> readEntry(size_t position) const {
    const fw_tensor *model = nullptr;
    int64_t elements = 0;
    bool rowMajor = true;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (operands[k].scope != Scope::Element)
        continue;
      const fw_tensor &tensor = at(position, k);
      if (!operands[k].present) {
        if (Result<void> absent = checkAbsent(tensor); !absent)
          return named(position, k, absent.takeError());
        continue;
      }
      if (Result<void> fields = checkFields(operands[k], tensor, place); !fields)
        return named(position, k, fields.takeError());
      model = model ? model : &tensor;
      Result<int64_t> count = checkShape(operands[k], tensor, shapeOf(*model));
      if (!count)
        return named(position, k, count.takeError());
      elements = *count;
      rowMajor = rowMajor && isRowMajor(tensor);
    }
    if (elements > 0 && !rowMajor)
      return readStrided(position);
    Entry entry;
    entry.elements = entry.run = elements;
    entry.position = position;
    return entry;
  }

  /// The addresses of an operand with one value per tensor or in all.
  Result<Uniform> readUniform(size_t k) const {
    Uniform uniform{k, {}};
    const size_t count = operands[k].scope == Scope::All ? 1 : order.length();
    for (size_t position = 0; position < count; ++position) {
      if (Result<void> good = checkUniform(operands[k], at(position, k), place); !good)
        return named(position, k, good.takeError());
      uniform.addresses.push_back(at(position, k).data);
    }
    return uniform;
  }

private:
  const fw_tensor &at(size_t position, size_t k) const { return tensors[order.index(position, k)]; }

  /// The error with the tensor in front.
  Error named(size_t position, size_t k, Error error) const {
    error.text = order.name(order.index(position, k)) + ": " + error.text;
    return error;
  }

  Result<Entry> readStrided(size_t position) const {
    std::vector<Dimensions> all(operands.size());
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k].hasElements())
        all[k] = significantDimensions(at(position, k));
    Result<Entry> entry = findLoops(operands, std::move(all), order, position);
    if (entry)
      entry->position = position;
    return entry;
  }

  std::span<const Operand> operands;
  const TensorArray &tensors;
  const ArrayOrder &order;
  Place place;
};

Result<void> checkSizes(const TensorArray &tensors, const ArrayOrder &order) {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].struct_size != tensors[0].struct_size)
      return Error{Code::USAGE,
                   order.name(i) + ": expected struct_size " +
                       std::to_string(tensors[0].struct_size) + " as in tensor 0, got " +
                       std::to_string(tensors[i].struct_size),
                   "set struct_size to sizeof(fw_tensor) in every tensor"};
  return {};
}

} // namespace

Result<TensorList> checkTensors(std::span<const Operand> operands, const TensorArray &tensors,
                                Place place) {
  Result<ArrayOrder> order = ArrayOrder::ofCount(operands, tensors.size());
  if (!order)
    return order.takeError();
  if (Result<void> sized = checkSizes(tensors, *order); !sized)
    return sized.takeError();
  TensorList list;
  list.operands = operands.size();
  list.length = order->length();
  const ListReader reader(operands, tensors, *order, place);
  for (size_t position = 0; position < list.length; ++position) {
    Result<Entry> entry = reader.readEntry(position);
    if (!entry)
      return entry.takeError();
    if (entry->elements == 0)
      continue;
    list.entries.push_back(std::move(*entry));
    for (size_t k = 0; k < operands.size(); ++k)
      list.pointers.push_back(operands[k].hasElements() ? tensors[order->index(position, k)].data
                                                        : nullptr);
  }
  for (size_t k = 0; k < operands.size(); ++k)
    if (operands[k].scope != Scope::Element) {
      Result<Uniform> uniform = reader.readUniform(k);
      if (!uniform)
        return uniform.takeError();
      if (operands[k].present)
        list.uniforms.push_back(std::move(*uniform));
    }
  const ListOfRun alone{operands, &list};
  if (Result<void> apart = checkOverlap({&alone, 1}); !apart)
    return apart.takeError();
  return list;
}

} // namespace fw::launch
