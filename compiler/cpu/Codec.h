// Storage formats in lanes: 16- and 8-bit values travel as integers of their width, and conversions
// are integer arithmetic (LLVM's own bf16 and f16 conversions scalarise or keep another NaN).
#pragma once

#include "compiler/cpu/Features.h"
#include "compiler/cpu/Lanes.h"

namespace fw::cpu {

/// The type in which a value of storage type `storage` travels: i8, i16, f32 or f64.
mlir::Type carrier(mlir::Type storage);

/// Conversion of `value`, stored as `from`, to `to` (a storage type): exact or rounded once to
/// nearest even. NaN becomes 0x7fff in bf16 and f16 and keeps its sign in 8 bits. `saturate` gives
/// the largest finite value instead of inf or NaN by overflow.
mlir::Value convert(const Lanes &lanes, const Features &features, mlir::Value value,
                    mlir::Type from, mlir::Type to, bool saturate);

} // namespace fw::cpu
