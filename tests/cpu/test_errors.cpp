// Every refusal, by its text.
#include "tests/cpu/Harness.h"

namespace fw::cpu::test {
namespace {

TEST(Errors, TextThatDoesNotParse) {
  EXPECT_EQ(compileError("module { fuse.nothing }", 5),
            "cannot read the phase-level module: custom op 'fuse.nothing' is unknown");
}

TEST(Errors, ModuleOfAnotherLevel) {
  EXPECT_EQ(
      compileError("module { func.func private @f() }", 5),
      "cannot read the phase-level module: Dialect `func' not found for custom op 'func.func' ");
  EXPECT_EQ(
      compileError("module { fuse.op @f over <elements> operands [] scalars [] {} }", 5),
      "cannot lower the kernel to vector code: expected a phase-level module (fuse.program), got "
      "'fuse.op'; run the passes up to form-phases first");
}

TEST(Errors, OperationThatElementsDoNotHave) {
  std::string phases = program({{"x", "in", "f32"}, {"y", "out", "f32"}}, {}, R"(
    %x = fuse.load "x" : f32
    %y = math.atan %x : f32
    fuse.store "y", %y : f32)");
  EXPECT_EQ(compileError(phases, 5),
            "cannot lower the kernel to vector code: expected an operation on elements, got "
            "'math.atan', which the CPU backend cannot lower");
}

TEST(Errors, ReductionOfWhatNoPassReduces) {
  std::string phases = R"(module { fuse.program @test
    operands [#fuse.operand<name = "x", role = in, dtype = "f32", scope = <element>>] scalars [] {
    fuse.scalars {}
    fuse.kernel @kernel elements f32 {
      %c = arith.constant 1.0 : f32
      fuse.reduction "r0" keep <all> %c : f32
    }
  } })";
  EXPECT_NE(compileError(phases, 5).find("expected the result of a pass, got another value"),
            std::string::npos);
}

TEST(Errors, UnknownStage) {
  EXPECT_EQ(compileError("", 2, nullptr, "cuda"),
            "expected a stage object, vectors, llvm or asm, got 'cuda'");
}

struct LinkResult {
  int status;
  std::string text;
};
LinkResult linkError(const std::string &object, const char *symbol) {
  fw_cpu_error error = {};
  error.struct_size = sizeof error;
  fw_cpu_kernel *kernel = nullptr;
  LinkResult out{fw_cpu_link(object.data(), object.size(), symbol, &kernel, &error), ""};
  EXPECT_EQ(kernel, nullptr);
  if (error.text)
    out.text = fw_cpu_bytes_data(error.text);
  fw_cpu_bytes_destroy(error.text);
  fw_cpu_bytes_destroy(error.log);
  return out;
}

TEST(Errors, BytesThatAreNoObject) {
  LinkResult result = linkError("not an object", "kernel");
  EXPECT_EQ(result.status, 5);
  EXPECT_NE(result.text.find("cannot link the CPU kernel 'kernel': "), std::string::npos);
}

TEST(Errors, SymbolThatTheObjectLacks) {
  std::string phases = program({{"x", "in", "f32"}, {"y", "out", "f32"}}, {}, R"(
    %x = fuse.load "x" : f32
    fuse.store "y", %x : f32)");
  LinkResult result = linkError(compileStage(phases, "object"), "other");
  EXPECT_EQ(result.status, 5);
  EXPECT_EQ(result.text, "cannot link the CPU kernel 'other': Symbols not found: [ other ]");
}

} // namespace
} // namespace fw::cpu::test
