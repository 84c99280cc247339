#include "tests/emit/Modules.h"

#include "mlir/Parser/Parser.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace fw::test {

std::string readFile(const std::string &name) {
  std::ifstream file(FW_TEST_FOLDER "/" + name);
  EXPECT_TRUE(file.good()) << "no file " << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Compiled compile(const std::string &text, passes::Stage stage,
                 const passes::PipelineOptions &options) {
  Compiled out;
  out.context = passes::createContext();
  out.module = mlir::parseSourceString<mlir::ModuleOp>(text, out.context.get());
  EXPECT_TRUE(out.module);
  auto run = passes::runPipeline(*out.module, stage, options);
  EXPECT_TRUE(run) << render(run.error());
  return out;
}

std::string print(const std::string &text, const passes::PipelineOptions &options) {
  Compiled compiled = compile(text, passes::Stage::Cuda, options);
  auto kernels = emit::printCuda(compiled.program(), **target::findArch(options.arch));
  EXPECT_TRUE(kernels) << render(kernels.error());
  EXPECT_EQ(kernels->size(), 1u);
  return kernels->front();
}

} // namespace fw::test
