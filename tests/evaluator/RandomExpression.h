// Random expressions over f32 or f64: as text, and computed by the machine.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace fw::evaluator::test {

template <class F> F maxOf(F a, F b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

/// A kind of node: its text over X, Y, Z and its value.
template <class F> struct Kind {
  const char *op, *operands;
  F (*value)(F, F, F);
};
template <class F>
inline const Kind<F> kKinds[] = {
    {"arith.addf", "X, Y", [](F a, F b, F) { return a + b; }},
    {"arith.subf", "X, Y", [](F a, F b, F) { return a - b; }},
    {"arith.mulf", "X, Y", [](F a, F b, F) { return a * b; }},
    {"arith.divf", "X, Y", [](F a, F b, F) { return a / b; }},
    {"math.fma", "X, Y, Z", [](F a, F b, F c) { return std::fma(a, b, c); }},
    {"arith.mulf", "X, X", [](F a, F, F) { return a * a; }},
    {"math.sqrt", "X", [](F a, F, F) { return std::sqrt(a); }},
    {"math.absf", "X", [](F a, F, F) { return std::abs(a); }},
    {"arith.negf", "X", [](F a, F, F) { return -a; }},
    {"arith.maximumf", "X, Y", [](F a, F b, F) { return maxOf(a, b); }},
    {"arith.minimumf", "X, Y", [](F a, F b, F) { return -maxOf(-a, -b); }},
    {"math.floor", "X", [](F a, F, F) { return std::floor(a); }},
    {"math.roundeven", "X", [](F a, F, F) { return std::nearbyint(a); }},
    {"fuse.sign", "X", [](F a, F, F) { return a > 0   ? F(1)
                                              : a < 0 ? F(-1)
                                                      : a; }},
    {"select", "X, Y, Z", [](F a, F b, F c) { return a < b ? c : a; }},
};
/// The first of them have a slope everywhere.
inline constexpr size_t SMOOTH = 6;

/// Nodes after the three leaves a, b, c; the last one is the result y.
template <class F> class Expression {
public:
  Expression(std::mt19937_64 &random, size_t size, size_t kinds = std::size(kKinds<F>)) {
    for (size_t i = 0; i < size; ++i) {
      auto earlier = [&] { // likely a late one, so that errors add up
        const size_t n = i + 3;
        return random() % 2 ? n - 1 - random() % std::min<size_t>(n, 3) : random() % n;
      };
      nodes.push_back({&kKinds<F>[random() % kinds], earlier(), earlier(), earlier()});
    }
  }

  std::string text() const {
    const std::string type = sizeof(F) == 8 ? " : f64\n" : " : f32\n";
    std::string out;
    for (const Node &node : nodes) {
      const std::string result = name(3 + (&node - nodes.data()));
      if (node.kind->op == std::string_view("select"))
        out += result + "_t = arith.cmpf olt, " + name(node.x) + ", " + name(node.y) + type +
               result + " = arith.select " + result + "_t, " + name(node.z) + ", " + name(node.x) +
               type;
      else
        out += result + " = " + node.kind->op + " " + operands(node) + type;
    }
    return out;
  }

  /// By the machine; `contract` fuses every sum whose left operand is a product.
  F value(F a, F b, F c, bool contract) const {
    std::vector<F> v = {a, b, c};
    for (const Node &node : nodes) {
      const bool adds = node.kind == &kKinds<F>[0], subtracts = node.kind == &kKinds<F>[1];
      const Node *left = node.x >= 3 ? &nodes[node.x - 3] : nullptr;
      if (contract && (adds || subtracts) && left && left->kind == &kKinds<F>[2])
        v.push_back(std::fma(v[left->x], v[left->y], adds ? v[node.y] : -v[node.y]));
      else
        v.push_back(node.kind->value(v[node.x], v[node.y], v[node.z]));
    }
    return v.back();
  }

private:
  struct Node {
    const Kind<F> *kind;
    size_t x, y, z;
  };

  std::string name(size_t v) const {
    if (v == nodes.size() + 2)
      return "%y";
    return v < 3 ? std::string("%") + "abc"[v] : "%v" + std::to_string(v);
  }
  std::string operands(const Node &node) const {
    std::string out;
    for (char c : std::string_view(node.kind->operands))
      out += c == 'X'   ? name(node.x)
             : c == 'Y' ? name(node.y)
             : c == 'Z' ? name(node.z)
                        : std::string(1, c);
    return out;
  }

  std::vector<Node> nodes;
};

/// Any number: often near 1, else special, subnormal, huge or of random bits.
template <class F> F drawAny(std::mt19937_64 &random) {
  using Word = std::conditional_t<sizeof(F) == 8, uint64_t, uint32_t>;
  using Limits = std::numeric_limits<F>;
  switch (random() % 12) {
  case 0:
    return std::bit_cast<F>(Word(random()));
  case 1:
    return Limits::denorm_min() * F(uint64_t(1) << random() % 20);
  case 2:
    return Limits::max();
  case 3:
    return random() % 2 ? F(0) : -F(0);
  case 4:
    return random() % 8 ? F(1) : Limits::infinity();
  case 5:
    return F(int(random() % 9)) / 2 - 2;
  default:
    return std::normal_distribution<F>()(random);
  }
}

} // namespace fw::evaluator::test
