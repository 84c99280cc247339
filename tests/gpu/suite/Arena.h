// The memory of a list's tensors: one block with guard bytes around every tensor.
#pragma once

#include "tests/gpu/suite/Lists.h"
#include "tests/gpu/suite/Words.h"

#include <cstddef>
#include <memory>

namespace suite {

using Bytes = std::vector<std::byte>;

/// Values of scalars, as a call takes them.
class Scalars {
public:
  Scalars() = default;
  Scalars(const Scalars &other);
  Scalars(Scalars &&) = default;
  Scalars &operator=(Scalars other) {
    items = std::move(other.items);
    return *this;
  }
  Scalars &set(const std::string &name, double value);
  /// One per entry.
  Scalars &set(const std::string &name, std::vector<double> values);
  Scalars &setData(const std::string &name, void *data, const char *dtype, size_t count = 1,
                   bool advance = false);
  /// As the C API takes them; valid until the next change.
  const std::vector<fw_scalar> &array() const;

private:
  struct Item {
    std::string name, dtype;
    double value = 0;
    std::vector<double> values;
    void *data = nullptr;
    size_t count = 0;
    bool advance = false;
  };
  Item &item(const std::string &name);
  std::vector<std::unique_ptr<Item>> items;
  mutable std::vector<fw_scalar> built;
};

/// Every scalar of a kernel that is no step, away from its default.
Scalars unusualScalars(const Kernel &kernel);

/// What tensors hold at first.
enum class Values {
  ANY,   ///< infinities, NaN, huge and tiny numbers too
  USUAL, ///< numbers around one
};

/// Tensors of a list with values, before any run. Both devices run over copies of `bytes`. Operands
/// with one value per tensor or in all have tensors of one element.
class Arena {
public:
  Arena(const Kernel &kernel, List list, uint64_t seed, Values values = Values::ANY);

  const Kernel &kernel;
  const List list;
  Bytes bytes;

  /// The tensors as they lie in a copy of the block at `base`, in the order of the C API.
  std::vector<fw_tensor> tensors(void *base, fw_device device, int32_t deviceId = 0) const;
  /// Where operand k of entry e, or of all, starts in the block.
  size_t offset(size_t entry, size_t operand) const;
  /// Puts a word into one element.
  void set(Bytes &image, size_t entry, size_t operand, size_t element, uint64_t word) const;
  /// What stands at a byte of the block.
  std::string describe(size_t byte) const;
  /// All elements of an operand, entry after entry, in the order of their indices.
  std::vector<uint64_t> words(const Bytes &image, size_t operand) const;

  /// The same, decoded.
  std::vector<double> numbers(const Bytes &image, const std::string &operand) const;

  /// What `image`, a block after a run, has that `expected` has not; NaN is NaN. Empty: nothing.
  std::string compare(const Bytes &image, const Bytes &expected) const;
  /// What lies outside the bounds of fw_evaluate on this block as it was before, or was written
  /// though it is no output's.
  std::string check(const Bytes &image, const Scalars &scalars) const;

private:
  struct View {
    size_t entry = 0, operand = 0;
    size_t offset = 0;
    std::vector<size_t> places; ///< of all elements in the block
  };
  void place(size_t entry, size_t operand);
  void fill(Random &random, Values values);
  fw_tensor tensor(const View &view, void *base, fw_device device, int32_t deviceId) const;
  std::string checkGuards(const Bytes &image) const;
  const View &view(size_t entry, size_t operand) const;
  std::string nameOf(const View &view) const;

  std::vector<View> views; ///< in the order of the C API
};

} // namespace suite
