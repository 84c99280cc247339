// The part of one list in a run: its rows of scalars, its kernels, its partial results.
#pragma once

#include "runtime/launch/Run.h"

namespace fw::launch {

/// What all groups of a run have in common.
struct Totals {
  double elements = 0;
  std::vector<double> reduced; ///< by number of the reduction; unused of those that keep a tensor
};

/// Allocates in its constructor alone.
class GroupRun {
public:
  /// `firstTensor` is the number of the list's first tensor in the whole run.
  GroupRun(const RunGroup &group, size_t firstTensor);

  /// Runs the scalar program of stage `s` for every row.
  void computeRows(size_t s, const Totals &totals);
  /// What the first row says.
  bool skips() const { return isSkipped; }
  /// Writes the results of the scalar program that ran last; `ofAll`: those with one value too.
  void store(size_t s, bool onlyReports, bool ofAll) const;

  void runKernel(size_t s, const Executor &executor);
  /// Adds what the kernel of stage `s` has reduced to its tensors and to the totals.
  void fold(size_t s, Totals &totals);

private:
  size_t firstReduction(size_t s) const;
  double inputOf(const jit::ScalarInput &input, size_t row, const Totals &totals) const;
  void *tableRow(const Kernel &kernel, size_t row);
  void share(size_t s, size_t index);
  void piece(const Kernel &kernel, const Piece &piece, const void **scratch, double *results);
  void addresses(const Kernel &kernel, size_t entry, int64_t run, const void **out) const;
  const WorkPlan &planOf(const Stage &stage) const;

  const Program &program;
  const TensorList &list;
  const Split &split;
  const ScalarRows &hypers;
  const size_t firstTensor;
  const bool byTensor; ///< a row of scalars per tensor, else one
  const size_t rows;

  std::vector<Reduction> reductions;  ///< of all stages
  std::vector<double> sizes;          ///< [position] elements
  std::vector<double> perTensor;      ///< [reduction][position]
  std::vector<double> inputs, values; ///< of the row being computed
  std::vector<double> table;          ///< [row][slot] in the kernel's type
  std::vector<double> results;        ///< [row][result]
  std::vector<double> partials;       ///< [piece][reduction of the stage]
  std::vector<const void *> pointers; ///< [piece][column]
  bool isSkipped = false;
};

} // namespace fw::launch
