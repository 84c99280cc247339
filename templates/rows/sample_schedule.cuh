// The constants of the samples' Op, as a schedule gives them. Those of a whole kernel may be
// defined above this text, all at once; what stands here is a row of 1024 columns in one warp's
// registers.
#pragma once

#include "templates/vocab/bf16.h"
#include "templates/vocab/rows_launch.h"

#ifndef FW_ROWS_SCHEDULE
#define FW_ROWS_SCHEDULE                                                                           \
  V = 8, VECTORS = 4, STEPS = 1, THREADS = 128, BLOCKS = 6, THREADS_PER_ROW = 32,                  \
  ROWS_PER_THREAD = 1, COLUMNS = 1024, STAGES = 0
#define FW_ROWS_FLAGS ALIGNED = true, HOLDS = true, EARLY = false, FRESH = true, LINED = false
#define FW_ROWS_SKELETON fw::row
#define FW_ROWS_INDEX fw::u32
#define FW_ROWS_REAL float
#define FW_ROWS_IN fw::bf16
#define FW_ROWS_OUT fw::bf16
#define FW_ROWS_COLUMN fw::bf16
#endif

struct SampleSchedule {
  static constexpr int FW_ROWS_SCHEDULE;
  static constexpr bool FW_ROWS_FLAGS;
  using Index = FW_ROWS_INDEX;
  using Real = FW_ROWS_REAL;
  using X = FW_ROWS_IN;
  using Y = FW_ROWS_OUT;
  using C = FW_ROWS_COLUMN;
  /// The operand whose accesses are widest says where vectors start.
  static constexpr int LEAD_BYTES = static_cast<int>(sizeof(X) > sizeof(Y) ? sizeof(X) : sizeof(Y));
};
