// The rule that schedules the skeletons of pattern `rows`, without MLIR: one function of the bytes
// of a row, its streams, what is kept of it and the limits of an arch.
#pragma once

#include "compiler/passes/rules/Decisions.h"

#include <optional>
#include <vector>

namespace fw::passes {

/// An operand with a value per column, the same for all rows.
struct ColumnOperand {
  unsigned bytes;
  bool reduced = false; ///< reductions read it; else only what is stored of elements does
};

/// What a kernel does with a row.
struct RowsWork {
  std::vector<OperandStream> streams; ///< operands with a value per element
  std::vector<ColumnOperand> shared;
  int64_t values = 1; ///< that the threads of a row exchange at a time
};

/// What is known of the rows.
struct RowsFacts {
  int64_t columns = 0;  ///< 0: any
  bool aligned = false; ///< all rows start on boundaries of 16 bytes in every stream; else they are
                        ///< off such by the same number of elements in all of them
  bool together = true; ///< the streams meet boundaries at the same columns; else elements go one
                        ///< by one
  bool bounded = false; ///< rows have columns that are not read
};

struct RowsLimits {
  int64_t registersPerSm;
  int64_t registersPerThread;
  int64_t threadsPerSm;
  int64_t threadsPerBlock;
  int64_t blocksPerSm;
  int64_t sharedPerSm; ///< about what the first cache can hold
};

enum class Keep { registers, reread };

/// The decisions. A row has threadsPerRow threads, which take `vectors` vectors of each stream at a
/// time in `steps` steps (0: any number of them).
struct RowsSchedule {
  int64_t threads, vec, vectors, steps, threadsPerRow, rowsPerThread, blocksPerSm;
  Keep keep;
  bool weightEarly; ///< shared operands are asked for with the row
  bool fresh;       ///< held words are decoded again behind an exchange
  bool lined;       ///< rows that start anywhere: a warp's accesses start with a line of memory
  int64_t ring = 0; ///< stages of skeleton smem_ring; 0: skeleton row

  int64_t rowsPerBlock() const { return threads / threadsPerRow * rowsPerThread; }
  bool operator==(const RowsSchedule &) const = default;
};

/// Registers of a thread, from above: vectors in flight, operands of columns, addresses, what is
/// exchanged, and the body.
int64_t estimateRegisters(const RowsWork &work, const RowsFacts &facts,
                          const RowsSchedule &schedule);

/// Bytes of loads that a thread has asked for before it computes.
int64_t bytesInFlight(const RowsWork &work, const RowsSchedule &schedule);

/// Vector places of a row: its whole vectors and, where it is lined, those that may stay empty
/// before them.
int64_t placesOf(const RowsWork &work, const RowsFacts &facts, int64_t vec, bool isLined);

/// The schedule for such rows on such an arch. What `overrides` fix stays (threads, vec, vectors,
/// threads_per_row, rows_per_thread, blocks_per_sm; keep: 0 registers, 1 reread; weight: 0 early,
/// 1 late; fresh, lined: 0, 1) and the rest follows. USAGE where an override cannot work.
Result<RowsSchedule> scheduleRows(const RowsWork &work, const RowsFacts &facts,
                                  const RowsLimits &limits,
                                  const ScheduleOverrides &overrides = {});

/// The other candidate for a kernel that spills: what is held is decoded again instead of kept, or,
/// where that is so already, one block less leaves its threads more registers. Nothing where it is
/// the only block.
std::optional<RowsSchedule> otherCandidate(const RowsSchedule &schedule);

} // namespace fw::passes
