// The tables of the bundles that the build has made of the matrix.
#pragma once

#include "tests/emulator/Bundle.h"

#include <vector>

#define FW_MATRIX_BUNDLES(X)                                                                       \
  X(0)                                                                                             \
  X(1)                                                                                             \
  X(2)                                                                                             \
  X(3)                                                                                             \
  X(4)                                                                                             \
  X(5)                                                                                             \
  X(6)                                                                                             \
  X(7)                                                                                             \
  X(8)                                                                                             \
  X(9)                                                                                             \
  X(10)                                                                                            \
  X(11)                                                                                            \
  X(12)                                                                                            \
  X(13)                                                                                            \
  X(14)                                                                                            \
  X(15)                                                                                            \
  X(16)                                                                                            \
  X(17)                                                                                            \
  X(18)                                                                                            \
  X(19)                                                                                            \
  X(20)                                                                                            \
  X(21)                                                                                            \
  X(22)                                                                                            \
  X(23)

#define FW_DECLARE(n) extern "C" const fw::emulator::BundledKernel fw_bundle_matrix_##n[];
FW_MATRIX_BUNDLES(FW_DECLARE)
#undef FW_DECLARE

namespace fw::matrix {

inline std::vector<const emulator::BundledKernel *> bundles() {
#define FW_ENTRY(n) fw_bundle_matrix_##n,
  return {FW_MATRIX_BUNDLES(FW_ENTRY)};
#undef FW_ENTRY
}

} // namespace fw::matrix
