// An NVRTC of any version and with any archs, for machines that a test pretends to have. It
// compiles nothing: the "code" names what it was made for. FAKE_VERSION is 1000 * major + 10 *
// minor, FAKE_ARCHS a list of compute capabilities as NVRTC gives them.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace {

constexpr int kArchs[] = {FAKE_ARCHS};
constexpr int kSuccess = 0, kInvalidOption = 5;

struct Program {
  std::string source, cubin, ptx, log;
};

Program &at(void *handle) { return *static_cast<Program *>(handle); }

/// "sm_90" or "compute_90" of the option, when this version has it.
bool hasArch(std::string_view arch) {
  return std::ranges::any_of(kArchs, [&](int number) {
    return arch == "sm_" + std::to_string(number) || arch == "compute_" + std::to_string(number);
  });
}

/// NVRTC counts the closing zero of texts.
int sizeOf(const std::string &bytes, size_t zero, size_t *size) {
  *size = bytes.size() + zero;
  return kSuccess;
}
int copy(const std::string &bytes, size_t zero, char *out) {
  std::memcpy(out, bytes.c_str(), bytes.size() + zero);
  return kSuccess;
}

} // namespace

extern "C" {
#define FAKE_EXPORT __attribute__((visibility("default")))

FAKE_EXPORT int nvrtcVersion(int *major, int *minor) {
  *major = FAKE_VERSION / 1000;
  *minor = FAKE_VERSION % 1000 / 10;
  return kSuccess;
}
FAKE_EXPORT int nvrtcGetNumSupportedArchs(int *count) {
  *count = int(std::size(kArchs));
  return kSuccess;
}
FAKE_EXPORT int nvrtcGetSupportedArchs(int *archs) {
  std::ranges::copy(kArchs, archs);
  return kSuccess;
}
FAKE_EXPORT const char *nvrtcGetErrorString(int result) {
  return result == kInvalidOption ? "NVRTC_ERROR_INVALID_OPTION" : "NVRTC_SUCCESS";
}
FAKE_EXPORT int nvrtcCreateProgram(void **program, const char *source, const char *, int,
                                   const char *const *, const char *const *) {
  *program = new Program{source, "", "", ""};
  return kSuccess;
}
FAKE_EXPORT int nvrtcDestroyProgram(void **program) {
  delete &at(*program);
  *program = nullptr;
  return kSuccess;
}
FAKE_EXPORT int nvrtcCompileProgram(void *program, int optionCount, const char *const *options) {
  constexpr std::string_view flag = "--gpu-architecture=";
  for (std::string_view option : std::span(options, size_t(optionCount))) {
    if (!option.starts_with(flag))
      continue;
    std::string arch(option.substr(flag.size()));
    if (!hasArch(arch)) {
      at(program).log = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n";
      return kInvalidOption;
    }
    at(program).ptx = "// PTX for " + arch + "\n";
    if (arch.starts_with("sm_"))
      at(program).cubin = "cubin for " + arch;
  }
  return kSuccess;
}
FAKE_EXPORT int nvrtcGetProgramLogSize(void *program, size_t *size) {
  return sizeOf(at(program).log, 1, size);
}
FAKE_EXPORT int nvrtcGetProgramLog(void *program, char *log) {
  return copy(at(program).log, 1, log);
}
FAKE_EXPORT int nvrtcGetCUBINSize(void *program, size_t *size) {
  return sizeOf(at(program).cubin, 0, size);
}
FAKE_EXPORT int nvrtcGetCUBIN(void *program, char *cubin) {
  return copy(at(program).cubin, 0, cubin);
}
FAKE_EXPORT int nvrtcGetPTXSize(void *program, size_t *size) {
  return sizeOf(at(program).ptx, 1, size);
}
FAKE_EXPORT int nvrtcGetPTX(void *program, char *ptx) { return copy(at(program).ptx, 1, ptx); }
}
