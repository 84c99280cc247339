// Lists of tensors that ops are timed on: the models of bench/tables/models.json, or sizes.
#pragma once

#include "compiler/support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fw::bench {

struct TensorList {
  std::string name;
  std::vector<std::vector<int64_t>> shapes;

  uint64_t elements() const;
};

/// Of one shape.
uint64_t elementsOf(const std::vector<int64_t> &shape);

std::vector<std::string> modelNames();

/// "llama-1.1b,resnet-50" are two lists; "4096,1000x64" is one, of a tensor of 4096 and a thousand
/// of 64 elements.
Result<std::vector<TensorList>> parseLists(const std::string &text);

} // namespace fw::bench
