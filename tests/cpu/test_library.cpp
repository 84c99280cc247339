// The shared library as the core meets it: opened at run time, alone or beside another LLVM whose
// symbols are global. Arguments: the library, then libraries to open first.
#include "compiler/cpu/CpuLibrary.h"
#include "tests/cpu/Adamw.h"

#include <gtest/gtest.h>

#include <cstring>
#include <dlfcn.h>
#include <vector>

namespace fw::cpu::test {
namespace {

std::vector<std::string> paths;

/// The functions of an opened library.
class Library {
public:
  Library() : handle(dlopen(paths[0].c_str(), RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(handle, nullptr) << dlerror();
  }
  ~Library() { EXPECT_EQ(dlclose(handle), 0); }

  template <class F> F *find(const char *name) {
    void *symbol = dlsym(handle, name);
    EXPECT_NE(symbol, nullptr) << name;
    return reinterpret_cast<F *>(symbol);
  }

private:
  void *handle;
};
#define FIND(library, name) (library).find<decltype(name)>(#name)

void compileAndRunAdamw(Library &library) {
  const std::string phases = adamwProgram("f32");
  fw_cpu_compile_args args = {};
  args.struct_size = sizeof args;
  args.phases = phases.data();
  args.phases_size = phases.size();
  fw_cpu_bytes *object = nullptr;
  ASSERT_EQ(FIND(library, fw_cpu_compile)(&args, &object, nullptr), 0);
  fw_cpu_kernel *kernel = nullptr;
  ASSERT_EQ(FIND(library, fw_cpu_link)(FIND(library, fw_cpu_bytes_data)(object),
                                       FIND(library, fw_cpu_bytes_size)(object), "kernel", &kernel,
                                       nullptr),
            0);
  const int64_t n = 1001;
  std::vector<float> p(n), g(n), m(n), v(n);
  for (int64_t i = 0; i < n; ++i)
    p[i] = std::sin(float(i)), g[i] = std::cos(float(i)), m[i] = p[i] * g[i], v[i] = g[i] * g[i];
  std::vector<float> wantP = p, wantM = m, wantV = v;
  AdamwScalars scalars;
  for (int64_t i = 0; i < n; ++i)
    adamwElement(scalars, wantP[i], g[i], wantM[i], wantV[i]);
  const void *pointers[] = {p.data(), g.data(), m.data(), v.data()};
  FIND(library, fw_cpu_kernel_function)(kernel)(pointers, 0, n, &scalars, nullptr);
  EXPECT_EQ(std::memcmp(p.data(), wantP.data(), n * sizeof(float)), 0);
  EXPECT_EQ(std::memcmp(m.data(), wantM.data(), n * sizeof(float)), 0);
  EXPECT_EQ(std::memcmp(v.data(), wantV.data(), n * sizeof(float)), 0);
  FIND(library, fw_cpu_kernel_destroy)(kernel);
  FIND(library, fw_cpu_bytes_destroy)(object);
}

TEST(Library, CompilesAndRunsBesideWhatElseIsLoaded) {
  for (size_t i = 1; i < paths.size(); ++i)
    ASSERT_NE(dlopen(paths[i].c_str(), RTLD_NOW | RTLD_GLOBAL), nullptr) << dlerror();
  Library library;
  compileAndRunAdamw(library);
  EXPECT_EQ(std::strncmp(FIND(library, fw_cpu_version)(), "fw-cpu 2 llvm ", 14), 0);
}

TEST(Library, ClosesAndOpensAgain) {
  for (int i = 0; i < 2; ++i) {
    Library library;
    compileAndRunAdamw(library);
  }
}

} // namespace
} // namespace fw::cpu::test

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  fw::cpu::test::paths.assign(argv + 1, argv + argc);
  return RUN_ALL_TESTS();
}
