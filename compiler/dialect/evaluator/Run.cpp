#include "compiler/dialect/evaluator/Machine.h"
#include "compiler/dialect/evaluator/Reducer.h"

#include <numeric>

using namespace mlir;

namespace fw::evaluator {
namespace {

template <class D> class Run {
public:
  Run(const Plan<D> &plan, fuse::OpOp op, const Inputs &inputs)
      : plan(plan), inputs(inputs), operands(op.getOperands()), axes(operandAxes(op)),
        headerAxes(op.getDomain().hasAxes() ? op.getDomain().axes().size() : 1),
        tensors(std::max(inputs.sizes.size(), inputs.extents.size())) {
    makeFrames();
    makeOutputs();
    for (Frame<D> &frame : frames)
      pointAt(frame);
  }

  Outputs<typename D::Stored> run() {
    for (const Pass<D> &pass : plan.passes) {
      for (Frame<D> &frame : frames)
        for (const Action<D> &action : pass.uniform)
          action(frame);
      for (const Loop<D> &loop : pass.loops)
        runLoop(loop);
    }
    keepOldValues();
    return std::move(outputs);
  }

private:
  fuse::OperandAttr operand(size_t k) const { return cast<fuse::OperandAttr>(operands[k]); }
  bool isOfAll(size_t k) const { return operand(k).getScope().getLevel() == fuse::ScopeLevel::All; }

  /// One for each tensor. What is of all is computed in each of them, and stored by the first; a
  /// list without tensors has that one alone.
  void makeFrames() {
    frames.resize(std::max<size_t>(tensors, 1));
    size_t allSize = 0;
    for (size_t tensor = 0; tensor < frames.size(); ++tensor) {
      Frame<D> &frame = frames[tensor];
      frame.reals.resize(plan.values);
      frame.truths.resize(plan.values);
      frame.ints.resize(plan.values);
      frame.wholes.resize(plan.values);
      frame.index.resize(plan.axes);
      frame.extents.resize(plan.axes);
      frame.kept.resize(plan.slots);
      frame.tensor = tensor;
      if (tensor < inputs.extents.size())
        frame.extents = inputs.extents[tensor];
      else if (tensor < inputs.sizes.size())
        frame.extents[0] = inputs.sizes[tensor];
      Axes header(headerAxes);
      std::iota(header.begin(), header.end(), 0u);
      frame.tensorSize = tensor < tensors ? frame.placesOn(header) : 0;
      allSize += frame.tensorSize;
      if (!inputs.scalars.empty())
        frame.scalars = inputs.scalars[inputs.scalars.size() == 1 ? 0 : tensor];
    }
    for (Frame<D> &frame : frames)
      frame.allSize = allSize;
  }

  void makeOutputs() {
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!plan.writes[k])
        continue;
      auto &output = outputs.operands.emplace_back();
      output.operand = operand(k).getName().str();
      output.dtype = operand(k).getDtype().str();
      if (isOfAll(k))
        output.tensors.emplace_back(1);
      else
        for (size_t tensor = 0; tensor < tensors; ++tensor)
          output.tensors.emplace_back(
              operand(k).getScope().isUniform() ? 1 : frames[tensor].placesOn(axes[k]));
    }
  }

  void pointAt(Frame<D> &frame) {
    frame.inputs.resize(operands.size());
    frame.outputs.resize(operands.size());
    size_t written = 0;
    for (size_t k = 0; k < operands.size(); ++k) {
      const size_t place = isOfAll(k) ? 0 : frame.tensor;
      const bool exists = isOfAll(k) || frame.tensor < tensors;
      if (plan.reads[k] && exists)
        frame.inputs[k] = inputs.data[k][place].data();
      if (!plan.writes[k])
        continue;
      auto &memory = outputs.operands[written++].tensors;
      if (exists && (!isOfAll(k) || frame.tensor == 0))
        frame.outputs[k] = memory[place].data();
    }
  }

  /// Visits every place on the loop's axes, after the actions that the step to it needs.
  template <class Then> static void forEachPlace(const Loop<D> &loop, Frame<D> &frame, Then then) {
    if (frame.placesOn(loop.axes) == 0)
      return;
    for (unsigned axis : loop.axes)
      frame.index[axis] = 0;
    size_t moved = 0; // actions of this depth and deeper are stale
    while (true) {
      for (size_t depth = moved; depth < loop.actions.size(); ++depth)
        for (const Action<D> &action : loop.actions[depth])
          action(frame);
      then();
      size_t last = loop.axes.size();
      while (last > 0 && ++frame.index[loop.axes[last - 1]] == frame.extents[loop.axes[last - 1]])
        frame.index[loop.axes[--last]] = 0;
      if (last == 0)
        return;
      moved = last;
    }
  }

  using Reducers = std::vector<Reducer<D>>;
  using Keeps = typename Reduction<D>::Keeps;

  /// By reduction: for all tensors, for one, or for each place that one keeps.
  static std::vector<Reducers> startOf(const Loop<D> &loop, const Frame<D> *frame) {
    std::vector<Reducers> out;
    for (const Reduction<D> &reduction : loop.reductions) {
      const size_t count =
          reduction.keeps == Keeps::Axes ? frame ? frame->placesOn(reduction.axes) : 0 : 1;
      out.emplace_back(count, Reducer<D>(reduction.kind, reduction.format, reduction.pair));
    }
    return out;
  }

  void runLoop(const Loop<D> &loop) {
    std::vector<Reducers> all = startOf(loop, nullptr);
    for (size_t tensor = 0; tensor < tensors; ++tensor) {
      Frame<D> &frame = frames[tensor];
      for (const Keep &keep : loop.keeps)
        frame.kept[keep.slot].resize(frame.placesOn(keep.axes));
      std::vector<Reducers> own = startOf(loop, &frame);
      auto reducersOf = [&](size_t i) -> Reducers & {
        return (loop.reductions[i].keeps == Keeps::All ? all : own)[i];
      };
      forEachPlace(loop, frame, [&] {
        for (size_t i = 0; i < own.size(); ++i) {
          const Reduction<D> &reduction = loop.reductions[i];
          const size_t place = reduction.keeps == Keeps::Axes ? frame.placeOn(reduction.axes) : 0;
          reducersOf(i)[place].add(frame.reals[reduction.from], frame.reals[reduction.pair.about]);
        }
        for (const Keep &keep : loop.keeps)
          frame.kept[keep.slot][frame.placeOn(keep.axes)] = frame.reals[keep.from];
      });
      for (size_t i = 0; i < own.size(); ++i) {
        for (Reducer<D> &reducer : reducersOf(i))
          reducer.endTensor();
        leave(loop.reductions[i], own[i], frame);
      }
    }
    for (size_t i = 0; i < all.size(); ++i)
      if (loop.reductions[i].keeps == Keeps::All)
        for (Frame<D> &frame : frames)
          frame.reals[loop.reductions[i].to] = all[i][0].result();
  }

  static void leave(const Reduction<D> &reduction, Reducers &reducers, Frame<D> &frame) {
    if (reduction.keeps == Keeps::Tensor)
      frame.reals[reduction.to] = reducers[0].result();
    if (reduction.keeps != Keeps::Axes)
      return;
    auto &kept = frame.kept[reduction.slot];
    kept.clear();
    for (Reducer<D> &reducer : reducers)
      kept.push_back(reducer.resultOfElements());
  }

  /// One decision for all tensors, that of the first row of scalars.
  void keepOldValues() {
    size_t written = 0;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!plan.writes[k])
        continue;
      auto &output = outputs.operands[written++];
      if (!plan.guarded[k])
        continue;
      const Dtype *dtype = findDtype(output.dtype);
      const IntDtype *whole = findIntDtype(output.dtype);
      for (size_t tensor = 0; tensor < output.tensors.size(); ++tensor)
        for (size_t i = 0; i < output.tensors[tensor].size(); ++i) {
          auto &word = output.tensors[tensor][i];
          const double old = inputs.data[k][tensor][i];
          word = dtype ? D::kept(frames[0].skip, old, word, *dtype)
                       : D::keptWhole(frames[0].skip, old, word, *whole);
        }
    }
  }

  const Plan<D> &plan;
  const Inputs &inputs;
  ArrayAttr operands;
  std::vector<Axes> axes; ///< by operand
  unsigned headerAxes;
  size_t tensors;
  Outputs<typename D::Stored> outputs;
  std::vector<Frame<D>> frames;
};

} // namespace

template <class D>
Outputs<typename D::Stored> run(const Plan<D> &plan, fuse::OpOp op, const Inputs &inputs) {
  return Run<D>(plan, op, inputs).run();
}

template Evaluation run(const Plan<Bounds<double>> &, fuse::OpOp, const Inputs &);
template Evaluation run(const Plan<Bounds<long double>> &, fuse::OpOp, const Inputs &);
template Bits run(const Plan<Machine> &, fuse::OpOp, const Inputs &);

} // namespace fw::evaluator
