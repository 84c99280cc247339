// Loading machine code and PTX.
#include "tests/driver/Cuda.h"
#include "tests/driver/Images.h"

namespace fw::driver {
namespace {

class FakeLibraries : public FakeTest {
protected:
  CUresult load(const std::string &image, std::string *log = nullptr) {
    char text[256] = "";
    const int options[] = {Jit::ERROR_LOG_BUFFER, Jit::ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {text, reinterpret_cast<void *>(sizeof text)};
    const CUresult result =
        cu.libraryLoadData(&library, image.c_str(), options, values, 2, nullptr, nullptr, 0);
    if (log)
      *log = text;
    return result;
  }
  CUlibrary library = nullptr;
};

TEST_F(FakeLibraries, KernelsComeFromTheSymbols) {
  CUkernel first = nullptr, second = nullptr;
  for (bool isOfCuda12 : {false, true}) {
    OK(load(cubin(90, {"fw_adamw", "fw_sgd"}, isOfCuda12)));
    OK(cu.libraryGetKernel(&first, library, "fw_adamw"));
    OK(cu.libraryGetKernel(&second, library, "fw_sgd"));
    EXPECT_NE(first, second);
    EXPECT_EQ(cu.libraryGetKernel(&first, library, "fw_lion"), Answer::NOT_FOUND);
    EXPECT_EQ(cu.libraryGetKernel(&first, library, "helper"), Answer::NOT_FOUND);
  }
  EXPECT_EQ(counts().libraryLoads, 2u);
  EXPECT_EQ(counts().jitLoads, 0u);
}

TEST_F(FakeLibraries, OtherFilesAreRefused) {
  std::string host = cubin(90, {"k"});
  host[18] = 62; // a program of x86-64
  EXPECT_EQ(load(host), Answer::INVALID_IMAGE);
  EXPECT_EQ(load("no code at all"), Answer::INVALID_IMAGE);
  EXPECT_EQ(cu.libraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0),
            Answer::INVALID_VALUE);
}

TEST_F(FakeLibraries, CodeRunsOnItsArchAndNewerMinors) {
  struct {
    int arch;
    const char *device;
    CUresult result;
  } cases[] = {{90, "9.0", Answer::SUCCESS},           {80, "8.6", Answer::SUCCESS},
               {89, "8.6", Answer::NO_BINARY_FOR_GPU}, {80, "9.0", Answer::NO_BINARY_FOR_GPU},
               {120, "12.1", Answer::SUCCESS},         {100, "12.0", Answer::NO_BINARY_FOR_GPU}};
  for (const auto &each : cases) {
    restart(each.device);
    EXPECT_EQ(load(cubin(each.arch, {"k"})), each.result) << each.arch << " on " << each.device;
    retain(0);
  }
}

TEST_F(FakeLibraries, EachContextIsAsked) {
  restart("9.0,8.0");
  CUkernel kernel = nullptr;
  CUfunction onFirst = nullptr, onSecond = nullptr, again = nullptr;
  OK(load(cubin(90, {"k"})));
  OK(cu.libraryGetKernel(&kernel, library, "k"));
  retain(1);
  EXPECT_EQ(cu.kernelGetFunction(&onSecond, kernel), Answer::NO_BINARY_FOR_GPU);
  retain(0);
  OK(cu.kernelGetFunction(&onFirst, kernel));
  OK(cu.kernelGetFunction(&again, kernel));
  EXPECT_EQ(again, onFirst);
  CUcontext user = nullptr;
  OK(cu.ctxCreate(&user, 0, 0));
  OK(cu.kernelGetFunction(&again, kernel));
  EXPECT_NE(again, onFirst);
}

TEST_F(FakeLibraries, CodeComesToAContextOnce) {
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  int registers = 0;
  OK(load(cubin(90, {"k"})));
  OK(cu.libraryGetKernel(&kernel, library, "k"));
  OK(cu.kernelGetFunction(&function, kernel));
  EXPECT_EQ(counts().kernelLoads, 0u);
  OK(cu.funcLoad(function));
  OK(cu.funcLoad(function));
  OK(cu.funcGetAttribute(&registers, Attribute::FUNCTION_REGISTERS, function));
  EXPECT_GT(registers, 0);
  EXPECT_EQ(counts().kernelLoads, 1u);
  EXPECT_EQ(cu.funcGetAttribute(&registers, 1000, function), Answer::INVALID_VALUE);
}

TEST_F(FakeLibraries, PtxIsCompiled) {
  CUkernel kernel = nullptr;
  OK(load(ptx("sm_80", "8.0", {"fw_a", "fw_b"})));
  OK(cu.libraryGetKernel(&kernel, library, "fw_b"));
  EXPECT_EQ(cu.libraryGetKernel(&kernel, library, "fw_c"), Answer::NOT_FOUND);
  EXPECT_EQ(counts().jitLoads, 1u);
  EXPECT_EQ(counts().libraryLoads, 0u);
}

TEST_F(FakeLibraries, PtxHasLimits) {
  std::string log;
  EXPECT_EQ(load(ptx("sm_100", "8.7", {"k"})), Answer::INVALID_PTX);
  EXPECT_EQ(load("// nothing\n", &log), Answer::INVALID_PTX);
  EXPECT_EQ(log, "expected .version and .target");
  OK(load(ptx("sm_90a", "8.0", {"k"})));
  EXPECT_EQ(load(ptx("sm_89a", "8.0", {"k"})), Answer::INVALID_PTX);
  fake.version(12040);
  EXPECT_EQ(load(ptx("sm_90", "8.5", {"k"}), &log), Answer::UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(log, "expected PTX of version 84 at most, got 85");
  OK(load(ptx("sm_90", "8.4", {"k"})));
}

TEST_F(FakeLibraries, AnUnloadedOneIsGone) {
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  OK(load(cubin(90, {"k"})));
  OK(cu.libraryGetKernel(&kernel, library, "k"));
  OK(cu.kernelGetFunction(&function, kernel));
  OK(cu.libraryUnload(library));
  EXPECT_EQ(cu.libraryUnload(library), Answer::INVALID_HANDLE);
  EXPECT_EQ(cu.kernelGetFunction(&function, kernel), Answer::INVALID_HANDLE);
  EXPECT_EQ(cu.funcLoad(function), Answer::INVALID_HANDLE);
}

TEST_F(FakeLibraries, LoadingSpoilsACaptureUnlessRelaxed) {
  const CUstream origin = stream();
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  CUgraph graph = nullptr;
  int mode = CaptureMode::RELAXED;
  OK(cu.streamBeginCapture(origin, CaptureMode::GLOBAL));
  OK(cu.threadExchangeCaptureMode(&mode));
  OK(load(cubin(90, {"k"})));
  OK(cu.libraryGetKernel(&kernel, library, "k"));
  OK(cu.kernelGetFunction(&function, kernel));
  OK(cu.threadExchangeCaptureMode(&mode));
  EXPECT_EQ(cu.funcLoad(function), Answer::STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cu.streamEndCapture(origin, &graph), Answer::STREAM_CAPTURE_INVALIDATED);
  OK(cu.streamBeginCapture(origin, CaptureMode::GLOBAL));
  EXPECT_EQ(load(cubin(90, {"k"})), Answer::STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cu.streamEndCapture(origin, &graph), Answer::STREAM_CAPTURE_INVALIDATED);
}

} // namespace
} // namespace fw::driver
