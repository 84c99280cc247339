#include "tests/evaluator/TestModule.h"

#include "compiler/dialect/evaluator/Storage.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace fw::evaluator::test {

TestModule::TestModule(const std::string &text) {
  context.loadDialect<fuse::FuseDialect>();
  module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
}

fuse::OpOp TestModule::op() { return *module->getOps<fuse::OpOp>().begin(); }

Inputs TestModule::inputs(const std::map<std::string, Tensor> &data, const Tensor &scalars) {
  Inputs inputs;
  inputs.sizes = {data.empty() ? 1 : data.begin()->second.size()};
  inputs.scalars = {scalars};
  for (auto operand : op().getOperands().getAsRange<fuse::OperandAttr>()) {
    auto &tensors = inputs.data.emplace_back();
    if (auto found = data.find(operand.getName().str()); found != data.end())
      tensors.emplace_back(found->second);
  }
  return inputs;
}

Result<Evaluation> TestModule::evaluate(const std::map<std::string, Tensor> &data,
                                        const Tensor &scalars) {
  return evaluator::evaluate(op(), inputs(data, scalars));
}

Result<Bits> TestModule::interpret(const std::map<std::string, Tensor> &data,
                                   const Tensor &scalars) {
  return evaluator::interpret(op(), inputs(data, scalars));
}

std::string elementModule(const std::string &body, const std::string &dtype,
                          const std::string &real) {
  std::string text = "fuse.op @test over <elements> operands [";
  for (const char *name : {"a", "b", "c"})
    text += std::string("#fuse.operand<name = \"") + name + "\", role = in, dtype = \"" + real +
            "\", scope = <element>>, ";
  text += "#fuse.operand<name = \"y\", role = out, dtype = \"" + dtype + "\", scope = <element>>] ";
  text += "scalars [#fuse.hyper<name = \"h\", value = 1.0 : f64>, #fuse.hyper<name = \"n\", kind = "
          "int>] {\n";
  for (const char *name : {"a", "b", "c"})
    text += std::string("%") + name + " = fuse.read \"" + name + "\" : " + real + "\n";
  return text + body + "\nfuse.write \"y\", %y : " + real + "\n}\n";
}

static std::map<std::string, Tensor> oneElement(const Tensor &abc) {
  auto at = [&](size_t i) { return i < abc.size() ? abc[i] : 0.0; };
  return {{"a", {at(0)}}, {"b", {at(1)}}, {"c", {at(2)}}};
}

Bound boundOf(const std::string &body, const Tensor &abc, const std::string &dtype,
              const std::string &real) {
  TestModule module(elementModule(body, dtype, real));
  auto result = module.evaluate(oneElement(abc),
                                {abc.size() > 3 ? abc[3] : 1.0, abc.size() > 4 ? abc[4] : 0.0});
  EXPECT_TRUE(result) << render(result.error());
  return result->operands.at(0).tensors.at(0).at(0);
}

double bitsOf(const std::string &body, const Tensor &abc, const std::string &dtype,
              const std::string &real) {
  TestModule module(elementModule(body, dtype, real));
  auto result = module.interpret(oneElement(abc),
                                 {abc.size() > 3 ? abc[3] : 1.0, abc.size() > 4 ? abc[4] : 0.0});
  EXPECT_TRUE(result) << render(result.error());
  return decode(*findDtype(dtype), result->operands.at(0).tensors.at(0).at(0));
}

} // namespace fw::evaluator::test
