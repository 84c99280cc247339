// NVRTC itself, where the machine has one: cases P03, P05, P07 and what our records read from its
// log.
#include "compiler/jit/Nvrtc.h"

#include "compiler/target/Target.h"
#include "tests/jit/Support.h"

#include <gtest/gtest.h>

namespace fw::jit::testing {
namespace {

const std::string sample = "extern \"C\" __global__ void k(const float *p, float *q) { "
                           "q[threadIdx.x] = p[threadIdx.x] / 3.0f; }";

class NvrtcTest : public ::testing::Test {
protected:
  void SetUp() override {
    Result<std::shared_ptr<const Nvrtc>> opened = Nvrtc::open(*Settings::read());
    if (!opened)
      GTEST_SKIP() << "NVRTC is not installed: " << render(opened.error());
    nvrtc = *opened;
  }
  Result<CompiledKernel> compile(const std::string &source,
                                 const std::string &arch = "sm_90") const {
    return nvrtc->compile(source, "k.cu", arch, nvrtc->flags());
  }
  std::shared_ptr<const Nvrtc> nvrtc;
};

TEST_F(NvrtcTest, everyArchItKnowsIsARowOfTheTable) {
  for (int number : nvrtc->supportedArchs())
    EXPECT_NE(target::findArch(number / 10, number % 10), nullptr) << number;
}

TEST_F(NvrtcTest, tellsVersionFileAndBuiltins) {
  EXPECT_EQ(nvrtc->version().substr(0, 6), "nvrtc ");
  EXPECT_TRUE(std::filesystem::exists(nvrtc->path())) << nvrtc->path();
  EXPECT_EQ(nvrtc->builtinsName(), "libnvrtc-builtins.so." + nvrtc->version().substr(6));
}

TEST_F(NvrtcTest, compilesToCubinPtxAndResources) {
  Result<CompiledKernel> kernel = compile(sample);
  ASSERT_TRUE(kernel) << render(kernel.error()) << kernel.error().log;
  EXPECT_EQ(kernel->cubin.substr(0, 4), "\x7f"
                                        "ELF");
  EXPECT_NE(kernel->ptx.find("div.rn.f32"), std::string::npos) << "IEEE division";
  ASSERT_EQ(kernel->resources.size(), 1u);
  EXPECT_EQ(kernel->resources[0].symbol, "k");
  EXPECT_GT(kernel->resources[0].registers, 0);
  EXPECT_EQ(kernel->resources[0].spillBytes, 0);
  EXPECT_EQ(kernel->resources[0].stackBytes, 0);
}

TEST_F(NvrtcTest, noContractionAndNoFlushToZero) {
  Result<CompiledKernel> kernel =
      compile("extern \"C\" __global__ void k(float *p) { p[0] = p[1] * p[2] + p[3]; }");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->ptx.find("fma"), std::string::npos);
  EXPECT_EQ(kernel->ptx.find(".ftz"), std::string::npos);
}

TEST_F(NvrtcTest, spillsAndStackAreSeen) {
  std::string source =
      "extern \"C\" __global__ void __maxnreg__(24) k(float *p) { float a[48];\n#pragma unroll\n"
      "for (int i = 0; i < 48; ++i) a[i] = p[i * 32 + threadIdx.x];\n__syncthreads();\n#pragma "
      "unroll\n"
      "for (int i = 0; i < 48; ++i) p[i * 32 + threadIdx.x] = a[i] * a[47 - i]; }";
  Result<CompiledKernel> kernel = compile(source);
  ASSERT_TRUE(kernel) << kernel.error().log;
  EXPECT_LE(kernel->resources.at(0).registers, 24);
  EXPECT_GT(kernel->resources.at(0).spillBytes, 0) << kernel->log;
}

TEST_F(NvrtcTest, virtualArchGivesPtxOnly) {
  Result<CompiledKernel> kernel = compile(sample, "compute_90");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->cubin, "");
  EXPECT_NE(kernel->ptx.find(".target sm_90"), std::string::npos);
}

TEST_F(NvrtcTest, sameInputGivesSameBytesOnAllThreads) {
  Result<CompiledKernel> first = compile(sample);
  ASSERT_TRUE(first);
  std::atomic<int> same{0};
  runJobs(4, 4, [&](size_t) {
    Result<CompiledKernel> again = compile(sample);
    same += again && again->cubin == first->cubin && again->ptx == first->ptx;
  });
  EXPECT_EQ(same, 4);
}

TEST_F(NvrtcTest, errorHasLogOptionsVersionAndNumberedSource) {
  Result<CompiledKernel> kernel = compile("int a;\nint b = no_such_thing;\n");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, Code::TOOLCHAIN);
  EXPECT_EQ(kernel.error().text,
            "expected 'k.cu' to compile for sm_90, got NVRTC_ERROR_COMPILATION");
  const std::string &log = kernel.error().log;
  for (const std::string &part :
       {nvrtc->version(), nvrtc->path(), std::string("--gpu-architecture=sm_90 --fmad=false"),
        std::string("k.cu(2): error: identifier \"no_such_thing\" is undefined"),
        std::string("    2 | int b = no_such_thing;")})
    EXPECT_NE(log.find(part), std::string::npos) << part << "\n" << log;
}

// Toolkit headers on every path that anybody might read: not read at all.
TEST_F(NvrtcTest, case_P05) {
  TemporaryFolder folder;
  for (const char *place :
       {"cuda_fp16.h", "include/cuda_fp16.h", "include/cuda_runtime.h", "cuda_runtime.h"})
    writeFile(folder / place, "#error a toolkit header was read\n");
  EXPECT_EQ(inChild([&] {
              for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
                ::setenv(variable, folder.path.c_str(), 1);
              for (const char *variable : {"CPATH", "CPLUS_INCLUDE_PATH", "INCLUDE"})
                ::setenv(variable, (folder / "include").c_str(), 1);
              if (::chdir(folder.path.c_str()) != 0)
                return 1;
              if (!compile(sample))
                return 2;
              Result<CompiledKernel> asking = compile("#include <cuda_fp16.h>\n" + sample);
              bool notFound = !asking && asking.error().log.find("could not open source file") !=
                                             std::string::npos;
              return notFound ? 0 : 3;
            }),
            0);
}

// No arch passed.
TEST_F(NvrtcTest, case_P07) {
  Result<CompiledKernel> kernel = compile(sample, "");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, Code::USAGE);
  EXPECT_EQ(kernel.error().text, "expected an explicit arch for 'k.cu', got none");
}

// Builtins of another version beside the library: NVRTC's log and the name looked for are shown.
TEST_F(NvrtcTest, case_P03) {
  TemporaryFolder folder;
  std::string library = folder / std::filesystem::path(nvrtc->path()).filename().string();
  std::filesystem::copy_file(nvrtc->path(), library);
  writeFile(folder / nvrtc->builtinsName(), "not the builtins of this version");
  ::setenv("LD_LIBRARY_PATH", folder.path.c_str(), 1); // read by the loader when a program starts
  std::FILE *child =
      ::popen((std::string(std::getenv("FW_NVRTC_PROGRAM")) + " " + library).c_str(), "r");
  ::unsetenv("LD_LIBRARY_PATH");
  ASSERT_NE(child, nullptr);
  std::string output;
  for (int c = std::fgetc(child); c != EOF; c = std::fgetc(child))
    output += char(c);
  EXPECT_EQ(WEXITSTATUS(::pclose(child)), int(Code::TOOLCHAIN)) << output;
  for (const std::string &part :
       {"got NVRTC_ERROR_BUILTIN_OPERATION_FAILURE while looking for " + nvrtc->builtinsName(),
        "put " + nvrtc->builtinsName() + " of the same NVRTC beside " + library,
        "nvrtc: error: failed to open " + nvrtc->builtinsName()})
    EXPECT_NE(output.find(part), std::string::npos) << part << "\n" << output;
}

TEST(Nvrtc, missingLibraryListsWhatWasTried) {
  Settings settings;
  ASSERT_TRUE(settings.set(Knob::nvrtc, "/no/such/libnvrtc.so"));
  Result<std::shared_ptr<const Nvrtc>> nvrtc = Nvrtc::open(settings);
  ASSERT_FALSE(nvrtc);
  EXPECT_EQ(nvrtc.error().code, Code::TOOLCHAIN);
  EXPECT_EQ(nvrtc.error().text, "expected NVRTC 12 or 13 (libnvrtc.so), got none that opens");
  EXPECT_NE(nvrtc.error().log.find("FUSEWRIGHT_NVRTC: /no/such/libnvrtc.so: "), std::string::npos);
}

TEST(Nvrtc, libraryThatIsAnotherOneIsNamed) {
  Settings settings;
  ASSERT_TRUE(settings.set(Knob::nvrtc, "libm.so.6"));
  EXPECT_NE(Nvrtc::open(settings).error().log.find("the library has no symbol nvrtcVersion"),
            std::string::npos);
}

TEST(Nvrtc, minimalIsUsedOnlyWhereItIsKnown) {
  auto has = [](int major, int minor) {
    std::vector<std::string> flags = nvrtcFlags(major, minor);
    return std::find(flags.begin(), flags.end(), "-minimal") != flags.end();
  };
  EXPECT_FALSE(has(12, 3));
  EXPECT_TRUE(has(12, 4));
  EXPECT_TRUE(has(13, 0));
}

TEST(ParseResources, entriesAndCalledFunctionsAreKeptApart) {
  std::string log =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k2' for 'sm_90'\n"
      "ptxas info    : Function properties for k2\n"
      "ptxas         .     256 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 0 barriers, 256 bytes cumulative stack size\n"
      "ptxas info    : Function properties for helper\n"
      "ptxas         .     8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
      "ptxas info    : Function properties for k\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 16 registers, used 1 barriers, 132 bytes smem, 384 bytes cmem[0]\n";
  std::vector<KernelResources> kernels = parseResources(log);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].symbol, "k2");
  EXPECT_EQ(kernels[0].registers, 32);
  EXPECT_EQ(kernels[0].spillBytes, 20);
  EXPECT_EQ(kernels[0].stackBytes, 256);
  EXPECT_EQ(kernels[0].sharedBytes, 0);
  EXPECT_EQ(kernels[1].symbol, "k");
  EXPECT_EQ(kernels[1].registers, 16);
  EXPECT_EQ(kernels[1].sharedBytes, 132);
}

TEST(ParseResources, anotherLogGivesNothing) {
  EXPECT_TRUE(parseResources("").empty());
  EXPECT_TRUE(parseResources("warning: Used 3 registers").empty());
}

} // namespace
} // namespace fw::jit::testing
