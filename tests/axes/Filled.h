// Tensors for the shipped ops over rows.
#pragma once

#include "ops/Profiles.h"
#include "tests/axes/Evaluated.h"

namespace axes {

/// Gives every operand a shape by its scope, and numbers by its name.
inline void fill(Evaluated &op, const std::map<std::string, int64_t> &lengths,
                 const std::vector<std::string> &header) {
  double phase = 0;
  for (const std::string &name : op.names()) {
    Shape shape;
    std::string scope = op.scopeOf(name), word;
    for (char c : scope + ",")
      if (std::isalnum(c) || c == '_') {
        word += c;
      } else if (!word.empty()) {
        if (word == "tensor" || word == "all")
          ;
        else if (word == "element")
          for (const std::string &axis : header)
            shape.push_back(lengths.at(axis));
        else
          shape.push_back(word == "1" ? 1 : lengths.at(word));
        word.clear();
      }
    Numbers numbers = wavy(count(shape), phase += 0.7, 2);
    if (op.dtypeOf(name) == "bool")
      for (size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = i % 5 != 1 && i % 7 != 3;
    if (name == "rstd" || name == "scale")
      for (double &each : numbers)
        each = std::abs(each) + 0.5;
    op.set(name, shape, op.isWritten(name) ? Numbers() : numbers);
  }
}

inline Choices choicesOf(const fw::Profile &profile) {
  Choices out;
  for (auto &[name, value] : profile.options)
    out.options[name] = value;
  for (auto &[name, dtype] : profile.dtypes)
    out.dtypes[name] = dtype;
  return out;
}

/// Whether an op is over [batch, head, query; key], else over rows.
inline bool hasHeads(const std::string &op) {
  return op == "masked_softmax" || op == "biased_softmax" || op == "causal_softmax" ||
         op == "window_softmax" || op == "alibi_softmax";
}

/// Rows of `n` elements, and scalars that have no default or a dull one.
inline void fillShipped(Evaluated &op, const fw::Profile &profile, int64_t n) {
  if (hasHeads(profile.op))
    fill(op, {{"batch", 2}, {"head", 3}, {"query", 5}, {"key", n}},
         {"batch", "head", "query", "key"});
  else
    fill(op, {{"row", 5}, {"column", n}}, {"row", "column"});
  if (profile.op == "window_softmax")
    op.scalar("window", 5);
  if (profile.op.starts_with("dropout"))
    op.scalar("seed", 42).scalar("offset", 3).scalar("rate", 0.25);
}

} // namespace axes
