#include "tests/gpu/suite/Arena.h"

#include <cmath>
#include <cstring>
#include <sstream>

namespace suite {
namespace {

constexpr size_t guard = 96;      ///< bytes before every tensor, at least
constexpr size_t alignment = 256; ///< of tensors that are not off by one
constexpr std::byte filler{0xA5};

/// Element numbers of a view, in the order of the indices.
std::vector<size_t> elementPlaces(const Sizes &shape, const Sizes &strides) {
  std::vector<size_t> places = {0};
  for (size_t d = 0; d < shape.size(); ++d) {
    std::vector<size_t> next;
    for (size_t place : places)
      for (int64_t i = 0; i < shape[d]; ++i)
        next.push_back(place + size_t(i * strides[d]));
    places = std::move(next);
  }
  return places;
}

/// States that the equations keep positive.
bool isNeverNegative(const OperandInfo &operand) { return operand.name.starts_with("v"); }

} // namespace

Arena::Arena(const Kernel &kernel, List given, uint64_t seed)
    : kernel(kernel), list(std::move(given)), views(list.size()) {
  for (size_t entry = 0; entry < list.size(); ++entry)
    for (size_t k = 0; k < kernel.operands.size(); ++k)
      place(entry, k);
  bytes.resize(bytes.size() + guard, filler);
  Random random(seed);
  fill(random);
}

void Arena::place(size_t entry, size_t k) {
  const EntrySpec &spec = list[entry];
  const size_t width = formatOf(kernel.operands[k].dtype).bytes;
  const Sizes &given = spec.stridesOf(kernel.operands[k]);
  View &view = views[entry].emplace_back();
  view.offset = (bytes.size() + guard + alignment - 1) / alignment * alignment;
  if (spec.offByOne >> k & 1)
    view.offset += width;
  view.places = elementPlaces(spec.shape, given.empty() ? rowMajor(spec.shape) : given);
  size_t end = view.offset;
  for (size_t &at : view.places) {
    at = view.offset + at * width;
    end = std::max(end, at + width);
  }
  bytes.resize(end, filler);
}

void Arena::fill(Random &random) {
  for (const auto &entry : views)
    for (size_t k = 0; k < entry.size(); ++k) {
      const Format &format = formatOf(kernel.operands[k].dtype);
      const uint64_t mask = isNeverNegative(kernel.operands[k]) ? ~format.sign() : ~uint64_t(0);
      for (size_t at : entry[k].places)
        store(format, mixedWord(format, random) & mask, &bytes[at]);
    }
}

std::vector<fw_tensor> Arena::tensors(void *base, fw_device device, int32_t deviceId) const {
  std::vector<fw_tensor> tensors;
  for (size_t entry = 0; entry < list.size(); ++entry)
    for (size_t k = 0; k < kernel.operands.size(); ++k) {
      const EntrySpec &spec = list[entry];
      const Sizes &strides = spec.stridesOf(kernel.operands[k]);
      fw_tensor tensor = {};
      tensor.struct_size = sizeof tensor;
      tensor.device = device;
      tensor.device_id = deviceId;
      tensor.rank = int32_t(spec.shape.size());
      tensor.dtype = kernel.operands[k].dtype.c_str();
      const uintptr_t address = reinterpret_cast<uintptr_t>(base) + offset(entry, k);
      tensor.data = spec.elements() ? reinterpret_cast<void *>(address) : nullptr;
      tensor.shape = spec.shape.data();
      tensor.strides = strides.empty() ? nullptr : strides.data();
      tensors.push_back(tensor);
    }
  return tensors;
}

std::vector<uint64_t> Arena::words(const Bytes &image, size_t operand) const {
  const Format &format = formatOf(kernel.operands[operand].dtype);
  std::vector<uint64_t> words;
  for (const auto &entry : views)
    for (size_t at : entry[operand].places)
      words.push_back(load(format, &image[at]));
  return words;
}

// --- What is wrong with a block ------------------------------------------------------------------

std::string Arena::describe(size_t byte) const {
  std::string text = "byte " + std::to_string(byte);
  for (size_t entry = 0; entry < views.size(); ++entry)
    for (size_t k = 0; k < views[entry].size(); ++k)
      if (views[entry][k].offset <= byte)
        text = std::to_string(byte - views[entry][k].offset) + " bytes behind the start of " +
               kernel.operands[k].name + " of entry " + std::to_string(entry);
  return text;
}

std::string Arena::checkGuards(const Bytes &image) const {
  std::vector<bool> mayChange(bytes.size());
  for (const auto &entry : views)
    for (size_t k = 0; k < entry.size(); ++k)
      for (size_t at : entry[k].places)
        for (size_t i = 0;
             kernel.operands[k].written && i < formatOf(kernel.operands[k].dtype).bytes; ++i)
          mayChange[at + i] = true;
  for (size_t i = 0; i < bytes.size(); ++i)
    if (image[i] != bytes[i] && !mayChange[i])
      return "changed, though no output's: " + describe(i);
  return {};
}

std::string Arena::compare(const Bytes &image, const Bytes &expected) const {
  if (std::string fault = checkGuards(image); !fault.empty())
    return fault;
  for (size_t entry = 0; entry < views.size(); ++entry)
    for (size_t k = 0; k < kernel.operands.size(); ++k) {
      const Format &format = formatOf(kernel.operands[k].dtype);
      const std::vector<size_t> &places = views[entry][k].places;
      for (size_t i = 0; i < places.size(); ++i) {
        const uint64_t got = load(format, &image[places[i]]),
                       want = load(format, &expected[places[i]]);
        if (got == want || (isNaN(format, got) && isNaN(format, want)))
          continue;
        std::ostringstream text;
        text << kernel.operands[k].name << " of entry " << entry << ", element " << i
             << ": expected word " << std::hex << want << ", got " << got;
        return text.str();
      }
    }
  return {};
}

std::string Arena::check(const Bytes &image, const Scalars &scalars) const {
  if (std::string fault = checkGuards(image); !fault.empty())
    return fault;
  // Every operand as one dense tensor: the equations know no entries.
  const size_t operands = kernel.operands.size();
  std::vector<Bytes> dense(operands);
  int64_t count = 0;
  std::vector<fw_tensor> tensors;
  for (size_t k = 0; k < operands; ++k) {
    const Format &format = formatOf(kernel.operands[k].dtype);
    const std::vector<uint64_t> before = words(bytes, k);
    count = int64_t(before.size());
    dense[k].resize(before.size() * format.bytes + 1);
    for (size_t i = 0; i < before.size(); ++i)
      store(format, before[i], &dense[k][i * format.bytes]);
    tensors.push_back(api::tensor(kernel.operands[k].dtype.c_str(), dense[k].data(), &count));
  }
  const size_t elements = size_t(count);
  std::vector<double> values(operands * elements), bounds(operands * elements);
  const std::vector<fw_scalar> &given = scalars.array();
  if (fw_evaluate(kernel.request.get(), tensors.data(), tensors.size(), given.data(), given.size(),
                  values.data(), bounds.data()) != FW_OK)
    return api::lastError();
  size_t at = 0;
  for (size_t k = 0; k < operands; ++k) {
    if (!kernel.operands[k].written)
      continue;
    const Format &format = formatOf(kernel.operands[k].dtype);
    for (uint64_t word : words(image, k)) {
      const double got = decode(format, word), value = values[at], bound = bounds[at];
      ++at;
      if (got == value || (std::isnan(got) && std::isnan(value)) || bound == INFINITY ||
          std::abs(got - value) <= bound)
        continue;
      std::ostringstream text;
      text << kernel.operands[k].name << ", element " << (at - 1) % elements << " of all: expected "
           << value << " +- " << bound << ", got " << got;
      return text.str();
    }
  }
  return {};
}

} // namespace suite
