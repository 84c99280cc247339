// Contexts: settings, threads and counters.
#include "runtime/api/Border.h"
#include "runtime/api/Handles.h"

using namespace fw;
using namespace fw::api;

namespace {

fw_log_level levelOf(jit::Severity severity) {
  switch (severity) {
  case jit::Severity::Error:
    return FW_LOG_ERROR;
  case jit::Severity::Warning:
    return FW_LOG_WARNING;
  case jit::Severity::Info:
    return FW_LOG_INFO;
  case jit::Severity::Debug:
    return FW_LOG_DEBUG;
  }
  return FW_LOG_ERROR;
}

ParallelFor hostParallelFor(const fw_context_options &options) {
  return [options](size_t count, const Body &body) {
    auto call = [](void *argument, size_t index) { (*static_cast<const Body *>(argument))(index); };
    options.parallel_for(options.user_data, count, call, const_cast<Body *>(&body));
  };
}

} // namespace

ContextState::ContextState(fw_context_options options, CompilerOptions compilerOptions,
                           unsigned threadCount)
    : log(compilerOptions.log), compiler(std::move(compilerOptions)), threads(threadCount) {
  executor.threads = threads.count();
  if (options.parallel_for)
    executor.parallelFor = hostParallelFor(options);
  else
    executor.parallelFor = [this](size_t count, const Body &body) {
      threads.parallelFor(count, body);
    };
  if (options.device_allocate)
    deviceMemory = {.allocate =
                        [options](int device, size_t bytes) {
                          return options.device_allocate(options.user_data, device, bytes);
                        },
                    .release =
                        [options](int device, void *memory) {
                          options.device_release(options.user_data, device, memory);
                        }};
}

std::pair<std::shared_ptr<const ProgramState>, const char *>
ContextState::stateOf(std::shared_ptr<const Program> program) {
  std::lock_guard lock(mutex);
  std::shared_ptr<const ProgramState> &known = states[program.get()];
  if (known || program->origin == Origin::MEMORY)
    ++memoryHits;
  else if (program->origin == Origin::DISK)
    ++diskHits;
  const char *origin = known                                 ? "memory"
                       : program->origin == Origin::COMPILED ? "compiled"
                       : program->origin == Origin::DISK     ? "disk"
                                                             : "memory";
  if (!known)
    known = std::make_shared<const ProgramState>(std::move(program));
  return {known, origin};
}

const char *ContextState::keep(std::string text) {
  std::lock_guard lock(mutex);
  return kept.insert(std::move(text)).first->c_str();
}

void ContextState::warnOnce(const std::string &warnings) {
  if (warnings.empty())
    return;
  {
    std::lock_guard lock(mutex);
    if (!warned.insert(warnings).second)
      return;
  }
  log(jit::Severity::Warning, warnings);
}

namespace {

/// The list as the setting takes it.
std::string joinedPaths(const char *const *paths, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    std::string_view path = paths[i] ? paths[i] : "";
    if (path.empty() || path.find(':') != path.npos)
      throw Failure{{Code::USAGE,
                     "options: expected a path without ':' as read_only_cache_dirs[" +
                         std::to_string(i) + "], got " +
                         (paths[i] ? "'" + std::string(path) + "'" : "NULL"),
                     "name the folder by another path"}};
    out += (i ? ":" : "") + std::string(path);
  }
  return out;
}

/// The environment's settings, with what the host says instead.
jit::Settings settingsOf(const fw_context_options &options) {
  if (options.strict < -1 || options.strict > 1)
    throw Failure{{Code::USAGE,
                   "options: expected strict of -1, 0 or 1, got " + std::to_string(options.strict),
                   "start from fw_context_options_init, which sets -1"}};
  if (!options.device_allocate != !options.device_release)
    throw Failure{{Code::USAGE,
                   "options: expected device_allocate and device_release, got one of them",
                   "set both or neither"}};
  jit::Settings settings = take(jit::Settings::read());
  if (options.strict >= 0)
    take(settings.set(jit::Knob::strict, options.strict ? "1" : "0"));
  if (options.cache_dir)
    take(settings.set(jit::Knob::cache_dir, options.cache_dir));
  if (options.read_only_cache_dirs)
    take(settings.set(jit::Knob::cache_read_only, joinedPaths(options.read_only_cache_dirs,
                                                              options.read_only_cache_dir_count)));
  return settings;
}

/// The host's callback, or stderr down to the severity that the setting `log` names.
jit::LogSink logOf(const fw_context_options &options, const jit::Settings &settings) {
  if (options.log)
    return [options](jit::Severity severity, std::string_view text) {
      options.log(options.user_data, levelOf(severity), std::string(text).c_str());
    };
  return [shown = settings.number(jit::Knob::log),
          print = jit::standardErrorSink()](jit::Severity severity, std::string_view text) {
    if (int64_t(severity) < shown) // "off" is 0, "error" 1 ...
      print(severity, text);
  };
}

CompilerOptions compilerOptions(const fw_context_options &options) {
  CompilerOptions result;
  result.settings = settingsOf(options);
  result.log = logOf(options, result.settings);
  return result;
}

} // namespace

extern "C" {

void fw_context_options_init(fw_context_options *options) {
  if (options)
    *options = {.struct_size = sizeof(fw_context_options), .strict = -1};
}

fw_status fw_context_create(const fw_context_options *options, fw_context **out) {
  return border([&] {
    need(out, "out");
    fw_context_options known;
    fw_context_options_init(&known);
    if (options)
      known = readStruct(options, "options", known);
    CompilerOptions inner = compilerOptions(known);
    auto threads = unsigned(inner.settings.number(jit::Knob::num_threads));
    *out = new fw_context{std::make_shared<ContextState>(known, std::move(inner), threads)};
  });
}

fw_status fw_context_counters(const fw_context *context, fw_counters *out) {
  return border([&] {
    ContextState &state = *need(context, "context").state;
    fw_counters counters = {};
    counters.memory_hits = state.memoryHits;
    counters.disk_hits = state.diskHits;
    counters.launches = state.launches;
    counters.modules = state.modules;
    counters.table_uploads = state.tableUploads;
    for (unsigned kind = 0; kind < unsigned(jit::EntryKind::count); ++kind) {
      jit::CacheCounters of = state.compiler.cache().counters(jit::EntryKind(kind));
      if (jit::EntryKind(kind) != jit::EntryKind::Program)
        counters.compiles += of.compiles;
      counters.waits += of.waits;
      counters.cache_faults += of.faults;
    }
    writeStruct(out, counters);
  });
}

void fw_context_destroy(fw_context *context) { delete context; }

} // extern "C"
