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

static constexpr IntDtype kIntDtypes[] = {
#define FW_INT_DTYPE(...) IntDtype{__VA_ARGS__},
#include "compiler/dialect/int_dtypes.def"
#undef FW_INT_DTYPE
};

std::span<const IntDtype> allIntDtypes() { return kIntDtypes; }

const IntDtype *findIntDtype(std::string_view name) {
  for (const IntDtype &dtype : kIntDtypes)
    if (dtype.name == name)
      return &dtype;
  return nullptr;
}

int64_t decodeInt(const IntDtype &dtype, uint64_t bits) {
  const unsigned above = 64 - 8 * dtype.bytes;
  if (dtype.isSigned)
    return int64_t(bits << above) >> above;
  const uint64_t word = (bits << above) >> above;
  return dtype.isBool ? word != 0 : int64_t(word);
}

uint64_t encodeInt(const IntDtype &dtype, int64_t value) {
  const unsigned above = 64 - 8 * dtype.bytes;
  return dtype.isBool ? value != 0 : (uint64_t(value) << above) >> above;
}

unsigned storageBytes(std::string_view name) {
  if (const Dtype *dtype = findDtype(name))
    return dtype->bytes;
  const IntDtype *dtype = findIntDtype(name);
  return dtype ? dtype->bytes : 0;
}

} // namespace fw
