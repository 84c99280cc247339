// What is behind the opaque handles.
#pragma once

#include "compiler/Compiler.h"
#include "runtime/launch/Launch.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace fw::api {

/// Shared by a context's handle and all that was made from it.
struct ContextState {
  ContextState(fw_context_options options, CompilerOptions compilerOptions, unsigned threads);

  jit::LogSink log;
  Compiler compiler;
  Threads threads;
  launch::Executor executor; ///< the host's parallel_for, or `threads`
  std::atomic<uint64_t> launches = 0, memoryHits = 0, diskHits = 0;

  /// Where a program came from: its own origin when it is seen first, later "memory".
  const char *origin(const fw::Program &program);

private:
  std::mutex mutex;
  std::set<const fw::Program *> seen; ///< they live as long as the compiler
};

/// Operands and scalars of a request as a launch checks them; without kernels.
launch::Program describeLaunch(const ResolvedRequest &request);

/// The caller's arrays, of structs that may be larger than ours.
launch::TensorArray tensorsOf(const fw_tensor *tensors, size_t count);
launch::ScalarArray scalarsOf(const fw_scalar *scalars, size_t count);

/// A compiled program with what every launch of it needs. Immutable.
struct ProgramState {
  explicit ProgramState(std::shared_ptr<const fw::Program> program);

  std::shared_ptr<const fw::Program> program;
  launch::Program launchable; ///< of a CPU program
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

struct fw_text {
  std::string text;
};
