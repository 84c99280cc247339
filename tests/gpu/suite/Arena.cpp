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

/// The tensor of an operand with one value per tensor or in all.
const EntrySpec oneNumber;

/// States that the equations keep positive.
bool isNeverNegative(const OperandInfo &operand) { return operand.name.starts_with("v"); }

} // namespace

Arena::Arena(const Kernel &kernel, List given, uint64_t seed, Values values)
    : kernel(kernel), list(std::move(given)) {
  for (size_t entry = 0; entry < list.size(); ++entry)
    for (size_t k = 0; k < kernel.operands.size(); ++k)
      if (!kernel.operands[k].isOfAll())
        place(entry, k);
  for (size_t k = 0; k < kernel.operands.size(); ++k)
    if (kernel.operands[k].isOfAll())
      place(0, k);
  bytes.resize(bytes.size() + guard, filler);
  Random random(seed);
  fill(random, values);
}

void Arena::place(size_t entry, size_t k) {
  const OperandInfo &operand = kernel.operands[k];
  const EntrySpec &spec = operand.isElement() ? list[entry] : oneNumber;
  const size_t width = formatOf(operand.dtype).bytes;
  const Sizes &given = spec.stridesOf(operand);
  View &view = views.emplace_back();
  view.entry = entry;
  view.operand = k;
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

void Arena::fill(Random &random, Values values) {
  for (const View &view : views) {
    const OperandInfo &operand = kernel.operands[view.operand];
    const Format &format = formatOf(operand.dtype);
    const uint64_t mask = isNeverNegative(operand) ? ~format.sign() : ~uint64_t(0);
    for (size_t at : view.places) {
      const uint64_t word = values == Values::ANY ? mixedWord(format, random)
                                                  : randomWord(format, Kind::NORMAL, random);
      store(format, word & mask, &bytes[at]);
    }
  }
}

const Arena::View &Arena::view(size_t entry, size_t operand) const {
  for (const View &view : views)
    if (view.operand == operand && (view.entry == entry || kernel.operands[operand].isOfAll()))
      return view;
  ADD_FAILURE() << "no entry " << entry;
  return views.front();
}

size_t Arena::offset(size_t entry, size_t operand) const { return view(entry, operand).offset; }

void Arena::set(Bytes &image, size_t entry, size_t operand, size_t element, uint64_t word) const {
  store(formatOf(kernel.operands[operand].dtype), word,
        &image[view(entry, operand).places[element]]);
}

fw_tensor Arena::tensor(const View &view, void *base, fw_device device, int32_t deviceId) const {
  const OperandInfo &operand = kernel.operands[view.operand];
  const EntrySpec &spec = operand.isElement() ? list[view.entry] : oneNumber;
  const Sizes &strides = spec.stridesOf(operand);
  fw_tensor tensor = {};
  tensor.struct_size = sizeof tensor;
  tensor.device = device;
  tensor.device_id = deviceId;
  tensor.rank = int32_t(spec.shape.size());
  tensor.dtype = operand.dtype.c_str();
  const uintptr_t address = reinterpret_cast<uintptr_t>(base) + view.offset;
  tensor.data = spec.elements() ? reinterpret_cast<void *>(address) : nullptr;
  tensor.shape = spec.shape.data();
  tensor.strides = strides.empty() ? nullptr : strides.data();
  return tensor;
}

std::vector<fw_tensor> Arena::tensors(void *base, fw_device device, int32_t deviceId) const {
  std::vector<fw_tensor> tensors;
  for (const View &view : views)
    tensors.push_back(tensor(view, base, device, deviceId));
  return tensors;
}

std::vector<uint64_t> Arena::words(const Bytes &image, size_t operand) const {
  const Format &format = formatOf(kernel.operands[operand].dtype);
  std::vector<uint64_t> words;
  for (const View &view : views)
    if (view.operand == operand)
      for (size_t at : view.places)
        words.push_back(load(format, &image[at]));
  return words;
}

std::vector<double> Arena::numbers(const Bytes &image, const std::string &operand) const {
  const size_t k = kernel.operand(operand);
  std::vector<double> numbers;
  for (uint64_t word : words(image, k))
    numbers.push_back(decode(formatOf(kernel.operands[k].dtype), word));
  return numbers;
}

// --- What is wrong with a block ------------------------------------------------------------------

std::string Arena::describe(size_t byte) const {
  std::string text = "byte " + std::to_string(byte);
  for (const View &view : views)
    if (view.offset <= byte)
      text = std::to_string(byte - view.offset) + " bytes behind the start of " + nameOf(view);
  return text;
}

std::string Arena::nameOf(const View &view) const {
  const OperandInfo &operand = kernel.operands[view.operand];
  return operand.name + (operand.isOfAll() ? " of all" : " of entry " + std::to_string(view.entry));
}

std::string Arena::checkGuards(const Bytes &image) const {
  std::vector<bool> mayChange(bytes.size());
  for (const View &view : views) {
    const OperandInfo &operand = kernel.operands[view.operand];
    for (size_t at : view.places)
      for (size_t i = 0; operand.written && i < formatOf(operand.dtype).bytes; ++i)
        mayChange[at + i] = true;
  }
  for (size_t i = 0; i < bytes.size(); ++i)
    if (image[i] != bytes[i] && !mayChange[i])
      return "changed, though no output's: " + describe(i);
  return {};
}

std::string Arena::compare(const Bytes &image, const Bytes &expected) const {
  if (std::string fault = checkGuards(image); !fault.empty())
    return fault;
  for (const View &view : views) {
    const Format &format = formatOf(kernel.operands[view.operand].dtype);
    for (size_t i = 0; i < view.places.size(); ++i) {
      const uint64_t got = load(format, &image[view.places[i]]),
                     want = load(format, &expected[view.places[i]]);
      if (got == want || (isNaN(format, got) && isNaN(format, want)))
        continue;
      std::ostringstream text;
      text << nameOf(view) << ", element " << i << ": expected word " << std::hex << want
           << ", got " << got;
      return text.str();
    }
  }
  return {};
}

std::string Arena::check(const Bytes &image, const Scalars &scalars) const {
  if (std::string fault = checkGuards(image); !fault.empty())
    return fault;
  Bytes before = bytes;
  const std::vector<fw_tensor> given = tensors(before.data(), FW_DEVICE_CPU);
  const std::vector<fw_scalar> &values = scalars.array();
  std::vector<double> expected(bytes.size() + 1), bounds(expected.size());
  if (fw_evaluate(kernel.request.get(), given.data(), given.size(), values.data(), values.size(),
                  expected.data(), bounds.data()) != FW_OK)
    return api::lastError();
  size_t at = 0;
  for (size_t k = 0; k < kernel.operands.size(); ++k) {
    if (!kernel.operands[k].written)
      continue;
    const size_t first = at;
    for (uint64_t word : words(image, k)) {
      const double got = decode(formatOf(kernel.operands[k].dtype), word);
      const double value = expected[at], bound = bounds[at];
      ++at;
      if (got == value || (std::isnan(got) && std::isnan(value)) || bound == INFINITY ||
          std::abs(got - value) <= bound)
        continue;
      std::ostringstream text;
      text << kernel.operands[k].name << ", element " << at - 1 - first << " of all: expected "
           << value << " +- " << bound << ", got " << got;
      return text.str();
    }
  }
  return {};
}

} // namespace suite
