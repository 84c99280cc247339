#include "compiler/dialect/evaluator/Machine.h"
#include "compiler/dialect/evaluator/Reducer.h"

using namespace mlir;

namespace fw::evaluator {
namespace {

template <class D> class Run {
public:
  Run(const Plan<D> &plan, fuse::OpOp op, const Inputs &inputs)
      : plan(plan), inputs(inputs), operands(op.getOperands()) {
    makeOutputs();
    makeFrames();
  }

  Outputs<typename D::Stored> run() {
    for (const Pass<D> &pass : plan.passes) {
      for (Frame<D> &frame : frames)
        for (const Action<D> &action : pass.uniform)
          action(frame);
      if constexpr (D::REDUCES)
        reduce(pass);
      else
        forEachTensor([&](Frame<D> &frame) { forEachElement(pass, frame, [] {}); });
    }
    keepOldValues();
    return std::move(outputs);
  }

private:
  fuse::OperandAttr operand(size_t k) const { return cast<fuse::OperandAttr>(operands[k]); }
  bool isOfAll(size_t k) const { return operand(k).getScope().getLevel() == fuse::ScopeLevel::All; }

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
        for (size_t size : inputs.sizes)
          output.tensors.emplace_back(operand(k).getScope().isUniform() ? 1 : size);
    }
  }

  /// One for each tensor. What is of all is computed in each of them, and stored by the first; a
  /// list without tensors has that one alone.
  void makeFrames() {
    size_t allSize = 0;
    for (size_t size : inputs.sizes)
      allSize += size;
    frames.resize(std::max<size_t>(inputs.sizes.size(), 1));
    for (size_t tensor = 0; tensor < frames.size(); ++tensor) {
      Frame<D> &frame = frames[tensor];
      frame.reals.resize(plan.values);
      frame.truths.resize(plan.values);
      frame.ints.resize(plan.values);
      frame.tensor = tensor;
      frame.tensorSize = tensor < inputs.sizes.size() ? inputs.sizes[tensor] : 0;
      frame.allSize = allSize;
      if (!inputs.scalars.empty())
        frame.scalars = inputs.scalars[inputs.scalars.size() == 1 ? 0 : tensor];
      pointAt(frame);
    }
  }

  void pointAt(Frame<D> &frame) {
    frame.inputs.resize(operands.size());
    frame.outputs.resize(operands.size());
    size_t written = 0;
    for (size_t k = 0; k < operands.size(); ++k) {
      const size_t place = isOfAll(k) ? 0 : frame.tensor;
      const bool exists = isOfAll(k) || frame.tensor < inputs.sizes.size();
      if (plan.reads[k] && exists)
        frame.inputs[k] = inputs.data[k][place].data();
      if (!plan.writes[k])
        continue;
      auto &tensors = outputs.operands[written++].tensors;
      if (exists && (!isOfAll(k) || frame.tensor == 0))
        frame.outputs[k] = tensors[place].data();
    }
  }

  template <class Visit> void forEachTensor(Visit visit) {
    for (size_t tensor = 0; tensor < inputs.sizes.size(); ++tensor)
      visit(frames[tensor]);
  }

  template <class Then> void forEachElement(const Pass<D> &pass, Frame<D> &frame, Then then) {
    if (pass.element.empty() && pass.reductions.empty())
      return;
    for (frame.element = 0; frame.element < frame.tensorSize; ++frame.element) {
      for (const Action<D> &action : pass.element)
        action(frame);
      then();
    }
  }

  void reduce(const Pass<D> &pass) {
    std::vector<Reducer<D>> all = startOf(pass);
    forEachTensor([&](Frame<D> &frame) {
      std::vector<Reducer<D>> own = startOf(pass);
      forEachElement(pass, frame, [&] {
        for (size_t i = 0; i < own.size(); ++i)
          (pass.reductions[i].keepsTensor ? own : all)[i].add(frame.reals[pass.reductions[i].from]);
      });
      for (size_t i = 0; i < own.size(); ++i) {
        (pass.reductions[i].keepsTensor ? own : all)[i].endTensor();
        if (pass.reductions[i].keepsTensor)
          frame.reals[pass.reductions[i].to] = own[i].result();
      }
    });
    for (size_t i = 0; i < all.size(); ++i)
      if (!pass.reductions[i].keepsTensor)
        for (Frame<D> &frame : frames)
          frame.reals[pass.reductions[i].to] = all[i].result();
  }

  static std::vector<Reducer<D>> startOf(const Pass<D> &pass) {
    std::vector<Reducer<D>> out;
    for (const Reduction<D> &reduction : pass.reductions)
      out.emplace_back(reduction.kind, reduction.format);
    return out;
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
      const Dtype &dtype = *findDtype(output.dtype);
      for (size_t tensor = 0; tensor < output.tensors.size(); ++tensor)
        for (size_t i = 0; i < output.tensors[tensor].size(); ++i) {
          auto &word = output.tensors[tensor][i];
          word = D::kept(frames[0].skip, inputs.data[k][tensor][i], word, dtype);
        }
    }
  }

  const Plan<D> &plan;
  const Inputs &inputs;
  ArrayAttr operands;
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
