// What double loops make of a row of the sample ops, within the rounding errors that the kernels'
// order of sums allows. Sums of f64 kernels are checked by longer ones.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/rows/RowsCase.h"

namespace fw::rows {

using Wide = long double;

/// Of roundings on the way of one element through the sums of a thread and of the trees.
double RowsCase::sumError(size_t columns) const {
  const double n = static_cast<double>(columns);
  return (n / std::min<double>(n, kernel.threads) + 40) * unit();
}

void RowsCase::expectRow(const Tensor &tensor, size_t row, Outputs &out) const {
  if (spec.op == "rms_norm" || spec.op == "layer_norm")
    expectNorm(tensor, row, out);
  else if (spec.op == "softmax" || spec.op == "biased_softmax")
    expectSoftmax(tensor, row, out);
  else if (spec.op == "centred")
    expectCentred(tensor, row, out);
  else if (spec.op == "affine")
    expectAffine(tensor, row, out);
  else
    expectGradient(tensor, row, out);
}

void RowsCase::expectNorm(const Tensor &tensor, size_t row, Outputs &out) const {
  const size_t n = tensor.shape.columns;
  const auto &operands = tensor.operands;
  const bool isLayer = spec.op == "layer_norm";
  const double unit = this->unit(), ofSums = sumError(n);
  Wide mean = 0, meanAbs = 0, squares = 0, spread = 0;
  for (size_t i = 0; i < n && isLayer; ++i) {
    const Wide x = operands[0].get(row, i);
    mean += x / n, meanAbs += std::abs(x) / n;
  }
  const Wide meanError = isLayer ? meanAbs * (ofSums + 2 * unit) : 0;
  for (size_t i = 0; i < n; ++i) {
    const Wide d = operands[0].get(row, i) - mean;
    squares += d * d / n;
    spread += 2 * std::abs(d) * (meanError + std::abs(d) * unit) / n + meanError * meanError / n;
  }
  const Wide variance = squares + eps, root = 1 / std::sqrt(variance);
  const Wide relative = (squares * ofSums + spread) / variance / 2 + 6 * unit;
  std::vector<Expected> main(n);
  for (size_t i = 0; i < n; ++i) {
    const Wide w = operands[1].get(0, i), b = isLayer ? operands[2].get(0, i) : 0;
    const Wide d = operands[0].get(row, i) - mean, y = d * root * w + b;
    main[i] = {double(y), double(std::abs(d * root * w) * (relative + 4 * unit) +
                                 meanError * root * std::abs(w) * 2 + std::abs(y) * unit)};
  }
  out.push_back(main);
  if (isLayer)
    out.push_back({{double(mean), double(meanError)}});
  out.push_back({{double(root), double(root * relative)}});
}

void RowsCase::expectSoftmax(const Tensor &tensor, size_t row, Outputs &out) const {
  const size_t n = tensor.shape.columns;
  const auto &operands = tensor.operands;
  const double unit = this->unit();
  const size_t last = spec.causal ? row % n + 1 : n;
  const bool isBiased = spec.op == "biased_softmax";
  const size_t query = row % sizesOf(tensor.shape)[2];
  // What the exponential is of, and the magnitudes that its roundings belong to.
  std::vector<Wide> score(n), size(n);
  Wide max = -std::numeric_limits<Wide>::infinity(), sum = 0, spread = 0;
  for (size_t i = 0; i < last; ++i) {
    const Wide x = operands[0].get(row, i) * Wide(scale);
    const Wide bias = isBiased ? operands[1].get(row, i) : 0;
    const Wide far = isBiased ? operands[2].get(row, 0) * std::abs(Wide(query) - Wide(i)) : 0;
    score[i] = x + bias - far;
    size[i] = 3 * (std::abs(x) + std::abs(bias) + std::abs(far));
    max = std::max(max, score[i]);
  }
  // An argument is a rounded score and a rounded difference; exp is within its own bound.
  const auto error = [&](size_t i) -> Wide {
    const Wide own = spec.fast ? 8 + 4 * std::abs(score[i] - max) : 4;
    return std::isfinite(score[i]) ? unit * (size[i] + 3 * std::abs(max) + own) : 0;
  };
  for (size_t i = 0; i < last; ++i) {
    const Wide e = std::exp(score[i] - max);
    sum += e, spread += e * error(i);
  }
  std::vector<Expected> main(n);
  for (size_t i = 0; i < n; ++i) {
    const Wide y = i < last ? std::exp(score[i] - max) / sum : 0;
    main[i] = {double(y),
               i < last ? double(y * (error(i) + spread / sum + sumError(n) + 40 * unit)) : 0};
  }
  out.push_back(main);
}

void RowsCase::expectCentred(const Tensor &tensor, size_t row, Outputs &out) const {
  const size_t n = tensor.shape.columns;
  const Operand &x = tensor.operands[0];
  const double unit = this->unit();
  Wide mean = 0, meanAbs = 0, size = 0;
  for (size_t i = 0; i < n; ++i)
    mean += Wide(x.get(row, i)) / n, meanAbs += std::abs(Wide(x.get(row, i))) / n;
  for (size_t i = 0; i < n; ++i)
    size = std::max(size, std::abs(x.get(row, i) - mean));
  // Both differences are off by the mean's error and a rounding.
  const Wide meanError = meanAbs * (sumError(n) + 2 * unit);
  std::vector<Expected> main(n);
  for (size_t i = 0; i < n; ++i) {
    const Wide d = x.get(row, i) - mean, y = scale * d / size;
    const Wide both = (meanError + unit * size) * (1 + std::abs(d) / size) / size;
    main[i] = {double(y), double(scale * both + std::abs(y) * 4 * unit)};
  }
  out.push_back(main);
}

void RowsCase::expectGradient(const Tensor &tensor, size_t row, Outputs &out) const {
  const size_t n = tensor.shape.columns;
  const auto &operands = tensor.operands;
  const bool isNorm = spec.op == "rms_norm_backward";
  const double unit = this->unit(), ofSums = sumError(n);
  std::vector<Wide> x(n), other(n);
  Wide dot = 0, size = 0;
  for (size_t i = 0; i < n; ++i) {
    x[i] = operands[0].get(row, i);
    other[i] = operands[1].get(row, i) * (isNorm ? Wide(operands[2].get(0, i)) : 1);
    dot += x[i] * other[i], size += std::abs(x[i] * other[i]);
  }
  std::vector<Expected> main(n);
  for (size_t i = 0; i < n && isNorm; ++i) {
    const Wide rstd = operands[3].get(row, 0), by = x[i] * rstd * rstd / n;
    main[i] = {double(scale * rstd * (other[i] - by * dot)),
               double(scale * std::abs(rstd) *
                      (std::abs(by) * size * (ofSums + 8 * unit) + 4 * unit * std::abs(other[i])))};
  }
  for (size_t i = 0; i < n && !isNorm; ++i)
    main[i] = {double(scale * x[i] * (other[i] - dot)),
               double(std::abs(scale * x[i]) *
                      (size * ofSums + 4 * unit * (std::abs(other[i]) + std::abs(dot))))};
  out.push_back(main);
}

void RowsCase::expectAffine(const Tensor &tensor, size_t row, Outputs &out) const {
  const auto &operands = tensor.operands;
  std::vector<Expected> main(tensor.shape.columns);
  for (size_t i = 0; i < main.size(); ++i) {
    const Wide shift = scale * Wide(operands[2].get(row, 0));
    const Wide y = Wide(operands[0].get(row, i)) * operands[1].get(0, i) + shift;
    main[i] = {double(y), double((std::abs(y) + std::abs(shift)) * unit())};
  }
  out.push_back(main);
}

} // namespace fw::rows
