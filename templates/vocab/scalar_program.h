// What an operation of the scalar program gives. One text for host and device, which agree bit for
// bit: both read the same scalars, and none can tell which side computed them.
#pragma once

#include "templates/vocab/bf16.h"
#include "templates/vocab/f16.h"
#include "templates/vocab/fp8.h"
#include "templates/vocab/math.h"
#include "templates/vocab/scalar_operations.h"
#include "templates/vocab/scalar_wholes.h"

namespace fw {

FW_INLINE double evaluateScalar(ScalarCode code, double a, double b, double c) {
  switch (code) {
#define FW_CASE(name, arity, value)                                                                \
  case ScalarCode::name:                                                                           \
    return value;
    FW_SCALAR_OPERATIONS(FW_CASE)
#undef FW_CASE
  }
  return 0;
}

} // namespace fw
