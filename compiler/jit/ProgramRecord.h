// What a compile leaves behind: plain structs, written to and read from CBOR. No MLIR, no device.
#pragma once

#include "compiler/jit/ScalarProgram.h"
#include "compiler/support/Error.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace fw::jit {

/// Raised when a field changes its meaning; readers take an other number as a miss.
constexpr int recordFormat = 6;

/// Most bytes of a program record on disk (INTERFACES 3).
constexpr size_t maxProgramRecordBytes = 4096;

/// How one kernel is launched. Stands in the program record and beside the kernel's code.
struct LaunchRecord {
  std::string symbol;
  std::string pattern;  ///< "elements", "rows"
  std::string skeleton; ///< "chunk", "row"
  std::string schedule; ///< the schedule chosen, as text
  /// "chunk": one block per chunk; "rows": one per rowsPerBlock rows of a tensor; "range": a CPU
  /// kernel over [begin, end).
  std::string gridRule;
  int threads = 0;
  int cluster = 1;
  int64_t sharedBytes = 0;  ///< of a block that a launch asks for, beside what the kernel declares
  bool earlyLaunch = false; ///< it may start before the kernel before it has ended
  int64_t chunk = 0;        ///< elements of a chunk
  int64_t rowsPerBlock = 0; ///< with the grid rule "rows"
  int axes = 0;             ///< of the records of fw::RowsLaunch
  int vec = 0;              ///< elements per vector access
  int slots = 0;            ///< columns of the scalar table
  std::string real = "f32"; ///< type of the scalar table
  int64_t workspaceBytes = 0; ///< per launch, beside the program's buffers
  /// Of the kernel, in order; "launch": fw::ElementsLaunch, fw::ReduceLaunch where it reduces over
  /// tensors, or fw::RowsLaunch.
  std::vector<std::string> parameters;
  std::vector<uint32_t> operands; ///< of the kernel, as places in ProgramRecord::operands

  // Read from the compiler's log; -1 where it did not say.
  int registers = -1;
  int spillBytes = -1;
  int stackBytes = -1;
  int staticSharedBytes = -1; ///< what the kernel declares

  bool operator==(const LaunchRecord &) const = default;
};

struct KernelRecord {
  LaunchRecord launch;
  std::string key; ///< of kernels/<key>.fwk or objects/<key>.fwo
  bool operator==(const KernelRecord &) const = default;
};

struct OperandRecord {
  std::string name;
  std::string role;  ///< "param", "grad", "state", ...
  std::string dtype; ///< of the storage
  std::string axes;  ///< own axes: "tensor", "all"; empty for all of the op's
  bool read = false;
  bool written = false;
  bool optional = false;
  bool present = true; ///< an absent optional operand keeps its place in every array
  double neutral = 0;  ///< value of an absent optional operand; initial value of a state
  bool operator==(const OperandRecord &) const = default;
};

struct HyperRecord {
  std::string name;
  std::string type = "real"; ///< "real", "bool" or "int"
  double fallback = 0;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool lowOpen = false; ///< the bound itself is refused
  bool highOpen = false;
  bool operator==(const HyperRecord &) const = default;
};

/// What a kernel leaves behind: a number per tensor, or one of all.
struct ReductionRecord {
  std::string name;
  std::string kind; ///< "sum", "max", "min"
  std::string keep; ///< "tensor", "all", "world": of all, exchanged with the other ranks
  bool operator==(const ReductionRecord &) const = default;
};

/// A scalar program and the kernel that reads its slots. What the kernel reduces, the stages behind
/// it read.
struct StageRecord {
  static constexpr int NO_KERNEL = -1;

  ScalarProgram scalars;
  int kernel = NO_KERNEL; ///< place in ProgramRecord::kernels
  std::vector<ReductionRecord> reductions;
  bool operator==(const StageRecord &) const = default;
};

struct ProgramRecord {
  std::string op;
  std::string opHash;
  std::string target; ///< an arch's name, or "cpu"
  std::string mode = "forward";
  std::vector<KernelRecord> kernels;
  std::vector<OperandRecord> operands;
  std::vector<HyperRecord> hypers;
  std::vector<StageRecord> stages; ///< in the order they run
  bool usesStep = false;           ///< the launch must be given the step count
  bool operator==(const ProgramRecord &) const = default;
};

std::string encode(const ProgramRecord &record);
std::string encode(const LaunchRecord &record);

/// Any bytes may be given. CACHE says what is wrong with them; a record that comes back is
/// consistent: every index is in range, so users need no checks of their own.
Result<ProgramRecord> decodeProgramRecord(std::string_view bytes);
Result<LaunchRecord> decodeLaunchRecord(std::string_view bytes);

} // namespace fw::jit
