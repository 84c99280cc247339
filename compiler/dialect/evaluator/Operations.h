// The table of operations: op name -> how the op is planned. Each planner reads the op's attributes
// once and returns the closure that runs for every element.
#pragma once

#include "compiler/dialect/evaluator/Bounds.h"
#include "compiler/dialect/evaluator/BoundsFunctions.h"
#include "compiler/dialect/evaluator/MachineFunctions.h"
#include "compiler/dialect/evaluator/Plan.h"
#include "compiler/dialect/evaluator/Wholes.h"
#include "templates/vocab/random.h"

#include <limits>
#include <numeric>

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
/// An exponential, exact or where the text lets it be so the hardware's.
template <class D, class Op, auto Exact, auto Fast> Action<D> exponential(const Site &site) {
  const bool isFast = mlir::arith::bitEnumContainsAll(mlir::cast<Op>(site.op).getFastmath(),
                                                      mlir::arith::FastMathFlags::afn);
  return isFast ? real1<D, Fast>(site) : real1<D, Exact>(site);
}
template <class D> Action<D> intToReal(const Site &site) {
  const typename D::Format format(dtypeOf(site.type()));
  if (site.isElementSide)
    return [=, r = site.result(), a = site.operand(0)](Frame<D> &frame) {
      frame.reals[r] = D::fromWhole(frame.wholes[a], format);
    };
  return [=, r = site.result(), a = site.operand(0)](Frame<D> &frame) {
    frame.reals[r] = D::fromInt(frame.ints[a], format);
  };
}

/// Ints of the scalar program are whole numbers of f64, those of elements wrap.
template <class D, auto F, auto G> Action<D> int2(const Site &site) {
  const unsigned r = site.result(), a = site.operand(0), b = site.operand(1);
  if (site.isElementSide)
    return [=](Frame<D> &frame) { frame.wholes[r] = G(frame.wholes[a], frame.wholes[b]); };
  return [=](Frame<D> &frame) { frame.ints[r] = F(frame.ints[a], frame.ints[b]); };
}
/// The same operation on both.
template <class D, auto G> Action<D> whole2(const Site &site) {
  return int2<D, wholes::asNumbers<G>, G>(site);
}

//===-- Truth ---------------------------------------------------------------------------------//

template <class D, auto F> Action<D> test(const Site &site) {
  const typename D::Format format(dtypeOf(site.op->getOperand(0).getType()));
  return [=, r = site.result(), a = site.operand(0)](Frame<D> &frame) {
    frame.truths[r] = F(frame.reals[a], format);
  };
}
/// Of bools, or bit by bit of ints.
template <class D, auto F, auto G> Action<D> truth2(const Site &site) {
  if (!site.type().isInteger(1))
    return whole2<D, G>(site);
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
  if (site.isElementSide)
    return [=, r = site.result(), a = site.operand(0), b = site.operand(1)](Frame<D> &frame) {
      frame.truths[r] = D::decide(relation(frame.wholes[a], frame.wholes[b]) & accepted);
    };
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
    return [r, x = integer.getInt()](Frame<D> &f) {
      f.ints[r] = static_cast<double>(x);
      f.wholes[r] = x;
    };
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
  return [r, a](Frame<D> &f) { f.wholes[r] = wholes::fromNumber(f.ints[a]); };
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

/// Sets a value of the type of `site` to the number of storage `x`, or to what stands for none.
template <class D> std::function<void(Frame<D> &, double)> setter(const Site &site) {
  const unsigned r = site.result();
  if (mlir::isa<mlir::FloatType>(site.type()))
    return [r, to = &dtypeOf(site.type())](Frame<D> &f, double x) {
      f.reals[r] = D::convert(D::constant(x), *to); // f64 may meet f32 arithmetic
    };
  if (site.type().isInteger(1))
    return [r](Frame<D> &f, double x) { f.truths[r] = D::decide(x != 0); };
  return [r](Frame<D> &f, double x) {
    f.ints[r] = x;
    f.wholes[r] = wholes::fromNumber(x);
  };
}

template <class D> Action<D> read(const Site &site) {
  const llvm::StringRef name = mlir::cast<fuse::ReadOp>(site.op).getOperand();
  return [set = setter<D>(site), k = site.operandNumber(name),
          axes = site.axesOfOperand(name)](Frame<D> &f) {
    if (f.inputs[k])
      set(f, f.inputs[k][f.placeOn(axes)]);
  };
}

/// Outside of the axis there is no number, no int but 0, and nothing is true.
template <class D> Action<D> gather(const Site &site) {
  auto op = mlir::cast<fuse::GatherOp>(site.op);
  const bool isReal = mlir::isa<mlir::FloatType>(site.type());
  const double outside = isReal ? std::numeric_limits<double>::quiet_NaN() : 0;
  return [set = setter<D>(site), k = site.operandNumber(op.getOperand()), i = site.operand(0),
          axes = site.axesOfOperand(op.getOperand()), axis = site.axisNumber(op.getAxis()),
          outside](Frame<D> &f) {
    const int64_t place = f.wholes[i];
    if (place < 0 || size_t(place) >= f.extents[axis])
      return set(f, outside);
    const size_t here = f.index[axis];
    f.index[axis] = size_t(place);
    set(f, f.inputs[k][f.placeOn(axes)]);
    f.index[axis] = here;
  };
}

template <class D> Action<D> write(const Site &site) {
  const mlir::Type type = site.op->getOperand(0).getType();
  const llvm::StringRef name = mlir::cast<fuse::WriteOp>(site.op).getOperand();
  const unsigned a = site.operand(0), k = site.operandNumber(name);
  const Axes axes = site.axesOfOperand(name);
  if (mlir::isa<mlir::FloatType>(type))
    return [=, from = &dtypeOf(type), to = &site.operandDtype(name)](Frame<D> &f) {
      if (f.outputs[k])
        f.outputs[k][f.placeOn(axes)] = D::store(f.reals[a], *from, *to);
    };
  const llvm::StringRef dtype = site.dtypeName(name);
  const IntDtype *to = findIntDtype({dtype.data(), dtype.size()});
  if (type.isInteger(1))
    return [=](Frame<D> &f) {
      if (f.outputs[k])
        f.outputs[k][f.placeOn(axes)] = D::storeTruth(f.truths[a], *to);
    };
  return [=, isElement = site.isElementSide](Frame<D> &f) {
    if (f.outputs[k])
      f.outputs[k][f.placeOn(axes)] =
          D::storeWhole(isElement ? f.wholes[a] : wholes::fromNumber(f.ints[a]), *to);
  };
}

template <class D> Action<D> size(const Site &site) {
  const fuse::ScopeAttr of = mlir::cast<fuse::SizeOp>(site.op).getOf();
  if (of.getAxes()) {
    const unsigned axis = site.axisNumber(mlir::cast<mlir::StringAttr>(of.getAxes()[0]).getValue());
    return [r = site.result(), axis](Frame<D> &f) {
      f.ints[r] = static_cast<double>(f.extents[axis]);
    };
  }
  const bool ofTensor = of.getLevel() == fuse::ScopeLevel::Tensor;
  return [r = site.result(), ofTensor](Frame<D> &f) {
    f.ints[r] = static_cast<double>(ofTensor ? f.tensorSize : f.allSize);
  };
}

template <class D> Action<D> index(const Site &site) {
  if (auto axis = mlir::cast<fuse::IndexOp>(site.op).getAxis())
    return [r = site.result(), number = site.axisNumber(*axis)](Frame<D> &f) {
      f.wholes[r] = int64_t(f.index[number]);
    };
  return [r = site.result()](Frame<D> &f) { f.ints[r] = static_cast<double>(f.tensor); };
}

template <class D> Action<D> bits(const Site &site) {
  Axes header(site.headerAxes);
  std::iota(header.begin(), header.end(), 0u);
  return [r = site.result(), seed = site.operand(0), offset = site.operand(1), header,
          draw = uint32_t(mlir::cast<fuse::BitsOp>(site.op).getDraw())](Frame<D> &f) {
    f.wholes[r] =
        drawBits(uint64_t(f.wholes[seed]), f.placeOn(header), uint32_t(f.wholes[offset]), draw);
  };
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
    {"fuse.gather", gather<D>},
    {"fuse.bits", bits<D>},
    {"fuse.div", whole2<D, wholes::div>},
    {"fuse.mod", whole2<D, wholes::mod>},
    {"fuse.shift_left", whole2<D, wholes::shiftLeft>},
    {"fuse.shift_right", whole2<D, wholes::shiftRight>},
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
    {"arith.andi", truth2<D, D::logicalAnd, wholes::bitAnd>},
    {"arith.ori", truth2<D, D::logicalOr, wholes::bitOr>},
    {"arith.xori", truth2<D, D::logicalXor, wholes::bitXor>},
    {"arith.select", select<D>},
    {"arith.sitofp", intToReal<D>},
    {"arith.addi", int2<D, numbers::add, wholes::add>},
    {"arith.subi", int2<D, numbers::sub, wholes::sub>},
    {"arith.muli", int2<D, numbers::mul, wholes::mul>},
    {"arith.maxsi", int2<D, numbers::max, wholes::max>},
    {"arith.minsi", int2<D, numbers::min, wholes::min>},
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
    {"math.exp", exponential<D, mlir::math::ExpOp, F::exp, F::fastExp>},
    {"math.exp2", exponential<D, mlir::math::Exp2Op, F::exp2, F::fastExp2>},
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
