#include "tests/gpu/suite/HandSteps.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace suite {
namespace {

HandStep adam(const char *op, const char *declarations, const char *gradient, const char *update) {
  HandStep step = {op, "", "", {"p"}, {"g"}, declarations, ""};
  step.body = std::string("  d = ") + gradient + "\n" +
              "  m = beta1*m + (1 - beta1)*d\n"
              "  v = beta2*v + (1 - beta2)*d^2\n"
              "  u = (m/(1 - beta1^t))/(sqrt(v/(1 - beta2^t)) + eps)\n"
              "  new_p = old_p - lr*" +
              update + "\n";
  return step;
}

} // namespace

const std::vector<HandStep> &handSteps() {
  static const std::vector<HandStep> steps = {
      adam("adam",
           "state m = 0, v = 0;  step t\n"
           "  hyper lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0",
           "used_g + weight_decay*old_p", "u"),
      adam("adamw",
           "state m = 0, v = 0;  step t\n"
           "  hyper lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 1e-2",
           "used_g", "(u + weight_decay*old_p)"),
      {"sgd",
       "momentum=classical",
       "",
       {"p"},
       {"g"},
       "state b = 0;  step t;  hyper lr = 1e-3, weight_decay = 0, mu = 0.9, dampening = 0",
       "  d = used_g + weight_decay*old_p\n"
       "  b = if t == 1 then d else mu*b + (1 - dampening)*d\n"
       "  new_p = old_p - lr*b\n"},
      {"lion",
       "",
       "",
       {"p"},
       {"g"},
       "state m = 0;  hyper lr = 1e-4, beta1 = 0.9, beta2 = 0.99, weight_decay = 0",
       "  c = beta1*m + (1 - beta1)*used_g\n"
       "  new_p = old_p - lr*(sign(c) + weight_decay*old_p)\n"
       "  m = beta2*m + (1 - beta2)*used_g\n"},
      {"pair",
       "",
       pairText,
       {"p", "q"},
       {"g", "h"},
       "state v = 0;  step t;  hyper lr = 0.01, beta = 0.9",
       "  v = beta*v + (1 - beta)*(used_g^2 + used_h^2)\n"
       "  u = lr/((sqrt(v) + 1e-3)*t)\n"
       "  new_p = old_p - u*used_g;  new_q = old_q - u*used_h\n"}};
  return steps;
}

const HandStep &handStep(const std::string &op) {
  return *std::ranges::find(handSteps(), op, &HandStep::op);
}

// --- Text ----------------------------------------------------------------------------------------

namespace {

/// Names have no dots in equations.
std::string byHand(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

class Text {
public:
  Text(const HandStep &step, const std::vector<std::string> &features)
      : step(step), features(features) {}

  std::string all() {
    declare();
    for (const std::string &g : step.grads)
      gradient(g);
    for (const std::string &p : step.params)
      out << "  old_" << p << " = old(" << p << (has("master") ? "_master" : "") << ")\n";
    out << step.body;
    for (const std::string &p : step.params)
      parameter(p);
    for (const std::string &g : step.grads)
      if (has("zero_grad"))
        out << "  " << g << " = 0\n";
    out << "}\n";
    return out.str();
  }

private:
  bool has(const char *feature) const { return std::ranges::count(features, feature) > 0; }

  void declare() {
    out << "op by_hand over elements {\n";
    for (const std::string &p : step.params) {
      out << "  " << (has("master") ? "out " : "param ") << p << "\n";
      for (const char *kept : {"master", "ema"})
        if (has(kept))
          out << "  state " << p << "_" << kept << " = 0\n";
      if (has("copy"))
        out << "  out " << p << "_copy\n";
    }
    for (const std::string &g : step.grads)
      out << "  " << (has("zero_grad") ? "state " : "grad ") << g << "\n";
    const std::pair<const char *, const char *> hypers[] = {{"unscale", "all_scale"},
                                                            {"clip", "all_max_norm"},
                                                            {"clip", "norm"},
                                                            {"clip_value", "all_max_value"},
                                                            {"ema", "all_ema_decay"}};
    for (const auto &[feature, hyper] : hypers)
      if (has(feature))
        out << "  hyper " << hyper << "\n";
    out << "  " << step.declarations << "\n";
  }

  void gradient(const std::string &g) {
    std::string last = "old(" + g + ")";
    auto change = [&](const std::string &name, const std::string &value) {
      out << "  " << name << "_" << g << " = " << value << "\n";
      last = name + "_" + g;
    };
    if (has("unscale"))
      change("unscaled", last + "*(1/all_scale)");
    if (has("clip"))
      change("clipped", last + "*min(1, all_max_norm/(norm + 1e-6))");
    if (has("clip_value"))
      change("limited", "min(max(" + last + ", -all_max_value), all_max_value)");
    change("used", last);
  }

  void parameter(const std::string &p) {
    out << "  " << p << " = new_" << p << "\n";
    if (has("master"))
      out << "  " << p << "_master = new_" << p << "\n";
    if (has("copy"))
      out << "  " << p << "_copy = new_" << p << "\n";
    if (has("ema"))
      out << "  " << p << "_ema = all_ema_decay*" << p << "_ema + (1 - all_ema_decay)*new_" << p
          << "\n";
  }

  const HandStep &step;
  const std::vector<std::string> &features;
  std::ostringstream out;
};

} // namespace

std::string textByHand(const HandStep &step, const std::vector<std::string> &features) {
  return Text(step, features).all();
}

// --- Values --------------------------------------------------------------------------------------

namespace {

/// Operands of the request by hand, as their numbers in the kernel.
std::vector<size_t> operandsByHand(const api::Request &request, const Kernel &kernel) {
  size_t count = 0;
  EXPECT_EQ(fw_request_operand_count(request.get(), &count), FW_OK) << api::lastError();
  std::vector<size_t> numbers;
  for (size_t k = 0; k < count; ++k) {
    fw_operand_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(fw_request_operand(request.get(), k, &info), FW_OK);
    const auto found = std::ranges::find(kernel.operands, std::string(info.name),
                                         [](const OperandInfo &each) { return byHand(each.name); });
    EXPECT_NE(found, kernel.operands.end()) << info.name;
    EXPECT_EQ(info.written != 0, found->written) << info.name;
    numbers.push_back(size_t(found - kernel.operands.begin()));
  }
  return numbers;
}

Scalars scalarsByHand(const Scalars &scalars) {
  Scalars given;
  for (const fw_scalar &scalar : scalars.array())
    given.set(byHand(scalar.name), scalar.value);
  return given;
}

} // namespace

std::string checkByHand(fw_context *context, const HandStep &step, const Arena &arena,
                        const Bytes &before, const Bytes &image, const Scalars &scalars) {
  const Kernel &kernel = arena.kernel;
  const std::string text = textByHand(step, namesOf(kernel.row->features));
  SCOPED_TRACE(text);
  auto op = api::make<api::Op>([&](fw_op **out) {
    return fw_op_parse(context, text.data(), text.size(), "hand.fuse", nullptr, out);
  });
  api::Request request = api::request(op);
  for (const OperandInfo &operand : kernel.operands)
    if (operand.isElement())
      EXPECT_EQ(
          fw_request_dtype(request.get(), byHand(operand.name).c_str(), operand.dtype.c_str()),
          FW_OK);
  const std::vector<size_t> operands = operandsByHand(request, kernel);
  Bytes memory = before;
  const std::vector<fw_tensor> all = arena.tensors(memory.data(), FW_DEVICE_CPU);
  const auto elementsAmong = [&](size_t count) {
    return size_t(std::count_if(kernel.operands.begin(), kernel.operands.begin() + ptrdiff_t(count),
                                [](const auto &each) { return each.isElement(); }));
  };
  std::vector<fw_tensor> tensors;
  for (size_t entry = 0; entry < arena.list.size(); ++entry)
    for (size_t k : operands)
      tensors.push_back(all[entry * elementsAmong(kernel.operands.size()) + elementsAmong(k)]);
  const Scalars given = scalarsByHand(scalars);
  std::vector<double> values(before.size() + 1), bounds(values.size());
  if (fw_evaluate(request.get(), tensors.data(), tensors.size(), given.array().data(),
                  given.array().size(), values.data(), bounds.data()) != FW_OK)
    return api::lastError();
  size_t at = 0;
  for (size_t k : operands) {
    const OperandInfo &operand = kernel.operands[k];
    if (!operand.written)
      continue;
    size_t element = 0;
    for (double got : arena.numbers(image, operand.name)) {
      if (got != values[at] && !(std::abs(got - values[at]) <= bounds[at])) {
        std::ostringstream fault;
        fault << operand.name << ", element " << element << " of all: by hand " << values[at]
              << " +- " << bounds[at] << ", got " << got << "\n"
              << text;
        return fault.str();
      }
      ++at, ++element;
    }
  }
  return {};
}

} // namespace suite
