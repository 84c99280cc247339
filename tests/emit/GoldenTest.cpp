// The CUDA text of kernels, byte for byte. After an intended change:
//   build/tests/emit/test-emit --update-golden
#include "tests/emit/Modules.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>

namespace fw::test {
namespace {

bool updateGolden = false;

struct Row {
  const char *name; ///< of the golden file
  const char *input;
  passes::PipelineOptions options;
};

const Row kRows[] = {
    {"sgd_f32", "sgd", {.arch = "sm_90"}},
    {"sgd_f64", "sgd", {.dtypes = "p=f64,g=f32,m=f64", .arch = "sm_80"}},
    {"adamw_f32", "adamw", {.arch = "sm_90"}},
    {"adamw_mixed",
     "adamw",
     {.dtypes = "g=bf16,m=f16,v=bf16,p.copy=f16", .features = {"copy"}, .arch = "sm_100"}},
    {"adamw_threads_256", "adamw", {.arch = "sm_75", .schedule = "threads=256,vec=2"}},
    {"cast_f32_bf16", "cast", {.dtypes = "y=bf16", .arch = "sm_90"}},
    {"cast_bf16_e4m3fn_sat", "cast", {.dtypes = "x=bf16,y=e4m3fn.sat", .arch = "sm_90"}},
    {"cast_e5m2_f16", "cast", {.dtypes = "x=e5m2,y=f16", .arch = "sm_90"}},
    {"functions_f32", "functions", {.arch = "sm_90"}},
    {"functions_f64", "functions", {.dtypes = "x=f64,y=f64", .arch = "sm_75"}},
    {"expressions", "expressions", {.dtypes = "m=bf16", .arch = "sm_90"}},
};

/// What the printer wrote itself: the vocabulary between the comments and the struct has tests of
/// its own, and would drown a change of the printer.
std::string ownText(const std::string &source) {
  size_t comments = source.find("\n\n") + 2;
  return source.substr(0, comments) + source.substr(source.rfind("struct Op {"));
}

class Golden : public testing::TestWithParam<Row> {};

TEST_P(Golden, KernelTextIsTheGoldenOne) {
  const Row &row = GetParam();
  std::string text =
      ownText(print(readFile("inputs/" + std::string(row.input) + ".mlir"), row.options));
  std::string name = "golden/" + std::string(row.name) + ".cu";
  if (updateGolden)
    std::ofstream(FW_TEST_FOLDER "/" + name) << text;
  EXPECT_EQ(text, readFile(name))
      << "an intended change? run: build/tests/emit/test-emit --update-golden";
}

INSTANTIATE_TEST_SUITE_P(Kernels, Golden, testing::ValuesIn(kRows),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace fw::test

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  fw::test::updateGolden = argc > 1 && !std::strcmp(argv[1], "--update-golden");
  return RUN_ALL_TESTS();
}
