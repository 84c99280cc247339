// The tensors of a launch as the loops that run over them. Plain functions of addresses and sizes.
#pragma once

#include "compiler/support/Error.h"
#include "fusewright/fusewright.h"

#include <llvm/ADT/SmallVector.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fw::launch {

/// What an operand has values for: an element, or a place on axes of its own (Axes.h).
enum class Scope : uint8_t { Element, Axes, Tensor, All };

/// What a program expects of one operand of every list entry, or of the whole list.
struct Operand {
  std::string name;
  std::string dtype;
  unsigned bytes = 0; ///< of an element
  bool read = false;
  bool written = false;
  bool present = true; ///< false: an optional operand that is not passed
  Scope scope = Scope::Element;
  std::vector<std::string> axes = {}; ///< of its tensors, in an op over axes

  bool isElement() const { return scope == Scope::Element; }
  /// False: there is no such tensor, or it is one number.
  bool hasElements() const { return present && isElement(); }
};

/// The axes of an op's header, as its operands name them; none of an op over elements. In `rows`
/// the axis `row` may be several dimensions of a tensor, or none: all those in front of the last
/// one.
struct Header {
  std::vector<std::string> axes = {};
  bool isRows = false;
  bool swaps = false; ///< reads places of a row that other threads may have written already
};

/// The tensors of a caller whose fw_tensor may be larger than ours: elements are `stride` bytes
/// apart.
class TensorArray {
public:
  TensorArray(const fw_tensor *first, size_t count)
      : base(reinterpret_cast<const char *>(first)), count(count),
        stride(count ? first->struct_size : sizeof(fw_tensor)) {}
  size_t size() const { return count; }
  const fw_tensor &operator[](size_t index) const {
    return *reinterpret_cast<const fw_tensor *>(base + index * stride);
  }

private:
  const char *base;
  size_t count;
  size_t stride;
};

/// A loop around the contiguous runs of an entry; one byte stride per operand.
struct Loop {
  int64_t extent = 0;
  std::vector<int64_t> byteStrides;
};

/// One list entry: `elements` elements that all operands visit in the same order, as runs of `run`
/// elements that are contiguous in each operand.
struct Entry {
  int64_t elements = 0;
  int64_t run = 0;
  std::vector<Loop> loops; ///< slowest first; empty: one run
  size_t position = 0;     ///< in the caller's list, which may hold empty entries too
};

/// The tensors of an operand that has one value per tensor or in all.
struct Uniform {
  size_t operand = 0;
  std::vector<void *> addresses; ///< by position in the caller's list; of all: one

  void *at(size_t position) const { return addresses[addresses.size() == 1 ? 0 : position]; }
};

struct TensorList {
  size_t operands = 0;
  size_t length = 0;                  ///< entries in the caller's list, the empty ones too
  std::vector<Entry> entries;         ///< without the empty ones
  std::vector<void *> pointers;       ///< [entry][operand]; null for operands without elements
  std::vector<Uniform> uniforms = {}; ///< of the operands that are present

  const Uniform *uniform(size_t operand) const;
};

/// Where tensors stand in a caller's array: entry after entry the operands of each, then those of
/// all, once.
class ArrayOrder {
public:
  ArrayOrder(std::span<const Operand> operands, size_t length);
  /// USAGE where `tensors` is not what a number of entries has.
  static Result<ArrayOrder> ofCount(std::span<const Operand> operands, size_t tensors);

  size_t length() const { return entries; }
  size_t index(size_t position, size_t operand) const;
  /// "tensor 5 (g of entry 1)", "tensor 6 (norm of all)".
  std::string name(size_t tensor) const;

private:
  std::span<const Operand> operands;
  size_t entries;
  size_t perEntry = 0;
  llvm::SmallVector<size_t, 8> places; ///< of each operand, in its entry or behind all entries
};

/// Where a program runs, and so where its tensors must be.
struct Place {
  int32_t device = FW_DEVICE_CPU;
  int32_t id = 0; ///< of a CUDA device
};

/// Device, rank and dtype of a tensor of `operand`; that an absent one has none; that one of a
/// single value has it.
Result<void> checkFields(const Operand &operand, const fw_tensor &tensor, Place place);
Result<void> checkAbsent(const fw_tensor &tensor);
Result<void> checkUniform(const Operand &operand, const fw_tensor &tensor, Place place);
/// That there is memory, and no more than a process can address, for a tensor's elements.
Result<void> checkMemory(const Operand &operand, const fw_tensor &tensor, int64_t elements);

/// Checks every tensor against its operand and finds the loops of every entry. Accepted is each
/// shape with strides of the same meaning in all operands, whose innermost dimension is contiguous;
/// strides of dimensions of size 1 mean nothing. An operand with one value has one element, of any
/// rank. Written memory must not be shared, but for an operand at the very place of one that is
/// only read.
Result<TensorList> checkTensors(std::span<const Operand> operands, const TensorArray &tensors,
                                Place place = {});

} // namespace fw::launch
