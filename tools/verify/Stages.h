// The scalar programs of a case, between kernels that a test runs by itself.
#pragma once

#include "compiler/jit/ProgramRecord.h"
#include "tools/verify/Arena.h"
#include "tools/verify/Cases.h"

namespace fw::verify {

/// Runs the stages of a record on the host: slots for each kernel, reductions from it.
class StagedScalars {
public:
  StagedScalars(const jit::ProgramRecord &record, const ResolvedRequest &request, const Case &data,
                const Arena &arena);

  /// Slots of the stage's kernel: one row for all tensors, or one for each.
  std::vector<std::vector<double>> slotRows(size_t stage) const;

  /// What each reduction of a stage's kernel starts from.
  std::vector<double> identities(size_t stage) const;
  /// A partial of reduction `number` of the stage, from elements of `tensor`. Partials are merged
  /// in f64 in the order of the calls.
  void merge(size_t stage, size_t number, size_t tensor, double partial);

  /// Whether the last stage leaves all elements as they are.
  bool skips() const;
  /// Writes the operands with one value per tensor or in all.
  void store() const;

private:
  bool hasRowPerTensor(const jit::ScalarProgram &program) const;
  std::vector<double> valuesOf(const jit::ScalarProgram &program, size_t row) const;
  double inputOf(const jit::ScalarInput &input, size_t row) const;
  double operandOf(uint32_t operand, size_t row) const;
  double sizeOfAll() const;
  size_t firstReduction(size_t stage) const;
  std::vector<const jit::ReductionRecord *> allReductions() const;

  const jit::ProgramRecord &record;
  const ResolvedRequest &request;
  const Case &data;
  const Arena &arena;
  std::vector<std::vector<double>> results; ///< [reduction][tensor, or one]
};

/// Rows of the first scalar program's results, [row][slot], as a launch computes them.
std::vector<std::vector<double>> slotRows(const jit::ProgramRecord &record,
                                          const ResolvedRequest &request, const Case &data);

/// The same as the kernel reads them: f32, or f64 where `real` says so.
std::vector<std::byte> packSlots(const std::vector<std::vector<double>> &rows,
                                 const std::string &real);

} // namespace fw::verify
