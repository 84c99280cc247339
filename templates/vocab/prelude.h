// Words shared by every vocabulary header. All of them are self-contained: no toolkit header, no
// standard header, and one text for NVRTC, for the emulator and for the product's host code.
#pragma once

#if defined(__CUDACC__)
#define FW_INLINE __device__ __forceinline__
#else
#define FW_INLINE inline
#endif

// Features of the target, named as in the arch table. The emitter defines those the arch has as 1
// above this text; what is not defined is absent, so a template compiles alone for any target.
#ifndef FW_HAS_L2_POLICY
#define FW_HAS_L2_POLICY 0 // loads take a cache policy word
#endif
#ifndef FW_HAS_BF16_CONVERT
#define FW_HAS_BF16_CONVERT 0 // cvt.rn.bf16.f32
#endif
#ifndef FW_HAS_CP_ASYNC
#define FW_HAS_CP_ASYNC 0 // cp.async
#endif
#ifndef FW_HAS_MAX_NAN
#define FW_HAS_MAX_NAN 0 // max.NaN.f32
#endif
#ifndef FW_HAS_FP8_CONVERT
#define FW_HAS_FP8_CONVERT 0 // cvt.rn.satfinite.e4m3x2.f32
#endif
#ifndef FW_HAS_EARLY_LAUNCH
#define FW_HAS_EARLY_LAUNCH 0 // griddepcontrol
#endif

namespace fw {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
#if defined(__UINT64_TYPE__)
using u64 = __UINT64_TYPE__; // the host's uint64_t
using i64 = __INT64_TYPE__;
#else
using u64 = unsigned long long;
using i64 = long long;
#endif

static_assert(sizeof(u32) == 4 && sizeof(u64) == 8, "the kernel ABI fixes these widths");

/// The bits of `from` as a `To`.
template <class To, class From> FW_INLINE To bitCast(From from) {
  return __builtin_bit_cast(To, from);
}

} // namespace fw
