// sgd and adamw: bits against a loop by hand, bounds against the same loop, the cases of Adam.
#include "compiler/dialect/evaluator/Compare.h"
#include "compiler/dialect/evaluator/Storage.h"
#include "tests/evaluator/TestModule.h"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <random>

namespace fw::evaluator::test {
namespace {

std::string operand(const char *name, const char *role, const std::string &dtype) {
  return std::string("#fuse.operand<name = \"") + name + "\", role = " + role + ", dtype = \"" +
         dtype + "\", scope = <element>>";
}
std::string hyper(const char *name, const char *value) {
  return std::string("#fuse.hyper<name = \"") + name + "\", value = " + value + " : f64>";
}

/// p = p - lr*g, contracted where `fused`.
std::string sgdModule(bool fused) {
  const std::string update = fused ? R"(%n = arith.negf %lr : f32
      %y = math.fma %n, %g, %p : f32)"
                                   : R"(%s = arith.mulf %lr, %g : f32
      %y = arith.subf %p, %s : f32)";
  return "fuse.op @sgd over <elements> operands [" + operand("p", "param", "f32") + ", " +
         operand("g", "grad", "f32") + "] scalars [" + hyper("lr", "0.1") + R"(] {
      %h = fuse.scalar "lr" : f64
      %lr = fuse.uniform %h : f64 to f32
      %p = fuse.read "p" : f32
      %g = fuse.read "g" : f32
      )" +
         update + R"(
      fuse.write "p", %y : f32
    })";
}

/// adamw with the fma that the pass makes (`fused`) or as lowering gives it. Scalars: t lr beta1
/// beta2 eps weight_decay.
std::string adamwModule(bool fused, const std::string &paramDtype = "f32", bool amsgrad = false) {
  auto sum = [&](const std::string &y, const std::string &a, const std::string &b,
                 const std::string &c) { // y = a*b + c
    return fused ? y + " = math.fma " + a + ", " + b + ", " + c + " : f32\n"
                 : y + "_p = arith.mulf " + a + ", " + b + " : f32\n" + y + " = arith.addf " + y +
                       "_p, " + c + " : f32\n";
  };
  std::string text = "fuse.op @adamw over <elements> operands [" +
                     operand("p", "param", paramDtype) + ", " + operand("g", "grad", "f32") + ", " +
                     operand("m", "state", "f32") + ", " + operand("v", "state", "f32") +
                     (amsgrad ? ", " + operand("vmax", "state", "f32") : "") +
                     "] scalars [#fuse.hyper<name = \"t\", kind = int>, " + hyper("lr", "0.001") +
                     ", " + hyper("beta1", "0.9") + ", " + hyper("beta2", "0.999") + ", " +
                     hyper("eps", "1.0e-8") + ", " + hyper("weight_decay", "0.01") + "] {\n";
  for (const char *name : {"lr", "beta1", "beta2", "eps", "weight_decay"})
    text += std::string("%h_") + name + " = fuse.scalar \"" + name + "\" : f64\n%" + name +
            " = fuse.uniform %h_" + name + " : f64 to f32\n";
  text += R"(%t = fuse.scalar "t" : i64
    %one = arith.constant 1.0 : f64
    %q1 = arith.subf %one, %h_beta1 : f64
    %u1 = fuse.uniform %q1 : f64 to f32
    %q2 = arith.subf %one, %h_beta2 : f64
    %u2 = fuse.uniform %q2 : f64 to f32
    %w1 = math.fpowi %h_beta1, %t : f64, i64
    %d1 = arith.subf %one, %w1 : f64
    %c1 = fuse.uniform %d1 : f64 to f32
    %w2 = math.fpowi %h_beta2, %t : f64, i64
    %d2 = arith.subf %one, %w2 : f64
    %c2 = fuse.uniform %d2 : f64 to f32
    %p = fuse.read "p" : f32
    %g = fuse.read "g" : f32
    %m0 = fuse.read "m" : f32
    %v0 = fuse.read "v" : f32
    %g1 = arith.mulf %u1, %g : f32
)" + sum("%m", "%beta1", "%m0", "%g1") +
          "fuse.write \"m\", %m : f32\n%gg = arith.mulf %g, %g : f32\n%g2 = arith.mulf %u2, %gg : "
          "f32\n" +
          sum("%v", "%beta2", "%v0", "%g2") + "fuse.write \"v\", %v : f32\n" +
          (amsgrad ? R"(%x0 = fuse.read "vmax" : f32
    %s = arith.maximumf %x0, %v : f32
    fuse.write "vmax", %s : f32
)"
                   : "%s = arith.maximumf %v, %v : f32\n") +
          R"(%mh = arith.divf %m, %c1 : f32
    %vh = arith.divf %s, %c2 : f32
    %r = math.sqrt %vh : f32
    %dn = arith.addf %r, %eps : f32
    %u = arith.divf %mh, %dn : f32
)" +
          (fused ? R"(%z = math.fma %weight_decay, %p, %u : f32
    %n = arith.negf %lr : f32
    %y = math.fma %n, %z, %p : f32
)"
                 : R"(%wp = arith.mulf %weight_decay, %p : f32
    %z = arith.addf %u, %wp : f32
    %lz = arith.mulf %lr, %z : f32
    %y = arith.subf %p, %lz : f32
)") + "fuse.write \"p\", %y : f32\n}\n";
  return text;
}

struct State {
  float p, g, m, v;
};

struct Hypers {
  int64_t t = 3;
  double lr = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weightDecay = 0.01;
  Tensor row() const { return {double(t), lr, beta1, beta2, eps, weightDecay}; }
};

double power(double x, int64_t n) {
  double result = 1;
  for (; n; n >>= 1, x *= x)
    if (n & 1)
      result *= x;
  return result;
}

/// By hand, in machine arithmetic. (-ffp-contract=off holds for the whole project.)
State adamwByHand(State s, const Hypers &h, bool fused) {
  auto sum = [&](float a, float b, float c) { return fused ? std::fma(a, b, c) : a * b + c; };
  const float lr = float(h.lr);
  s.m = sum(float(h.beta1), s.m, float(1 - h.beta1) * s.g);
  s.v = sum(float(h.beta2), s.v, float(1 - h.beta2) * (s.g * s.g));
  const float c1 = float(1 - power(h.beta1, h.t)), c2 = float(1 - power(h.beta2, h.t));
  const float u = s.m / c1 / (std::sqrt(s.v / c2) + float(h.eps));
  s.p = sum(-lr, sum(float(h.weightDecay), s.p, u), s.p);
  return s;
}

std::vector<State> randomStates(size_t n) {
  std::mt19937_64 random(7);
  std::normal_distribution<float> normal;
  auto draw = [&] { return std::ldexp(normal(random), -int(random() % 30)); };
  std::vector<State> states(n);
  for (State &s : states)
    s = {draw(), draw(), draw(), std::abs(draw())};
  return states;
}

std::map<std::string, Tensor> columns(const std::vector<State> &states) {
  std::map<std::string, Tensor> data;
  for (const State &s : states) {
    data["p"].push_back(s.p);
    data["g"].push_back(s.g);
    data["m"].push_back(s.m);
    data["v"].push_back(s.v);
  }
  return data;
}

uint64_t word(float x) { return std::bit_cast<uint32_t>(x); }

TEST(Optimizers, SgdBitsAreThoseOfALoop) {
  const std::vector<State> states = randomStates(5000);
  TestModule module(sgdModule(true));
  const Bits bits = *module.interpret(columns(states), {0.1});
  for (size_t i = 0; i < states.size(); ++i)
    ASSERT_EQ(bits.operands[0].tensors[0][i], word(std::fma(-0.1f, states[i].g, states[i].p)));
}

TEST(Optimizers, SgdBoundIsAFewUlpsWide) {
  const std::vector<State> states = randomStates(5000);
  TestModule module(sgdModule(false));
  const Evaluation evaluation = *module.evaluate(columns(states), {0.1});
  std::vector<uint64_t> fused, separate;
  for (const State &s : states) {
    fused.push_back(word(std::fma(-0.1f, s.g, s.p)));
    separate.push_back(word(s.p - 0.1f * s.g));
  }
  for (auto *words : {&fused, &separate}) {
    const Comparison comparison = compare(evaluation.operands[0], {*words});
    EXPECT_TRUE(comparison.ok()) << describe(comparison, *findDtype("f32"));
    EXPECT_GT(comparison.worst.ratio, 0.3);
  }
  for (size_t i = 0; i < states.size(); ++i) {
    const double size = std::abs(states[i].p) + std::abs(0.1 * states[i].g);
    ASSERT_LE(evaluation.operands[0].tensors[0][i].bound, 3 * 0x1p-24 * size);
  }
}

TEST(Optimizers, AdamwBitsAreThoseOfALoop) {
  const std::vector<State> states = randomStates(5000);
  for (int64_t t : {1, 2, 1000}) {
    Hypers hypers;
    hypers.t = t;
    TestModule module(adamwModule(true));
    const Bits bits = *module.interpret(columns(states), hypers.row());
    for (size_t i = 0; i < states.size(); ++i) {
      const State s = adamwByHand(states[i], hypers, true);
      ASSERT_EQ(bits.find("p")->tensors[0][i], word(s.p)) << i;
      ASSERT_EQ(bits.find("m")->tensors[0][i], word(s.m)) << i;
      ASSERT_EQ(bits.find("v")->tensors[0][i], word(s.v)) << i;
    }
  }
}

TEST(Optimizers, AdamwBoundHoldsBothFormsAndIsAFewUlpsWide) {
  const std::vector<State> states = randomStates(20000);
  const Hypers hypers;
  TestModule module(adamwModule(false));
  const auto start = std::chrono::steady_clock::now();
  const Evaluation evaluation = *module.evaluate(columns(states), hypers.row());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 10); // 20 000 elements take tens of milliseconds in a release build
  for (bool fused : {false, true}) {
    std::vector<uint64_t> p, m, v;
    for (const State &state : states) {
      const State s = adamwByHand(state, hypers, fused);
      p.push_back(word(s.p)), m.push_back(word(s.m)), v.push_back(word(s.v));
    }
    for (auto [name, words] : {std::pair("p", &p), std::pair("m", &m), std::pair("v", &v)}) {
      const Comparison comparison = compare(*evaluation.find(name), {*words});
      EXPECT_TRUE(comparison.ok()) << name << " " << describe(comparison, *findDtype("f32"));
      EXPECT_GT(comparison.worst.ratio, 0.2) << name;
    }
  }
  for (size_t i = 0; i < states.size(); ++i) {
    const Bound &bound = evaluation.find("v")->tensors[0][i];
    ASSERT_LE(bound.bound, 6 * 0x1p-24 * bound.value + 0x1p-140);
    ASSERT_FALSE(evaluation.find("p")->tensors[0][i].nan);
  }
}

TEST(Optimizers, AdamwFindsAWrongFormula) {
  const std::vector<State> states = randomStates(100);
  const Hypers hypers;
  Hypers wrong = hypers;
  wrong.t = hypers.t + 1;
  TestModule module(adamwModule(false));
  const Evaluation evaluation = *module.evaluate(columns(states), hypers.row());
  std::vector<uint64_t> words;
  for (const State &state : states)
    words.push_back(word(adamwByHand(state, wrong, false).p));
  EXPECT_GT(compare(*evaluation.find("p"), {words}).failures, 50u);
}

TEST(Optimizers, StorageOfABf16ParameterIsPartOfTheBound) {
  const std::vector<State> states = randomStates(1000);
  const Hypers hypers;
  std::vector<State> stored = states;
  for (State &s : stored)
    s.p = float(roundTo(*findDtype("bf16"), double(s.p)));
  TestModule module(adamwModule(false, "bf16"));
  const Evaluation evaluation = *module.evaluate(columns(stored), hypers.row());
  std::vector<uint64_t> words;
  for (const State &s : stored)
    words.push_back(encode(*findDtype("bf16"), double(adamwByHand(s, hypers, true).p)));
  const Comparison comparison = compare(*evaluation.find("p"), {words});
  EXPECT_TRUE(comparison.ok()) << describe(comparison, *findDtype("bf16"));
  for (size_t i = 0; i < stored.size(); ++i) {
    const Bound &bound = evaluation.find("p")->tensors[0][i];
    ASSERT_LE(bound.bound, 0x1.1p-8 * std::abs(bound.value) + 1e-6);
  }
}

TEST(Optimizers, A03_TheStoredMaximumOfVStays) {
  const float grads[] = {1, 0, 0, 0.1f};
  const double expected[] = {0.5, 0.25, 0.125, 0.0675};
  TestModule module(adamwModule(true, "f32", true));
  double p = 0, m = 0, v = 0, vmax = 0;
  for (int i = 0; i < 4; ++i) {
    const Bits bits =
        *module.interpret({{"p", {p}}, {"g", {grads[i]}}, {"m", {m}}, {"v", {v}}, {"vmax", {vmax}}},
                          {double(i + 1), 0.1, 0, 0.5, 1e-8, 0});
    auto next = [&](const char *name) {
      return decode(*findDtype("f32"), bits.find(name)->tensors[0][0]);
    };
    p = next("p"), m = next("m"), v = next("v"), vmax = next("vmax");
    EXPECT_NEAR(v, expected[i], 1e-8);
    EXPECT_EQ(vmax, 0.5);
  }
}

TEST(Optimizers, A05_EpsIsAddedAfterTheCorrectedRoot) {
  TestModule module(adamwModule(false));
  const Evaluation evaluation = *module.evaluate({{"p", {0}}, {"g", {1}}, {"m", {0}}, {"v", {0}}},
                                                 {1, 0.1, 0.9, 0.999, 1, 0});
  const Bound &bound = evaluation.find("p")->tensors[0][0];
  EXPECT_NEAR(bound.value, -0.05, 1e-8);
  EXPECT_LT(bound.bound, 10 * 0x1p-24 * 0.05);
}

TEST(Optimizers, A07_ALearningRateOfZeroLeavesPBitIdentical) {
  TestModule separate(adamwModule(false)), fused(adamwModule(true));
  const std::map<std::string, Tensor> data = {{"p", {double(0.1f), -3, 1e-42f, -0.0}},
                                              {"g", {0, 1, 0, 0}},
                                              {"m", {0, 0.5, 0, 0}},
                                              {"v", {0, 0.25, 0, 0}}};
  const Tensor scalars = {1, 0, 0.9, 0.999, 1e-8, 0};
  const Evaluation evaluation = *separate.evaluate(data, scalars);
  const Bits bits = *fused.interpret(data, scalars);
  for (size_t i = 0; i < 4; ++i) {
    const Bound &bound = evaluation.find("p")->tensors[0][i];
    EXPECT_EQ(bound.value, data.at("p")[i]);
    EXPECT_EQ(bound.bound, 0);
    EXPECT_FALSE(bound.nan);
    EXPECT_EQ(decode(*findDtype("f32"), bits.find("p")->tensors[0][i]), data.at("p")[i]);
  }
}

TEST(Optimizers, A07_TinyLearningRatesGiveTheSinglePrecisionValue) {
  for (double lr : {1e-20, 1e-30}) {
    TestModule separate(adamwModule(false)), fused(adamwModule(true));
    const std::map<std::string, Tensor> data = {
        {"p", {0.5, 0}}, {"g", {0, 1}}, {"m", {0, 0}}, {"v", {0, 0}}};
    const Tensor scalars = {1, lr, 0.9, 0.999, 1e-8, 0};
    const Evaluation evaluation = *separate.evaluate(data, scalars);
    const Bits bits = *fused.interpret(data, scalars);
    const Comparison comparison = compare(*evaluation.find("p"), bits.find("p")->tensors);
    EXPECT_TRUE(comparison.ok()) << describe(comparison, *findDtype("f32"));
    EXPECT_EQ(evaluation.find("p")->tensors[0][0].value, 0.5);
    EXPECT_NEAR(evaluation.find("p")->tensors[0][1].value / -lr, 1, 1e-6);
  }
}

TEST(Optimizers, EachTensorMayHaveItsOwnScalars) {
  TestModule module(sgdModule(true));
  const Tensor p = {1, 1}, g = {1, 1};
  Inputs inputs;
  inputs.sizes = {2, 0, 2};
  inputs.data = {{p, {}, p}, {g, {}, g}};
  inputs.scalars = {{0.5}, {0}, {0.25}};
  const Bits bits = *interpret(module.op(), inputs);
  EXPECT_EQ(bits.operands[0].tensors[0], std::vector<uint64_t>(2, word(0.5f)));
  EXPECT_TRUE(bits.operands[0].tensors[1].empty());
  EXPECT_EQ(bits.operands[0].tensors[2], std::vector<uint64_t>(2, word(0.75f)));
}

} // namespace
} // namespace fw::evaluator::test
