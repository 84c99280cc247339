#include "compiler/dialect/Dtypes.h"

namespace fw {

static constexpr Dtype kDtypes[] = {
#define FW_DTYPE(...) Dtype{__VA_ARGS__},
#include "compiler/dialect/dtypes.def"
#undef FW_DTYPE
};

std::span<const Dtype> allDtypes() { return kDtypes; }

const Dtype *findDtype(std::string_view name) {
  for (const Dtype &dtype : kDtypes)
    if (dtype.name == name)
      return &dtype;
  return nullptr;
}

std::string listDtypes() {
  std::string out;
  for (const Dtype &dtype : kDtypes)
    out += (out.empty() ? "" : ", ") + std::string(dtype.name);
  return out;
}

} // namespace fw
