#include "tools/verify/Arena.h"

#include "compiler/dialect/Dtypes.h"
#include "compiler/dialect/evaluator/Storage.h"

#include <cstdlib>
#include <cstring>
#include <new>

// Where the program that verifies is sanitized, reads of the guards are caught as well. LLVM's
// headers define macros of these names, hence the labels.
extern "C" __attribute__((weak)) void poisonMemory(const volatile void *,
                                                   size_t) __asm__("__asan_poison_memory_region");
extern "C" __attribute__((weak)) void
unpoisonMemory(const volatile void *, size_t) __asm__("__asan_unpoison_memory_region");

namespace fw::verify {
namespace {

constexpr uint64_t kAlignment = 256;
constexpr uint64_t kGuard = 256;
constexpr std::byte kGuardByte{0xa5};

const Dtype &dtypeOf(const RequestOperand &operand) { return *findDtype(operand.dtype); }

uint64_t alignUp(uint64_t x) { return (x + kAlignment - 1) / kAlignment * kAlignment; }

} // namespace

void Arena::Free::operator()(std::byte *memory) const { std::free(memory); }

Arena::Arena(const ResolvedRequest &request, const Case &data) : request(request), data(data) {
  uint64_t at = kGuard;
  for (size_t k = 0; k < request.operands.size(); ++k) {
    auto &row = offsets.emplace_back();
    const unsigned width = dtypeOf(request.operands[k]).bytes;
    for (const auto &tensor : data.words[k]) {
      const bool isUniform = request.operands[k].scope != "element";
      row.push_back(at + (isUniform ? 0 : data.misaligned[k] * width));
      at = alignUp(row.back() + tensor.size() * width) + kGuard;
    }
  }
  bytes = alignUp(at);
  memory.reset(static_cast<std::byte *>(std::aligned_alloc(kAlignment, bytes)));
  if (!memory)
    throw std::bad_alloc();
  std::memset(memory.get(), int(kGuardByte), bytes);
  if (poisonMemory)
    poisonMemory(memory.get(), bytes);
  for (size_t k = 0; k < offsets.size(); ++k)
    for (size_t t = 0; t < offsets[k].size(); ++t) {
      auto packed = evaluator::pack(dtypeOf(request.operands[k]), data.words[k][t]);
      if (unpoisonMemory)
        unpoisonMemory(memory.get() + offsets[k][t], packed.size());
      if (!packed.empty())
        std::memcpy(memory.get() + offsets[k][t], packed.data(), packed.size());
    }
}

Arena::~Arena() {
  if (unpoisonMemory)
    unpoisonMemory(memory.get(), bytes);
}

void *Arena::address(size_t operand, size_t tensor) const {
  return offsets[operand].empty() ? nullptr : memory.get() + offset(operand, tensor);
}

std::vector<std::vector<uint64_t>> Arena::words(size_t operand) const {
  std::vector<std::vector<uint64_t>> out;
  const Dtype &dtype = dtypeOf(request.operands[operand]);
  for (size_t t = 0; t < offsets[operand].size(); ++t)
    out.push_back(evaluator::unpack(
        dtype, {memory.get() + offsets[operand][t], data.words[operand][t].size() * dtype.bytes}));
  return out;
}

std::optional<std::string> Arena::strayWrite() const {
  if (unpoisonMemory) // the check itself reads the guards
    unpoisonMemory(memory.get(), bytes);
  uint64_t guardFrom = 0;
  auto guardBroken = [&](uint64_t until) {
    for (uint64_t at = guardFrom; at < until; ++at)
      if (memory[at] != kGuardByte)
        return true;
    return false;
  };
  for (size_t k = 0; k < offsets.size(); ++k) {
    const RequestOperand &operand = request.operands[k];
    for (size_t t = 0; t < offsets[k].size(); ++t) {
      if (guardBroken(offsets[k][t]))
        return "bytes before operand '" + operand.name + "' of tensor " + std::to_string(t) +
               " were changed";
      guardFrom = offsets[k][t] + data.words[k][t].size() * dtypeOf(operand).bytes;
    }
    if (!operand.written && words(k) != data.words[k])
      return "operand '" + operand.name + "' is only read, but was changed";
  }
  if (guardBroken(bytes))
    return "bytes behind the last operand were changed";
  return std::nullopt;
}

} // namespace fw::verify
