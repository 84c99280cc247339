// What is behind the opaque handles.
#pragma once

#include "compiler/Compiler.h"
#include "runtime/api/RowVariants.h"
#include "runtime/driver/Memory.h"
#include "runtime/driver/Module.h"
#include "runtime/launch/Launch.h"
#include "runtime/plan/CudaPlan.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace fw::api {

struct ProgramState;

/// Shared by a context's handle and all that was made from it.
struct ContextState {
  ContextState(fw_context_options options, CompilerOptions compilerOptions, unsigned threads);

  jit::LogSink log;
  Compiler compiler;
  Threads threads;
  launch::Executor executor;      ///< the host's parallel_for, or `threads`
  driver::Allocator deviceMemory; ///< the host's callbacks, or the driver's
  std::atomic<uint64_t> launches = 0, memoryHits = 0, diskHits = 0, modules = 0, tableUploads = 0;

  /// What launches need of a program, made once per program, and where it came from: its own origin
  /// when it is seen first, later "memory".
  std::pair<std::shared_ptr<const ProgramState>, const char *>
  stateOf(std::shared_ptr<const fw::Program> program);

  /// A copy that lives as long as the context.
  const char *keep(std::string text);
  /// Warnings of op text, in the log; the same text that is parsed again says nothing new.
  void warnOnce(const std::string &warnings);

  /// The CUDA driver, opened by the first call that needs it.
  Result<const driver::Driver *> driver();
  /// The target of code for a device: "sm_90".
  Result<std::string> targetOf(const driver::Device &device); ///< asked once per device
  /// The kernel `fw_scalars` for a target.
  Result<driver::Module *> scalarsModule(const std::string &target);

  /// What a plan or launch on a CUDA device needs; `context` is current or is made so by the
  /// caller.
  plan::DeviceWorld world(const driver::Driver &driver, driver::CUcontext context, int device,
                          const std::string &target);

private:
  struct ScalarsKernel {
    explicit ScalarsKernel(std::shared_ptr<const fw::CompiledKernels> kernels);

    std::shared_ptr<const fw::CompiledKernels> kernels; ///< keeps the module's image alive
    driver::Module module;
  };

  std::atomic<const driver::Driver *> opened = nullptr;
  std::mutex mutex;
  std::map<const fw::Program *, std::shared_ptr<const ProgramState>> states;
  std::map<std::string, ScalarsKernel> scalarsKernels; ///< by target
  std::map<int, std::string> targets;                  ///< by device
  std::set<std::string> kept, warned;
};

/// Operands and scalars of a request as a launch checks them; without kernels.
launch::Program describeLaunch(const ResolvedRequest &request);

/// The caller's arrays, of structs that may be larger than ours.
launch::TensorArray tensorsOf(const fw_tensor *tensors, size_t count);
launch::ScalarArray scalarsOf(const fw_scalar *scalars, size_t count);

/// A compiled program with what every launch of it needs. Immutable, but for what launches find.
struct ProgramState {
  explicit ProgramState(std::shared_ptr<const fw::Program> program);

  std::shared_ptr<const fw::Program> program;
  launch::Program launchable;
  plan::CudaProgram cuda;       ///< without kernels for the CPU
  mutable RowVariants variants; ///< of an op over rows on a GPU

  bool isForCpu() const { return program->record.target == "cpu"; }
};

/// Strings handed out for the life of a handle.
class Strings {
public:
  const char *keep(std::string text) { return kept.insert(std::move(text)).first->c_str(); }

private:
  std::set<std::string> kept;
};

} // namespace fw::api

struct fw_context {
  std::shared_ptr<fw::api::ContextState> state;
};

struct fw_op {
  fw_op(std::shared_ptr<fw::api::ContextState> context, fw::language::OpHandle op);

  std::shared_ptr<fw::api::ContextState> context;
  fw::language::OpHandle op;
  std::vector<std::string> features;
  std::vector<fw::language::OptionInfo> options;
  std::map<std::string, std::vector<const char *>> optionValues; ///< by option, as C wants them
};

/// Used by one thread at a time, so what const functions find out may be kept.
struct fw_request {
  std::shared_ptr<fw::api::ContextState> context;
  fw::Request request;

  mutable std::shared_ptr<const fw::ResolvedRequest> resolved;   ///< until the next change
  mutable std::shared_ptr<const fw::api::ProgramState> compiled; ///< the same
  mutable std::weak_ptr<const fw::api::ContextState> compiledIn;
  mutable fw::api::Strings strings;

  void changed() { resolved.reset(), compiled.reset(); }
  const fw::ResolvedRequest &resolve() const;
};

struct fw_program {
  std::shared_ptr<const fw::api::ProgramState> state;
  const char *origin;
};

struct fw_plan {
  ~fw_plan();

  std::shared_ptr<fw::api::ContextState> context;
  std::vector<std::shared_ptr<const fw::api::ProgramState>> programs; ///< by group
  fw::launch::Place place;
  fw::plan::PlanScalars scalars;
  std::unique_ptr<fw::plan::Plan> plan;
};

struct fw_buffer {
  std::shared_ptr<fw::api::ContextState> context;
  fw::launch::Place place;
  std::unique_ptr<std::byte, void (*)(void *)> host; ///< on the CPU
  fw::driver::DeviceMemory memory;                   ///< on a CUDA device
  fw::driver::CUcontext cudaContext;
  size_t bytes;

  std::byte *data() const;
};

struct fw_text {
  std::string text;
};
