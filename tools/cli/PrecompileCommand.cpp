// fusewright precompile: fills the cache for any arch, on a machine without a GPU.
#include "tools/cli/Commands.h"

#include "compiler/jit/Jobs.h"
#include "compiler/jit/KernelCompiler.h"
#include "compiler/target/Target.h"
#include "tools/cli/Progress.h"
#include "tools/cli/Table.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <iostream>
#include <optional>
#include <set>

namespace fw::cli {

namespace {

struct PrecompileFlags {
  std::vector<std::string> archs, ops = {"all"};
  unsigned jobs = 0;
  RequestFlags request;
};

/// One request for one arch, or without an op the arch's kernel of scalar programs; and what became
/// of it.
struct Job {
  Request request;
  std::shared_ptr<const CompiledKernels> program = nullptr;
  std::optional<Error> error = std::nullopt;
  bool stored = false; ///< record and kernels are in the cache at the end

  std::string name() const { return request.op.op ? request.op->name : "scalars"; }
  const char *status() const {
    return error                                 ? "failed"
           : !stored                             ? "not stored"
           : program->origin == Origin::COMPILED ? "compiled"
                                                 : "cached";
  }
};

/// Every arch that both the table and NVRTC know.
Result<std::vector<std::string>> allArchs(Compiler &compiler) {
  auto nvrtc = compiler.kernelCompiler();
  if (!nvrtc)
    return nvrtc.takeError();
  std::vector<int> supported = (*nvrtc)->supportedArchs();
  std::vector<std::string> archs;
  for (const target::Arch &arch : target::archs())
    if (std::ranges::find(supported, arch.number) != supported.end())
      archs.push_back(arch.name);
  return archs;
}

/// The targets of --arch; one that is unknown ends the command before anything is compiled.
Result<std::vector<std::string>> archsOf(const std::vector<std::string> &names,
                                         Compiler &compiler) {
  std::vector<std::string> all;
  if (namesAll(names)) {
    Result<std::vector<std::string>> known = allArchs(compiler);
    if (!known)
      return known;
    all = std::move(*known);
  }
  std::vector<std::string> archs = unite(names, all);
  for (const std::string &name : archs)
    if (!target::isCpuTarget(name))
      if (auto arch = target::findArch(name); !arch)
        return arch.takeError();
  return archs;
}

/// All requests; one that cannot be resolved ends the command before anything is compiled.
Result<std::vector<Job>> makeJobs(const PrecompileFlags &flags,
                                  const std::vector<std::string> &archs) {
  Result<std::vector<language::OpHandle>> ops = findOps(flags.ops);
  if (!ops)
    return ops.takeError();
  std::vector<Job> jobs;
  for (const language::OpHandle &op : *ops)
    for (const std::string &arch : archs) {
      Result<std::vector<Request>> requests = requestsOf(op, flags.request, arch);
      if (!requests)
        return requests.takeError();
      for (Request &request : *requests) {
        if (Result<ResolvedRequest> resolved = resolve(request); !resolved)
          return resolved.takeError();
        jobs.push_back({std::move(request)});
      }
    }
  for (const std::string &arch : archs)
    if (!target::isCpuTarget(arch))
      jobs.push_back({Request{.target = arch}});
  return jobs;
}

void runJobs(std::vector<Job> &jobs, Compiler &compiler, unsigned threads) {
  Progress progress("compiling", jobs.size());
  auto take = [](Job &job, auto made) {
    if (made)
      job.program = *made;
    else
      job.error = made.takeError();
  };
  auto compile = [&](size_t i) {
    const Request &request = jobs[i].request;
    request.op.op ? take(jobs[i], compiler.compile(request))
                  : take(jobs[i], compiler.scalarsKernel(request.target));
  };
  jit::runJobs(jobs.size(), threads, compile,
               [&](size_t i) { progress.step(jobs[i].name() + " " + jobs[i].request.target); });
}

/// What is in the cache now, by kind and key.
using Stored = std::set<std::pair<jit::EntryKind, std::string>>;

bool isStored(const CompiledKernels &program, const Stored &stored) {
  auto kind =
      target::isCpuTarget(program.record.target) ? jit::EntryKind::Object : jit::EntryKind::Kernel;
  return stored.contains({jit::EntryKind::Program, program.key}) &&
         std::ranges::all_of(program.kernels, [&](const ProgramKernel &kernel) {
           return stored.contains({kind, kernel.image->key});
         });
}

/// Asks the disk: a folder may be full, read only or too small for all that was made.
void findStored(std::vector<Job> &jobs, jit::Cache &cache) {
  Stored stored;
  for (const jit::CacheListing &entry : cache.list())
    stored.emplace(entry.kind, entry.key);
  for (Job &job : jobs)
    job.stored = job.program && isStored(*job.program, stored);
}

/// Calls visit(job, launch record, image bytes) per kernel; a failed job is one call with nulls.
template <class Visit> void forEachKernel(const std::vector<Job> &jobs, Visit visit) {
  for (const Job &job : jobs) {
    if (job.error) {
      visit(job, nullptr, 0);
      continue;
    }
    for (size_t k = 0; k < job.program->kernels.size(); ++k)
      visit(job, &job.program->record.kernels[k].launch,
            job.program->kernels[k].image->image().size());
  }
}

Json toJson(const std::vector<Job> &jobs) {
  Json kernels = Json::array();
  forEachKernel(jobs, [&](const Job &job, const jit::LaunchRecord *launch, size_t bytes) {
    Json row = {{"op", job.name()},
                {"arch", job.request.target},
                {"dtypes", job.request.dtypes},
                {"options", job.request.options},
                {"features", job.request.features},
                {"symbol", launch ? Json(launch->symbol) : Json(nullptr)},
                {"registers", launch ? Json(launch->registers) : Json(nullptr)},
                {"spill_bytes", launch ? Json(launch->spillBytes) : Json(nullptr)},
                {"image_bytes", launch ? Json(bytes) : Json(nullptr)},
                {"ms", launch ? Json(job.program->milliseconds) : Json(nullptr)},
                {"status", job.status()}};
    if (job.error)
      row["error"] = render(*job.error);
    kernels.push_back(std::move(row));
  });
  return {{"kernels", kernels}};
}

std::string count(int value) { return value < 0 ? "-" : std::to_string(value); }

void printTable(const std::vector<Job> &jobs) {
  Table table({"kernel", "arch", "options and features", ">registers", ">spill bytes",
               ">image bytes", ">ms", "status"});
  forEachKernel(jobs, [&](const Job &job, const jit::LaunchRecord *launch, size_t bytes) {
    std::string name = launch ? launch->symbol : job.name() + " " + dtypesText(job.request);
    table.add({name, job.request.target, choicesText(job.request),
               launch ? count(launch->registers) : "-", launch ? count(launch->spillBytes) : "-",
               launch ? std::to_string(bytes) : "-",
               launch ? decimal(job.program->milliseconds, 1) : "-", job.status()});
  });
  table.print(std::cout);
}

void printTotals(const std::vector<Job> &jobs, size_t archs, double seconds) {
  auto with = [&](std::string_view status) {
    return std::to_string(
        std::ranges::count_if(jobs, [&](const Job &job) { return job.status() == status; }));
  };
  std::cerr << jobs.size() << (jobs.size() == 1 ? " program for " : " programs for ") << archs
            << (archs == 1 ? " arch: " : " archs: ") << with("compiled") << " compiled, "
            << with("cached") << " cached, " << with("failed") << " failed, " << with("not stored")
            << " not stored in " << decimal(seconds, 1) << " s\n";
}

void warnOfSpills(const std::vector<Job> &jobs) {
  forEachKernel(jobs, [](const Job &job, const jit::LaunchRecord *launch, size_t) {
    if (launch && launch->spillBytes > 0)
      std::cerr << "warning: " << launch->symbol << " for " << job.request.target << " spills "
                << launch->spillBytes
                << " bytes of a thread's registers; --schedule with fewer threads, or a smaller "
                   "vec or inflight, may avoid it\n";
  });
}

/// The errors of failed jobs, each once, with the job that had it first. The exit code is that of
/// the first.
int printErrors(const std::vector<Job> &jobs) {
  std::vector<std::pair<const Job *, size_t>> distinct; ///< and how many more had the same
  for (const Job &job : jobs) {
    if (!job.error)
      continue;
    auto same = std::ranges::find_if(distinct, [&](const auto &earlier) {
      return render(*earlier.first->error) == render(*job.error) &&
             earlier.first->error->log == job.error->log;
    });
    if (same == distinct.end())
      distinct.emplace_back(&job, 0);
    else
      ++same->second;
  }
  for (const auto &[job, more] : distinct) {
    std::cerr << job->name() << " for " << job->request.target;
    if (more)
      std::cerr << " and " << more << " more";
    std::cerr << ": ";
    printError(*job->error);
  }
  return distinct.empty() ? 0 : int(distinct.front().first->error->code);
}

/// Why programs that were made are not in the cache.
Error notStored(size_t count, jit::Cache &cache, const jit::Settings &settings) {
  Error error{Code::CACHE, "expected every program in the cache, got " + std::to_string(count) +
                               " that are not stored: "};
  const jit::CacheFolder *folder = cache.folder();
  std::string cap = std::to_string(settings.number(jit::Knob::cache_size)) + " bytes";
  if (settings.number(jit::Knob::cache_size) == 0) {
    error.text += "FUSEWRIGHT_CACHE_SIZE=0 keeps nothing on disk";
    error.remedy = "leave FUSEWRIGHT_CACHE_SIZE out, or name the bytes that may be used";
  } else if (!folder) {
    error.text += "there is no cache folder that can be used";
    error.remedy = "point FUSEWRIGHT_CACHE_DIR at a folder of this user";
  } else if (!folder->isWritable()) {
    error.text += folder->place() + " cannot be written";
    error.remedy = "make the folder writable or point FUSEWRIGHT_CACHE_DIR at one that is";
  } else {
    error.text += folder->place() + " is full, or holds at most " + cap +
                  ", so that entries made now were removed again";
    error.remedy = "raise FUSEWRIGHT_CACHE_SIZE, or free space there";
  }
  return error;
}

/// What went wrong, on stderr, and the exit code.
int report(const std::vector<Job> &jobs, Compiler &compiler) {
  warnOfSpills(jobs);
  int code = printErrors(jobs);
  auto lost = size_t(
      std::ranges::count_if(jobs, [](const Job &job) { return job.program && !job.stored; }));
  if (lost == 0)
    return code;
  int own = printError(notStored(lost, compiler.cache(), compiler.settings()));
  return code ? code : own;
}

Result<int> precompile(const Session &session, const PrecompileFlags &flags) {
  auto start = std::chrono::steady_clock::now();
  CompilerOptions options = session.compilerOptions();
  options.runsHere = false;
  Compiler compiler(std::move(options));
  Result<std::vector<std::string>> archs = archsOf(flags.archs, compiler);
  if (!archs)
    return archs.takeError();
  Result<std::vector<Job>> jobs = makeJobs(flags, *archs);
  if (!jobs)
    return jobs.takeError();
  auto threads =
      flags.jobs ? flags.jobs : unsigned(session.settings.number(jit::Knob::num_threads));
  runJobs(*jobs, compiler, threads);
  findStored(*jobs, compiler.cache());
  if (session.json)
    std::cout << toJson(*jobs).dump(2) << "\n";
  else
    printTable(*jobs);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  printTotals(*jobs, archs->size(), seconds.count());
  return report(*jobs, compiler);
}

} // namespace

void addPrecompileCommand(CLI::App &app, Session &session) {
  auto flags = std::make_shared<PrecompileFlags>();
  CLI::App *command =
      app.add_subcommand("precompile", "Compile kernels into the cache; needs no GPU");
  command
      ->add_option("--arch", flags->archs,
                   "GPU archs (sm_80,sm_90), compute_90 for PTX, cpu, or all that NVRTC knows")
      ->required()
      ->delimiter(',')
      ->type_name("A,B|all");
  command->add_option("--ops", flags->ops, "OPs, or all: the shipped ops")
      ->delimiter(',')
      ->type_name("all|OP,..");
  command
      ->add_option("--jobs", flags->jobs,
                   "Compiles at a time; 0: as many as this process has cores")
      ->check(numberUpTo(UINT_MAX))
      ->type_name("N");
  addRequestFlags(*command, flags->request);
  addJsonFlag(*command, session);
  command->footer("Without --dtype, --option and --feature every profile of the op is compiled.");
  command->callback([&session, flags] {
    session.action = [&session, flags] { return precompile(session, *flags); };
  });
}

} // namespace fw::cli
