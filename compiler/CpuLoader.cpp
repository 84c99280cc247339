#include "compiler/CpuLoader.h"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

namespace fw {

struct CpuLibrary::Symbols {
#define FW_CPU_SYMBOL(name) decltype(&::name) name = nullptr;
#include "compiler/cpu_symbols.def"
#undef FW_CPU_SYMBOL
};

namespace {

constexpr const char *kFileName = "libfusewright-cpu.so";

/// The folder of the library or program that holds this code; empty when unknown.
std::string ownFolder() {
  Dl_info info = {};
  static const char anchor = 0;
  if (!dladdr(&anchor, &info) || !info.dli_fname)
    return {};
  return std::filesystem::path(info.dli_fname).parent_path().string();
}

/// Files to try, in order. A setting is the only candidate: it must not be passed over in silence.
std::vector<std::string> candidates(const jit::Settings &settings) {
  if (const std::string &wanted = settings.text(jit::Knob::cpu_library); !wanted.empty())
    return {wanted};
  std::vector<std::string> out;
  if (std::string folder = ownFolder(); !folder.empty())
    out.push_back(folder + "/" + kFileName);
  out.push_back(kFileName); // the loader: RUNPATH of this library, LD_LIBRARY_PATH, system folders
  return out;
}

std::string pathOf(void *symbol, const std::string &fallback) {
  Dl_info info = {};
  return dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : fallback;
}

} // namespace

Result<std::shared_ptr<const CpuLibrary>> CpuLibrary::open(const jit::Settings &settings) {
  std::string tried;
  for (const std::string &file : candidates(settings)) {
    void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      tried += std::string(dlerror()) + "\n";
      continue;
    }
    auto symbols = std::make_shared<Symbols>();
    bool complete = true;
#define FW_CPU_SYMBOL(name)                                                                        \
  symbols->name = reinterpret_cast<decltype(symbols->name)>(dlsym(handle, #name));                 \
  complete = complete && symbols->name;
#include "compiler/cpu_symbols.def"
#undef FW_CPU_SYMBOL
    std::string abi = "fw-cpu " + std::to_string(FW_CPU_ABI) + " ";
    if (!complete || std::string_view(symbols->fw_cpu_version()).substr(0, abi.size()) != abi) {
      tried += file + ": not the CPU library of this version (expected '" + abi + "...')\n";
      continue;
    }
    auto library = std::make_shared<CpuLibrary>();
    library->file = pathOf(reinterpret_cast<void *>(symbols->fw_cpu_version), file);
    library->symbols = std::move(symbols);
    return std::shared_ptr<const CpuLibrary>(std::move(library));
  }
  return Error{
      .code = Code::TOOLCHAIN,
      .text = std::string("expected the CPU library ") + kFileName + ", got none that opens",
      .remedy = "install it beside libfusewright, or set FUSEWRIGHT_CPU_LIBRARY to its path",
      .log = tried};
}

std::string CpuLibrary::version() const { return symbols->fw_cpu_version(); }
std::string CpuLibrary::hostFeatures() const { return symbols->fw_cpu_host_features(); }

namespace {

/// Takes what the library owns, as a string.
template <class Symbols> std::string take(const Symbols &symbols, fw_cpu_bytes *bytes) {
  if (!bytes)
    return {};
  std::string out(symbols.fw_cpu_bytes_data(bytes), symbols.fw_cpu_bytes_size(bytes));
  symbols.fw_cpu_bytes_destroy(bytes);
  return out;
}

template <class Symbols> Error takeError(const Symbols &symbols, int status, fw_cpu_error &error) {
  Error out;
  out.code = Code(status);
  out.text = take(symbols, error.text);
  out.log = take(symbols, error.log);
  return out;
}

} // namespace

Result<std::string> CpuLibrary::readFeatures(const std::string &list, bool runsHere) const {
  fw_cpu_error error = {sizeof error, nullptr, nullptr};
  fw_cpu_bytes *bytes = nullptr;
  if (int status = symbols->fw_cpu_read_features(list.c_str(), runsHere, &bytes, &error))
    return takeError(*symbols, status, error);
  return take(*symbols, bytes);
}

Result<std::string> CpuLibrary::compile(std::string_view phases, const std::string &features,
                                        const char *stage) const {
  fw_cpu_compile_args args = {};
  args.struct_size = sizeof args;
  args.phases = phases.data();
  args.phases_size = phases.size();
  args.features = features.c_str();
  args.stage = stage;
  fw_cpu_error error = {sizeof error, nullptr, nullptr};
  fw_cpu_bytes *bytes = nullptr;
  if (int status = symbols->fw_cpu_compile(&args, &bytes, &error))
    return takeError(*symbols, status, error);
  return take(*symbols, bytes);
}

Result<CpuLibrary::Kernel> CpuLibrary::link(std::string_view object,
                                            const std::string &symbol) const {
  fw_cpu_error error = {sizeof error, nullptr, nullptr};
  fw_cpu_kernel *kernel = nullptr;
  if (int status =
          symbols->fw_cpu_link(object.data(), object.size(), symbol.c_str(), &kernel, &error))
    return takeError(*symbols, status, error);
  Kernel out;
  out.function = symbols->fw_cpu_kernel_function(kernel);
  out.code = std::shared_ptr<void>(kernel, [keep = symbols](void *code) {
    keep->fw_cpu_kernel_destroy(static_cast<fw_cpu_kernel *>(code));
  });
  return out;
}

} // namespace fw
