// Random bits of elements in lanes: what templates/vocab/random.h draws.
#pragma once

#include "compiler/cpu/Lanes.h"

namespace fw::cpu {

/// 16 bits, as i64, of elements `numbers` (lanes of i64) for call number `draw` of a launch; `seed`
/// and `offset` are scalars.
mlir::Value drawBits(const Lanes &lanes, mlir::Value seed, mlir::Value numbers, mlir::Value offset,
                     uint32_t draw);

} // namespace fw::cpu
