// The vocabulary's conversions behind plain functions: its Dtype and the compiler's share a name.
#pragma once

#include <cstdint>
#include <span>

namespace fw::evaluator {

struct VocabularyDtype {
  const char *name;
  double (*decode)(uint64_t word);
  uint64_t (*encodeSingle)(float x);
  uint64_t (*encodeDouble)(double x);
};
std::span<const VocabularyDtype> vocabularyDtypes();

} // namespace fw::evaluator
