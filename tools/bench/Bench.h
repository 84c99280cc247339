// One request on one list of tensors, timed.
#pragma once

#include "compiler/Request.h"
#include "tools/bench/Machine.h"
#include "tools/bench/TensorLists.h"

namespace fw::bench {

struct Job {
  ResolvedRequest request;
  TensorList list;
};

struct Row {
  std::string id; ///< of PERFORMANCE 2, "P1"; empty: none
  std::string op; ///< with options and features
  std::string dtypes, list;
  uint64_t tensors = 0, elements = 0;
  int64_t width = 0; ///< of a row; 0 of lists that have none
  uint64_t bytes = 0;
  uint32_t launches = 0;
  std::string schedule;   ///< of each kernel; " | " between
  int32_t registers = -1; ///< of the kernel that has most
  Figures figures;

  double gigabytesPerSecond() const { return double(bytes) / figures.us * 1e-3; }
  /// 0 of what moves nothing.
  double percentOfYardstick() const {
    return bytes ? 100 * double(bytes) / figures.us / figures.yardstickRate : 0;
  }
  double percentOfLarge() const { return 100 * double(bytes) / figures.us / *figures.largeRate; }
};

class Bench {
public:
  static Result<Bench> create(const host::Device &device);

  const Machine &machine() const { return *on; }
  /// "cpu", or the arch that requests are to be resolved for.
  const std::string &target() const { return arch; }
  /// Memory for the largest of the jobs; before the first measurement.
  Result<void> prepare(std::span<const Job> jobs);
  Result<Row> measure(const Job &job, int rounds);

private:
  struct Placed {
    std::vector<fw_tensor> tensors; ///< by entry, then by operand of an entry
    std::vector<fw_tensor> ofAll;   ///< operands with one value in all
    std::vector<Stream> streams;
    const std::byte *skipped = nullptr; ///< what a guarded step reports
  };
  /// Places the operands one after another and fills them.
  Result<Placed> place(const Job &job);
  Result<host::Handle<fw_plan>> plan(const Job &job, const fw_program *program,
                                     const Placed &placed);
  /// An op over rows, by launches.
  Result<Row> measureRows(const Job &job, int rounds);
  /// The operands one after another; the tensors point to `shapes`.
  Result<std::vector<fw_tensor>> placeRows(const Job &job,
                                           std::vector<std::vector<int64_t>> &shapes);
  /// Fails where the last step of the plan was skipped: nothing was measured then.
  Result<void> checkApplied(const Placed &placed);

  host::Device device;
  std::string arch = "cpu";
  host::Handle<fw_context> context;
  std::unique_ptr<Machine> on;
  std::byte *memory = nullptr;
};

} // namespace fw::bench
