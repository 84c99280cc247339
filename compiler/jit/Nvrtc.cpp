#include "compiler/jit/Nvrtc.h"

#include <algorithm>
#include <chrono>
#include <dlfcn.h>
#include <filesystem>

namespace fw::jit {

struct Nvrtc::Symbols {
#define FW_NVRTC_SYMBOL(name, result, parameters) result(*name) parameters = nullptr;
#include "compiler/jit/nvrtc_symbols.def"
#undef FW_NVRTC_SYMBOL
};

namespace {

constexpr int success = 0,
              builtinsFailure = 7; // NVRTC_SUCCESS, NVRTC_ERROR_BUILTIN_OPERATION_FAILURE

struct SymbolRow {
  const char *name;
  void **place;
};

/// The name of the first symbol that the library lacks, or null.
const char *resolve(void *library, Nvrtc::Symbols &symbols) {
  const SymbolRow rows[] = {
#define FW_NVRTC_SYMBOL(name, result, parameters)                                                  \
  {"nvrtc" #name, reinterpret_cast<void **>(&symbols.name)},
#include "compiler/jit/nvrtc_symbols.def"
#undef FW_NVRTC_SYMBOL
  };
  for (const SymbolRow &row : rows)
    if (!(*row.place = dlsym(library, row.name)))
      return row.name;
  return nullptr;
}

std::string fileOf(void *symbol) {
  Dl_info info{};
  std::error_code fault;
  if (!dladdr(symbol, &info) || !info.dli_fname)
    return "";
  std::filesystem::path path = std::filesystem::weakly_canonical(info.dli_fname, fault);
  return fault ? info.dli_fname : path.string();
}

/// One NVRTC program, destroyed with the object.
class Program {
public:
  Program(const Nvrtc::Symbols &symbols, const std::string &source, const std::string &name)
      : symbols(symbols) {
    status = symbols.CreateProgram(&handle, source.c_str(), name.c_str(), 0, nullptr, nullptr);
  }
  ~Program() {
    if (handle)
      symbols.DestroyProgram(&handle);
  }
  Program(const Program &) = delete;

  void compile(const std::vector<const char *> &options) {
    if (status == success)
      status = symbols.CompileProgram(handle, int(options.size()), options.data());
  }

  std::string log() const { return text(symbols.GetProgramLogSize, symbols.GetProgramLog); }
  std::string cubin() const { return bytes(symbols.GetCUBINSize, symbols.GetCUBIN); }
  std::string ptx() const { return text(symbols.GetPTXSize, symbols.GetPTX); }

  int status;

private:
  using SizeFunction = int (*)(void *, size_t *);
  using BytesFunction = int (*)(void *, char *);
  std::string bytes(SizeFunction size, BytesFunction get) const {
    size_t count = 0;
    if (!handle || size(handle, &count) != success)
      return "";
    std::string result(count, '\0');
    return get(handle, result.data()) == success ? result : "";
  }
  std::string text(SizeFunction size, BytesFunction get) const { // NVRTC counts the closing zero
    std::string result = bytes(size, get);
    return result.substr(0, result.find('\0'));
  }

  const Nvrtc::Symbols &symbols;
  void *handle = nullptr;
};

Error notFound(const std::string &tried) {
  return {.code = Code::TOOLCHAIN,
          .text = "expected NVRTC 12 or 13 (libnvrtc.so), got none that opens",
          .remedy = "install it (pip install nvidia-cuda-nvrtc, or a CUDA toolkit) or point "
                    "FUSEWRIGHT_NVRTC at it; "
                    "the CPU backend works without",
          .log = tried};
}

std::string joined(const std::vector<const char *> &options) {
  std::string text;
  for (const char *option : options)
    text += (text.empty() ? "" : " ") + std::string(option);
  return text;
}

} // namespace

std::vector<std::string> nvrtcFlags(int major, int minor) {
  std::vector<std::string> flags = {"--fmad=false",        "--prec-div=true",   "--prec-sqrt=true",
                                    "--ftz=false",         "--std=c++17",       "-default-device",
                                    "--no-source-include", "--ptxas-options=-v"};
  if (major > 12 || (major == 12 && minor >= 4))
    flags.push_back(
        "-minimal"); // leaves out textures and the runtime's types: a third of an empty compile
  return flags;
}

Nvrtc::Nvrtc() = default;
Nvrtc::~Nvrtc() = default; // the library stays loaded: other threads may still be inside it

Result<std::shared_ptr<const Nvrtc>> Nvrtc::open(const Settings &settings,
                                                 const SearchWorld &world) {
  std::string tried;
  for (const NvrtcCandidate &candidate : nvrtcCandidates(settings, world)) {
    Result<std::shared_ptr<const Nvrtc>> opened = openOne(candidate);
    if (opened)
      return opened;
    tried += candidate.place + ": " + candidate.path + ": " + opened.error().text + "\n";
  }
  return notFound(tried);
}

std::vector<std::shared_ptr<const Nvrtc>> Nvrtc::openAll(const Settings &settings,
                                                         const SearchWorld &world) {
  std::vector<std::shared_ptr<const Nvrtc>> all;
  for (const NvrtcCandidate &candidate : nvrtcCandidates(settings, world)) {
    Result<std::shared_ptr<const Nvrtc>> opened = openOne(candidate);
    if (opened && std::ranges::none_of(all, [&](const auto &earlier) {
          return earlier->libraryPath == (*opened)->libraryPath;
        }))
      all.push_back(std::move(*opened));
  }
  return all;
}

Result<std::shared_ptr<const Nvrtc>> Nvrtc::openOne(const NvrtcCandidate &candidate) {
  void *library = dlopen(candidate.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{.code = Code::TOOLCHAIN, .text = dlerror()};

  std::shared_ptr<Nvrtc> nvrtc(new Nvrtc);
  nvrtc->symbols = std::make_unique<Symbols>();
  if (const char *missing = resolve(library, *nvrtc->symbols))
    return Error{.code = Code::TOOLCHAIN,
                 .text = std::string("the library has no symbol ") + missing};

  int count = 0;
  Symbols &symbols = *nvrtc->symbols;
  if (symbols.Version(&nvrtc->major, &nvrtc->minor) != success ||
      symbols.GetNumSupportedArchs(&count) != success)
    return Error{.code = Code::TOOLCHAIN,
                 .text = "the library does not tell its version and archs"};
  nvrtc->archs.resize(size_t(count));
  symbols.GetSupportedArchs(nvrtc->archs.data());
  nvrtc->libraryPath = fileOf(reinterpret_cast<void *>(symbols.Version));
  nvrtc->foundIn = candidate.place;
  return std::shared_ptr<const Nvrtc>(nvrtc);
}

std::string Nvrtc::version() const {
  return "nvrtc " + std::to_string(major) + "." + std::to_string(minor);
}
std::vector<int> Nvrtc::supportedArchs() const { return archs; }
std::vector<std::string> Nvrtc::flags() const { return nvrtcFlags(major, minor); }

std::string Nvrtc::builtinsName() const {
  return "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
}

bool Nvrtc::builtinsBeside() const {
  std::error_code fault;
  return std::filesystem::exists(std::filesystem::path(libraryPath).parent_path() / builtinsName(),
                                 fault);
}

Result<CompiledKernel> Nvrtc::compile(const std::string &source, const std::string &name,
                                      const std::string &arch,
                                      std::span<const std::string> flags) const {
  if (arch.empty())
    return Error{.code = Code::USAGE,
                 .text = "expected an explicit arch for '" + name + "', got none",
                 .remedy = "name the arch; the compiler's own default fits no GPU"};
  std::string architecture = "--gpu-architecture=" + arch;
  std::vector<const char *> options = {architecture.c_str()};
  for (const std::string &flag : flags)
    options.push_back(flag.c_str());

  auto begin = std::chrono::steady_clock::now();
  Program program(*symbols, source, name);
  program.compile(options);
  std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;

  std::string log = program.log();
  if (program.status == success) {
    std::vector<KernelResources> resources = parseResources(log);
    return CompiledKernel{program.cubin(), program.ptx(), std::move(log), time.count(),
                          std::move(resources)};
  }

  bool builtins = program.status == builtinsFailure;
  std::string header = version() + " (" + libraryPath + ")\nbuiltins: " + builtinsName() +
                       (builtinsBeside() ? ", beside it\n" : ", NOT beside it\n") +
                       "options: " + joined(options) + "\n";
  return Error{.code = Code::TOOLCHAIN,
               .text = "expected '" + name + "' to compile for " + arch + ", got " +
                       symbols->GetErrorString(program.status) +
                       (builtins ? " while looking for " + builtinsName() : std::string()),
               .remedy =
                   builtins
                       ? "put " + builtinsName() + " of the same NVRTC beside " + libraryPath +
                             ", or point FUSEWRIGHT_NVRTC at a complete one"
                       : "read the log; if the source is generated, please report it with the log",
               .log = header + log + "\n" + numbered(source)};
}

} // namespace fw::jit
