// The table of operations: op name -> how the op is planned. Each planner reads the op's attributes
// once and returns the closure that runs for every element.
#pragma once

#include "compiler/dialect/evaluator/Bounds.h"
#include "compiler/dialect/evaluator/BoundsFunctions.h"
#include "compiler/dialect/evaluator/MachineFunctions.h"
#include "compiler/dialect/evaluator/Plan.h"

namespace fw::evaluator {

/// Null where the operation is not meant for the types at hand.
template <class D> using Planner = Action<D> (*)(const Site &);

//===-- Reals ---------------------------------------------------------------------------------//

template <class D, auto F> Action<D> real1(const Site &site) {
  const typename D::Format format(dtypeOf(site.type()));
  return [=, r = site.result(), a = site.operand(0)](Frame<D> &frame) {
    frame.reals[r] = F(frame.reals[a], format);
  };
}
template <class D, auto F> Action<D> real2(const Site &site) {
  const typename D::Format format(dtypeOf(site.type()));
  return [=, r = site.result(), a = site.operand(0), b = site.operand(1)](Frame<D> &frame) {
    frame.reals[r] = F(frame.reals[a], frame.reals[b], format);
  };
}
template <class D, auto F> Action<D> real3(const Site &site) {
  const typename D::Format format(dtypeOf(site.type()));
  return [=, r = site.result(), a = site.operand(0), b = site.operand(1),
          c = site.operand(2)](Frame<D> &frame) {
    frame.reals[r] = F(frame.reals[a], frame.reals[b], frame.reals[c], format);
  };
}
/// A product knows when it is a square.
template <class D> Action<D> product(const Site &site) {
  return site.operand(0) == site.operand(1) ? real1<D, D::square>(site) : real2<D, D::mul>(site);
}
template <class D> Action<D> power(const Site &site) {
  const typename D::Format format(dtypeOf(site.type()));
  return [=, r = site.result(), x = site.operand(0), n = site.operand(1)](Frame<D> &frame) {
    frame.reals[r] =
        ElementFunctions<D>::power(frame.reals[x], math::wholeNumber(frame.ints[n]), format);
  };
}
template <class D> Action<D> intToReal(const Site &site) {
  const typename D::Format format(dtypeOf(site.type()));
  return [=, r = site.result(), a = site.operand(0)](Frame<D> &frame) {
    frame.reals[r] = D::fromInt(frame.ints[a], format);
  };
}

template <class D, auto F> Action<D> int2(const Site &site) {
  return [r = site.result(), a = site.operand(0), b = site.operand(1)](Frame<D> &frame) {
    frame.ints[r] = F(frame.ints[a], frame.ints[b]);
  };
}
inline double addInts(double a, double b) { return a + b; }
inline double subInts(double a, double b) { return a - b; }
inline double mulInts(double a, double b) { return a * b; }
inline double maxInts(double a, double b) { return std::max(a, b); }
inline double minInts(double a, double b) { return std::min(a, b); }

//===-- Truth ---------------------------------------------------------------------------------//

template <class D, auto F> Action<D> test(const Site &site) {
  const typename D::Format format(dtypeOf(site.op->getOperand(0).getType()));
  return [=, r = site.result(), a = site.operand(0)](Frame<D> &frame) {
    frame.truths[r] = F(frame.reals[a], format);
  };
}
template <class D, auto F> Action<D> truth2(const Site &site) {
  if (!site.type().isInteger(1))
    return nullptr;
  return [=, r = site.result(), a = site.operand(0), b = site.operand(1)](Frame<D> &frame) {
    frame.truths[r] = F(frame.truths[a], frame.truths[b]);
  };
}
/// The relations that a predicate holds for; none for one that the language lacks.
unsigned acceptedRelations(mlir::arith::CmpFPredicate predicate);
unsigned acceptedRelations(mlir::arith::CmpIPredicate predicate);

template <class D> Action<D> compareReals(const Site &site) {
  const unsigned accepted =
      acceptedRelations(mlir::cast<mlir::arith::CmpFOp>(site.op).getPredicate());
  return [=, r = site.result(), a = site.operand(0), b = site.operand(1)](Frame<D> &frame) {
    frame.truths[r] = D::compare(frame.reals[a], frame.reals[b], accepted);
  };
}
template <class D> Action<D> compareInts(const Site &site) {
  const unsigned accepted =
      acceptedRelations(mlir::cast<mlir::arith::CmpIOp>(site.op).getPredicate());
  if (!accepted)
    return nullptr;
  return [=, r = site.result(), a = site.operand(0), b = site.operand(1)](Frame<D> &frame) {
    frame.truths[r] = D::decide(relation(frame.ints[a], frame.ints[b]) & accepted);
  };
}

template <class D> Action<D> select(const Site &site) {
  const unsigned r = site.result(), c = site.operand(0), a = site.operand(1), b = site.operand(2);
  if (mlir::isa<mlir::FloatType>(site.type()))
    return [=](Frame<D> &f) { f.reals[r] = D::choose(f.truths[c], f.reals[a], f.reals[b]); };
  if (site.type().isInteger(1))
    return [=](Frame<D> &f) { f.truths[r] = D::choose(f.truths[c], f.truths[a], f.truths[b]); };
  return nullptr;
}

//===-- Sources, conversions, results ---------------------------------------------------------//

template <class D> Action<D> constant(const Site &site) {
  const unsigned r = site.result();
  const mlir::Attribute value = mlir::cast<mlir::arith::ConstantOp>(site.op).getValue();
  if (auto real = mlir::dyn_cast<mlir::FloatAttr>(value))
    return [r, x = real.getValueAsDouble()](Frame<D> &f) { f.reals[r] = D::constant(x); };
  auto integer = mlir::dyn_cast<mlir::IntegerAttr>(value);
  if (integer && site.type().isInteger(1))
    return [r, x = !integer.getValue().isZero()](Frame<D> &f) { f.truths[r] = D::decide(x); };
  if (integer)
    return [r, x = double(integer.getInt())](Frame<D> &f) { f.ints[r] = x; };
  return nullptr;
}

/// The one rounding between the scalar program and elements; bools and ints pass.
template <class D> Action<D> uniform(const Site &site) {
  const unsigned r = site.result(), a = site.operand(0);
  if (mlir::isa<mlir::FloatType>(site.type()))
    return [r, a, to = &dtypeOf(site.type())](Frame<D> &f) {
      f.reals[r] = D::convert(f.reals[a], *to);
    };
  if (site.type().isInteger(1))
    return [r, a](Frame<D> &f) { f.truths[r] = f.truths[a]; };
  return [r, a](Frame<D> &f) { f.ints[r] = f.ints[a]; };
}

template <class D> Action<D> scalar(const Site &site) {
  const llvm::StringRef name = mlir::cast<fuse::ScalarOp>(site.op).getScalar();
  const unsigned r = site.result();
  unsigned s = 0;
  for (auto hyper : site.scalars().getAsRange<fuse::HyperAttr>()) {
    if (hyper.getName() == name)
      break;
    ++s;
  }
  if (mlir::isa<mlir::FloatType>(site.type()))
    return [r, s](Frame<D> &f) { f.reals[r] = D::constant(f.scalars[s]); };
  if (site.type().isInteger(1))
    return [r, s](Frame<D> &f) { f.truths[r] = D::decide(f.scalars[s] != 0); };
  return [r, s](Frame<D> &f) { f.ints[r] = f.scalars[s]; };
}

template <class D> Action<D> read(const Site &site) {
  if (!mlir::isa<mlir::FloatType>(site.type()))
    return nullptr;
  const llvm::StringRef name = mlir::cast<fuse::ReadOp>(site.op).getOperand();
  return [r = site.result(), k = site.operandNumber(name), to = &dtypeOf(site.type()),
          isUniform = site.isUniform(name)](Frame<D> &f) {
    if (f.inputs[k]) // f64 may meet f32 arithmetic
      f.reals[r] = D::convert(D::constant(f.inputs[k][isUniform ? 0 : f.element]), *to);
  };
}

template <class D> Action<D> write(const Site &site) {
  const mlir::Type type = site.op->getOperand(0).getType();
  if (!mlir::isa<mlir::FloatType>(type))
    return nullptr;
  const llvm::StringRef name = mlir::cast<fuse::WriteOp>(site.op).getOperand();
  return [a = site.operand(0), k = site.operandNumber(name), from = &dtypeOf(type),
          to = &site.operandDtype(name), isUniform = site.isUniform(name)](Frame<D> &f) {
    if (f.outputs[k])
      f.outputs[k][isUniform ? 0 : f.element] = D::store(f.reals[a], *from, *to);
  };
}

template <class D> Action<D> size(const Site &site) {
  const bool ofTensor =
      mlir::cast<fuse::SizeOp>(site.op).getOf().getLevel() == fuse::ScopeLevel::Tensor;
  return [r = site.result(), ofTensor](Frame<D> &f) {
    f.ints[r] = static_cast<double>(ofTensor ? f.tensorSize : f.allSize);
  };
}

template <class D> Action<D> index(const Site &site) {
  return [r = site.result()](Frame<D> &f) { f.ints[r] = static_cast<double>(f.tensor); };
}

template <class D> Action<D> skipIf(const Site &site) {
  return [a = site.operand(0)](Frame<D> &f) { f.skip = f.truths[a]; };
}

template <class D> Action<D> cast(const Site &site) {
  const bool saturate = mlir::cast<fuse::CastOp>(site.op).getSaturate();
  return [r = site.result(), a = site.operand(0), to = &dtypeOf(site.type(), saturate)](
             Frame<D> &f) { f.reals[r] = D::convert(f.reals[a], *to); };
}

template <class D> Action<D> stored(const Site &site) {
  const Dtype &storage = site.operandDtype(mlir::cast<fuse::StoredOp>(site.op).getOperand());
  return [r = site.result(), a = site.operand(0), &storage, to = &dtypeOf(site.type())](
             Frame<D> &f) { f.reals[r] = D::convert(D::convert(f.reals[a], storage), *to); };
}

template <class D> Action<D> roundTo(const Site &site) {
  const llvm::StringRef name = mlir::cast<fuse::RoundToOp>(site.op).getDtype();
  return [r = site.result(), a = site.operand(0), via = findDtype({name.data(), name.size()}),
          to = &dtypeOf(site.type())](Frame<D> &f) {
    f.reals[r] = D::convert(D::convert(f.reals[a], *via), *to);
  };
}

template <class D> Action<D> largest(const Site &site) {
  const Dtype &storage = site.operandDtype(mlir::cast<fuse::LargestOp>(site.op).getOperand());
  return [r = site.result(), x = storage.largest](Frame<D> &f) { f.reals[r] = D::constant(x); };
}

//===-- The table -----------------------------------------------------------------------------//

template <class D> struct OperationRow {
  std::string_view name;
  Planner<D> planner;
};

template <class D, class F = ElementFunctions<D>>
inline constexpr OperationRow<D> kOperations[] = {
    {"fuse.read", read<D>},
    {"fuse.write", write<D>},
    {"fuse.scalar", scalar<D>},
    {"fuse.uniform", uniform<D>},
    {"fuse.size", size<D>},
    {"fuse.index", index<D>},
    {"fuse.skip_if", skipIf<D>},
    {"fuse.stored", stored<D>},
    {"fuse.round_to", roundTo<D>},
    {"fuse.largest", largest<D>},
    {"fuse.cast", cast<D>},
    {"fuse.sign", real1<D, D::sign>},
    {"fuse.sigmoid", real1<D, F::sigmoid>},
    {"arith.constant", constant<D>},
    {"arith.addf", real2<D, D::add>},
    {"arith.subf", real2<D, D::sub>},
    {"arith.mulf", product<D>},
    {"arith.divf", real2<D, D::div>},
    {"arith.negf", real1<D, D::neg>},
    {"arith.maximumf", real2<D, D::max>},
    {"arith.minimumf", real2<D, D::min>},
    {"arith.cmpf", compareReals<D>},
    {"arith.cmpi", compareInts<D>},
    {"arith.andi", truth2<D, D::logicalAnd>},
    {"arith.ori", truth2<D, D::logicalOr>},
    {"arith.xori", truth2<D, D::logicalXor>},
    {"arith.select", select<D>},
    {"arith.sitofp", intToReal<D>},
    {"arith.addi", int2<D, addInts>},
    {"arith.subi", int2<D, subInts>},
    {"arith.muli", int2<D, mulInts>},
    {"arith.maxsi", int2<D, maxInts>},
    {"arith.minsi", int2<D, minInts>},
    {"math.absf", real1<D, D::abs>},
    {"math.floor", real1<D, D::floor>},
    {"math.ceil", real1<D, D::ceil>},
    {"math.roundeven", real1<D, D::round>},
    {"math.trunc", real1<D, D::trunc>},
    {"math.sqrt", real1<D, D::sqrt>},
    {"math.fma", real3<D, D::fma>},
    {"math.fpowi", power<D>},
    {"math.isfinite", test<D, D::isFinite>},
    {"math.isnan", test<D, D::isNan>},
    {"math.rsqrt", real1<D, F::rsqrt>},
    {"math.exp", real1<D, F::exp>},
    {"math.exp2", real1<D, F::exp2>},
    {"math.expm1", real1<D, F::expm1>},
    {"math.log", real1<D, F::log>},
    {"math.log2", real1<D, F::log2>},
    {"math.log1p", real1<D, F::log1p>},
    {"math.tanh", real1<D, F::tanh>},
    {"math.erf", real1<D, F::erf>},
    {"math.sin", real1<D, F::sin>},
    {"math.cos", real1<D, F::cos>},
};

} // namespace fw::evaluator
