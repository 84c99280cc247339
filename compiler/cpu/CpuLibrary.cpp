#define FW_CPU_BUILD
#include "compiler/cpu/CpuLibrary.h"

#include "compiler/cpu/ObjectCompiler.h"
#include "compiler/cpu/ObjectLinker.h"

#include "compiler/cpu/CpuBuildId.inc"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Config/llvm-config.h"

#include <new>
#include <optional>

using namespace fw;
using namespace fw::cpu;

struct fw_cpu_bytes {
  std::string text;
};

struct fw_cpu_kernel {
  std::unique_ptr<LinkedObject> object;
};

namespace {

constexpr int kMostUnroll = 16;

fw_cpu_bytes *toBytes(std::string text) { return new fw_cpu_bytes{std::move(text)}; }

int report(const fw::Error &error, fw_cpu_error *out) {
  if (out && out->struct_size >= sizeof(fw_cpu_error)) {
    out->text = toBytes(render(error));
    out->log = error.log.empty() ? nullptr : toBytes(error.log);
  }
  return static_cast<int>(error.code);
}

/// Runs `body`, which gives a Result<void>; an exception becomes a status.
template <class Body> int guarded(fw_cpu_error *out, Body body) {
  try {
    Result<void> result = body();
    return result ? static_cast<int>(Code::OK) : report(result.error(), out);
  } catch (const std::bad_alloc &) {
    return static_cast<int>(Code::OUT_OF_MEMORY);
  } catch (const std::exception &exception) {
    return report({Code::INTERNAL, exception.what()}, out);
  }
}

Result<CompileOptions> readOptions(const fw_cpu_compile_args &args) {
  if (args.struct_size < sizeof(fw_cpu_compile_args))
    return fw::Error{Code::USAGE, "expected struct_size of at least " +
                                      std::to_string(sizeof(fw_cpu_compile_args)) + ", got " +
                                      std::to_string(args.struct_size)};
  auto features = args.features ? Features::parse(args.features) : Features::host();
  if (!features)
    return features.error();
  CompileOptions options{.features = *features};
  if (args.unroll != 0)
    options.unroll = args.unroll;
  auto stage = llvm::StringSwitch<std::optional<Output>>(args.stage ? args.stage : "object")
                   .Case("object", Output::Object)
                   .Case("vectors", Output::Vectors)
                   .Case("llvm", Output::LlvmIr)
                   .Case("asm", Output::Assembly)
                   .Default(std::nullopt);
  if (!stage)
    return fw::Error{Code::USAGE, "expected a stage object, vectors, llvm or asm, got '" +
                                      std::string(args.stage) + "'"};
  if (options.unroll < 1 || options.unroll > kMostUnroll)
    return fw::Error{Code::USAGE, "expected an unroll of 1 to " + std::to_string(kMostUnroll) +
                                      " (0: chosen), got " + std::to_string(args.unroll)};
  options.output = *stage;
  return options;
}

} // namespace

const char *fw_cpu_bytes_data(const fw_cpu_bytes *bytes) { return bytes->text.c_str(); }
size_t fw_cpu_bytes_size(const fw_cpu_bytes *bytes) { return bytes->text.size(); }
void fw_cpu_bytes_destroy(fw_cpu_bytes *bytes) { delete bytes; }

int fw_cpu_compile(const fw_cpu_compile_args *args, fw_cpu_bytes **out_object,
                   fw_cpu_error *out_error) {
  return guarded(out_error, [&]() -> Result<void> {
    auto options = readOptions(*args);
    if (!options)
      return options.error();
    auto bytes = compile({args->phases, args->phases_size}, *options);
    if (!bytes)
      return bytes.error();
    *out_object = toBytes(std::move(*bytes));
    return {};
  });
}

int fw_cpu_link(const void *object, size_t size, const char *symbol, fw_cpu_kernel **out_kernel,
                fw_cpu_error *out_error) {
  return guarded(out_error, [&]() -> Result<void> {
    auto linked = LinkedObject::link({static_cast<const char *>(object), size}, symbol);
    if (!linked)
      return linked.error();
    *out_kernel = new fw_cpu_kernel{std::move(*linked)};
    return {};
  });
}

fw_cpu_function fw_cpu_kernel_function(const fw_cpu_kernel *kernel) {
  return kernel->object->function();
}
void fw_cpu_kernel_destroy(fw_cpu_kernel *kernel) { delete kernel; }

const char *fw_cpu_host_features(void) {
  static const std::string text = Features::host().canonical();
  return text.c_str();
}

int fw_cpu_read_features(const char *text, int32_t runs_here, fw_cpu_bytes **out_features,
                         fw_cpu_error *out_error) {
  return guarded(out_error, [&]() -> Result<void> {
    auto features = Features::parse(text);
    if (!features)
      return features.error();
    if (auto fits = features->checkRunsOn(Features::host()); runs_here && !fits)
      return fits.error();
    *out_features = toBytes(features->canonical());
    return {};
  });
}

const char *fw_cpu_version(void) {
  static const std::string text =
      "fw-cpu " + std::to_string(FW_CPU_ABI) + " llvm " LLVM_VERSION_STRING " " FW_BUILD_ID;
  return text.c_str();
}
