// The memory of a case: every tensor between guard bytes, at the alignment that the case asks for.
#pragma once

#include "tools/verify/Cases.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fw::verify {

class Arena {
public:
  Arena(const ResolvedRequest &request, const Case &data);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// Null for an absent operand.
  void *address(size_t operand, size_t tensor) const;
  /// Distance of a tensor from base(), which stands on a 256-byte boundary.
  /// An operand with one value in all has one place.
  uint64_t offset(size_t operand, size_t tensor) const {
    return offsets[operand][offsets[operand].size() > 1 ? tensor : 0];
  }
  std::byte *base() const { return memory.get(); }
  size_t size() const { return bytes; }

  /// The storage words that stand in an operand now.
  std::vector<std::vector<uint64_t>> words(size_t operand) const;

  /// What was written outside the written operands: nothing, or a sentence with the place.
  std::optional<std::string> strayWrite() const;

private:
  struct Free {
    void operator()(std::byte *memory) const;
  };

  const ResolvedRequest &request;
  const Case &data;
  std::vector<std::vector<uint64_t>> offsets;
  size_t bytes = 0;
  std::unique_ptr<std::byte[], Free> memory;
};

} // namespace fw::verify
