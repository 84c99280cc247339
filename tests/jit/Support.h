// Helpers of the JIT tests: a folder that goes away, a child process, a compiler with known bytes.
#pragma once

#include "compiler/jit/Artefacts.h"
#include "compiler/jit/Cache.h"
#include "compiler/jit/Hash.h"
#include "compiler/jit/Jobs.h"
#include "compiler/jit/KernelCompiler.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fw::jit::testing {

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "fw-jit-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string operator/(const std::string &name) const { return path + "/" + name; }
  std::string path;
};

inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void writeFile(const std::string &path, const std::string &bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Starts `body` in a child and returns its process number; the child ends with body's result.
inline pid_t startChild(const std::function<int()> &body) {
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(body());
  return child;
}

/// The exit status of a child, or -1 when a signal ended it.
inline int waitFor(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
inline int inChild(const std::function<int()> &body) { return waitFor(startChild(body)); }

/// Root may write anywhere; tests of permissions run as somebody else.
inline void becomeUnprivileged() {
  if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0))
    ::_exit(99);
}

/// Gathers the warnings.
struct Messages {
  std::shared_ptr<std::vector<std::string>> texts = std::make_shared<std::vector<std::string>>();
  Reporter reporter(std::shared_ptr<Causes> causes = freshCauses()) const {
    auto mutex = std::make_shared<std::mutex>();
    return Reporter(
        [mutex, texts = texts](Severity severity, std::string_view text) {
          if (severity > Severity::Warning)
            return;
          std::lock_guard guard(*mutex);
          texts->emplace_back(text);
        },
        std::move(causes));
  }
  size_t count() const { return texts->size(); }
  std::string all() const {
    std::string joined;
    for (const std::string &text : *texts)
      joined += text + "\n";
    return joined;
  }
};

inline CacheOptions optionsFor(const std::string &folder, const Messages &messages = {}) {
  CacheOptions options;
  options.folders = {{folder, true, true, false}};
  options.reporter = messages.reporter();
  return options;
}

/// A compiler whose output is a function of its input alone.
class StubCompiler final : public KernelCompiler {
public:
  explicit StubCompiler(std::chrono::microseconds time = {}, size_t bytes = 4000)
      : time(time), bytes(bytes) {}

  std::string version() const override { return release; }
  std::vector<int> supportedArchs() const override { return {75, 80, 90}; }
  std::vector<std::string> flags() const override { return {"--stub"}; }
  Result<CompiledKernel> compile(const std::string &source, const std::string &name,
                                 const std::string &arch,
                                 std::span<const std::string>) const override {
    ++calls;
    std::this_thread::sleep_for(time);
    CompiledKernel kernel;
    kernel.cubin = code(source, arch);
    kernel.resources = {{.symbol = name.substr(0, name.find('.')),
                         .registers = 32,
                         .spillBytes = 0,
                         .stackBytes = 0}};
    kernel.milliseconds = double(time.count()) / 1000;
    return kernel;
  }
  std::string code(const std::string &source, const std::string &arch) const {
    std::string seed = sha256Hex(source + "/" + arch), text;
    while (text.size() < bytes)
      text += seed = sha256Hex(seed);
    return text;
  }

  mutable std::atomic<int> calls{0};
  std::string release = "stub 1.0";

private:
  std::chrono::microseconds time;
  size_t bytes;
};

inline KernelRequest requestFor(const std::string &source, const std::string &arch = "sm_90") {
  KernelRequest request;
  request.source = source;
  request.arch = arch;
  request.launch.symbol = "k";
  request.description = "kernel '" + source + "' for " + arch;
  return request;
}

/// True when the cache gives the stub's bytes for this source.
inline bool givesRightKernel(Cache &cache, const StubCompiler &compiler,
                             const std::string &source) {
  KernelRequest request = requestFor(source);
  Result<ArtefactPtr> kernel = compileKernel(cache, compiler, request);
  return kernel && (*kernel)->code == compiler.code(source, request.arch) &&
         (*kernel)->launch.symbol == "k";
}

inline mode_t modeOf(const std::string &path) {
  struct stat facts{};
  return ::lstat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
}

inline std::string kernelPath(const TemporaryFolder &folder, const std::string &source) {
  StubCompiler compiler;
  return folder / ("kernels/" + keyOf(compiler, requestFor(source)) + ".fwk");
}

} // namespace fw::jit::testing
