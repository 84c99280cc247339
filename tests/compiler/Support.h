// A compiler with a cache of its own and an NVRTC that the test chooses.
#pragma once

#include "compiler/Compiler.h"
#include "ops/ShippedOps.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace fw::testing {

class CompilerTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "fw-compiler-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    cache = name;
  }
  void TearDown() override { std::filesystem::remove_all(cache); }

  /// `nvrtc` is a path, or the name of a variable that meson sets to one.
  CompilerOptions options(const std::string &nvrtc, bool strict = false) {
    const char *path = std::getenv(nvrtc.c_str());
    CompilerOptions options;
    options.log = [this](jit::Severity severity, std::string_view text) {
      if (severity <= jit::Severity::Warning)
        messages.emplace_back(text);
    };
    for (auto [knob, value] : {std::pair{jit::Knob::nvrtc, path ? std::string(path) : nvrtc},
                               std::pair{jit::Knob::cache_dir, cache},
                               std::pair{jit::Knob::strict, std::string(strict ? "1" : "0")}})
      EXPECT_TRUE(options.settings.set(knob, value));
    return options;
  }

  static Request scaleFor(const std::string &target) {
    Request request;
    request.op = *findShippedOp("scale");
    request.target = target;
    return request;
  }

  std::string cache;
  std::vector<std::string> messages; ///< warnings and errors of the log
};

} // namespace fw::testing
