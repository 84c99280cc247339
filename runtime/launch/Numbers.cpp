#include "runtime/launch/Numbers.h"

#include "templates/vocab/bf16.h"
#include "templates/vocab/f16.h"
#include "templates/vocab/fp8.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <iterator>

namespace fw::launch {
namespace {

template <class Storage> constexpr NumberFormat format(std::string_view dtype) {
  using Bits = typename Codec<Storage>::Bits;
  return {dtype,
          [](const void *from) {
            Bits bits;
            std::memcpy(&bits, from, sizeof bits);
            return double(Codec<Storage>::decode(bits));
          },
          [](void *to, double value) {
            const Bits bits = Bits(Codec<Storage>::encode(value));
            std::memcpy(to, &bits, sizeof bits);
          }};
}

constexpr NumberFormat formats[] = {
    format<float>("f32"), format<double>("f64"),        format<f16>("f16"),
    format<bf16>("bf16"), format<e4m3fn>("e4m3fn"),     format<e4m3fn_sat>("e4m3fn.sat"),
    format<e5m2>("e5m2"), format<e5m2_sat>("e5m2.sat"),
};

} // namespace

const NumberFormat &formatOf(std::string_view dtype) {
  const auto *found = std::ranges::find(formats, dtype, &NumberFormat::dtype);
  assert(found != std::end(formats) && "requests bind dtypes of the table alone");
  return *found;
}

} // namespace fw::launch
