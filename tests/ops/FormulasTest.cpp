// The optimizers, three steps in f64, against their papers' formulas written down in C++.
#include "tests/cases/Harness.h"

#include <algorithm>
#include <functional>

namespace {

using cases::Kernel;

constexpr int kElements = 37, kSteps = 3;

/// One element: the parameter and its states by name.
using Element = std::map<std::string, double>;
/// Changes an element by gradient `g` at step `t`.
using Formula = std::function<void(Element &element, double g, int t)>;

double gradient(int i, int t) { return std::cos(0.3 * i - t) * (i % 5 ? 1 : 1e-3); }

/// The launches and the formula agree to a few roundings of f64. Both start from the same numbers.
void expectFormula(const char *op, const std::map<std::string, std::string> &options,
                   Kernel::Scalars scalars, const std::vector<std::string> &states, bool hasStep,
                   const Formula &formula) {
  std::map<std::string, std::string> dtypes = {{"param", "f64"}, {"grad", "f64"}};
  if (!states.empty())
    dtypes["state"] = "f64";
  Kernel kernel(op, options, dtypes);
  std::map<std::string, std::vector<double>> data;
  std::vector<Element> expected(kElements);
  for (int i = 0; i < kElements; ++i) {
    data["p"].push_back(expected[i]["p"] = std::sin(0.7 * i));
    for (const std::string &state : states)
      data[state].push_back(0);
  }
  for (int t = 1; t <= kSteps; ++t) {
    data["g"].clear();
    for (int i = 0; i < kElements; ++i) {
      data["g"].push_back(gradient(i, t));
      formula(expected[i], gradient(i, t), t);
    }
    Kernel::Entry entry = {kElements, {}};
    for (auto &[name, values] : data)
      entry.data[name] = values.data();
    if (hasStep)
      scalars["t"] = {double(t)};
    kernel.launch({entry}, scalars);
  }
  for (int i = 0; i < kElements; ++i)
    for (auto &[name, value] : expected[i])
      EXPECT_NEAR(data[name][i], value, 1e-14 * std::max(1.0, std::abs(value)))
          << op << ": " << name << " of element " << i;
}

double &state(Element &element, const char *name) { return element[name]; }

/// Climbs along `g` instead of going down.
Formula maximized(const Formula &formula) {
  return [=](Element &e, double g, int t) { formula(e, -g, t); };
}

/// Kingma & Ba 2015, algorithm 1; `decoupled` decay: Loshchilov & Hutter 2019, algorithm 2,
/// line 12.
Formula adam(double decay, bool decoupled, bool amsgrad = false) {
  return [=](Element &e, double g, int t) {
    const double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
    double &p = state(e, "p"), &m = state(e, "m"), &v = state(e, "v");
    if (!decoupled)
      g += decay * p;
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    double second = v;
    if (amsgrad)
      second = state(e, "vmax") = std::max(state(e, "vmax"), v);
    double mHat = m / (1 - std::pow(beta1, t)), vHat = second / (1 - std::pow(beta2, t));
    p -= lr * (mHat / (std::sqrt(vHat) + eps) + (decoupled ? decay * p : 0));
  };
}

TEST(Formulas, adam) {
  expectFormula("adam", {}, {{"weight_decay", {0.1}}}, {"m", "v"}, true, adam(0.1, false));
  expectFormula("adam", {{"decay", "decoupled"}}, {{"weight_decay", {0.1}}}, {"m", "v"}, true,
                adam(0.1, true));
  expectFormula("adam", {{"amsgrad", "true"}}, {}, {"m", "v", "vmax"}, true, adam(0, false, true));
}

TEST(Formulas, adamw) {
  expectFormula("adamw", {}, {}, {"m", "v"}, true, adam(0.01, true));
  expectFormula("adamw", {{"decay", "l2"}}, {}, {"m", "v"}, true, adam(0.01, false));
  expectFormula("adamw", {{"amsgrad", "true"}}, {}, {"m", "v", "vmax"}, true,
                adam(0.01, true, true));
  expectFormula("adamw", {{"maximize", "true"}}, {}, {"m", "v"}, true, maximized(adam(0.01, true)));
}

/// Sutskever, Martens, Dahl & Hinton 2013, with the learning rate outside of the buffer.
Formula sgd(double mu, double dampening, double decay, bool nesterov) {
  return [=](Element &e, double g, int t) {
    const double lr = 1e-3;
    double &p = state(e, "p");
    double d = g + decay * p, u = d;
    if (mu > 0) {
      double &b = state(e, "b");
      b = t == 1 ? d : mu * b + (1 - dampening) * d;
      u = nesterov ? d + mu * b : b;
    }
    p -= lr * u;
  };
}

TEST(Formulas, sgd) {
  expectFormula("sgd", {}, {{"weight_decay", {0.1}}}, {}, false, sgd(0, 0, 0.1, false));
  expectFormula("sgd", {{"momentum", "classical"}}, {{"dampening", {0.25}}}, {"b"}, true,
                sgd(0.9, 0.25, 0, false));
  expectFormula("sgd", {{"momentum", "nesterov"}}, {}, {"b"}, true, sgd(0.9, 0, 0, true));
}

/// Chen et al. 2023, algorithm 2.
void lion(Element &e, double g, int) {
  const double lr = 1e-4, beta1 = 0.9, beta2 = 0.99;
  double &p = state(e, "p"), &m = state(e, "m");
  double c = beta1 * m + (1 - beta1) * g;
  p -= lr * ((c > 0) - (c < 0) + 0.1 * p);
  m = beta2 * m + (1 - beta2) * g;
}

TEST(Formulas, lion) {
  expectFormula("lion", {}, {{"weight_decay", {0.1}}}, {"m"}, false, lion);
  expectFormula("lion", {{"maximize", "true"}}, {{"weight_decay", {0.1}}}, {"m"}, false,
                maximized(lion));
}

} // namespace
