#include "tests/evaluator/VocabularyConversions.h"

#include "templates/vocab/bf16.h"
#include "templates/vocab/f16.h"
#include "templates/vocab/fp8.h"

namespace fw::evaluator {

template <class T> static constexpr VocabularyDtype row(const char *name) {
  return {name,
          [](uint64_t word) -> double {
            return fw::Dtype<T>::decode(static_cast<typename fw::Dtype<T>::Bits>(word));
          },
          [](float x) -> uint64_t { return fw::Dtype<T>::encode(x); },
          [](double x) -> uint64_t { return fw::Dtype<T>::encode(x); }};
}

static constexpr VocabularyDtype kRows[] = {row<f16>("f16"),       row<bf16>("bf16"),
                                            row<e4m3fn>("e4m3fn"), row<e4m3fn_sat>("e4m3fn.sat"),
                                            row<e5m2>("e5m2"),     row<e5m2_sat>("e5m2.sat")};

std::span<const VocabularyDtype> vocabularyDtypes() { return kRows; }

} // namespace fw::evaluator
