// fusewright precompile: fills the cache for any arch, on a machine without a GPU.
#include "tools/cli/Commands.h"

#include "compiler/jit/Jobs.h"
#include "compiler/jit/KernelCompiler.h"
#include "compiler/target/Target.h"
#include "tools/cli/PrecompileJobs.h"
#include "tools/cli/Progress.h"
#include "tools/host/RowFacts.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <set>

namespace fw::cli {

namespace {

struct PrecompileFlags {
  std::vector<std::string> archs, ops = {"all"};
  std::vector<int64_t> widths; ///< of ops over rows
  unsigned jobs = 0;
  RequestFlags request;
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

/// An op over rows has a program for each width, and those for rows of any width; that on each kind
/// of boundaries. The caller's own facts are one kind.
Result<std::vector<Request>> withFacts(const Request &request, const PrecompileFlags &flags) {
  Result<ResolvedRequest> resolved = resolve(request);
  if (!resolved)
    return resolved.takeError();
  if (!host::isOverAxes(*resolved) || target::isCpuTarget(request.target) ||
      !flags.request.facts.empty())
    return std::vector<Request>{request};
  std::vector<Request> requests;
  auto add = [&](int64_t width) {
    for (host::Facts &facts : host::factsOfWidth(*resolved, width)) {
      requests.push_back(request);
      requests.back().facts = std::move(facts);
    }
  };
  add(0);
  for (int64_t width : flags.widths)
    add(width);
  return requests;
}

/// --widths, where no op has any.
Result<void> checkWidths(const PrecompileFlags &flags, const std::vector<Job> &jobs) {
  if (!flags.widths.empty() && !flags.request.facts.empty())
    return Error{Code::USAGE, "expected --widths or --fact, got both",
                 "name one width of one kind of rows by --fact columns=N,aligned=16"};
  auto hasWidths = [](const Job &job) {
    return job.request.op.op && !job.request.facts.empty() && job.request.facts.count("columns");
  };
  if (flags.widths.empty() || std::ranges::any_of(jobs, hasWidths))
    return {};
  return Error{Code::USAGE, "--widths: expected an op over rows for an arch of a GPU, got none",
               "leave it out: programs of other ops, and of the CPU, serve all tensors"};
}

/// All requests; one that cannot be resolved ends the command before anything is compiled.
Result<std::vector<Job>> makeJobs(const PrecompileFlags &flags,
                                  const std::vector<std::string> &archs) {
  Result<std::vector<language::OpHandle>> ops = findOps(flags.ops);
  if (!ops)
    return ops.takeError();
  std::vector<Job> jobs;
  for (const language::OpHandle &op : *ops) {
    printWarnings(op);
    for (const std::string &arch : archs) {
      Result<std::vector<Request>> requests = requestsOf(op, flags.request, arch);
      if (!requests)
        return requests.takeError();
      for (const Request &request : *requests) {
        Result<std::vector<Request>> all = withFacts(request, flags);
        if (!all)
          return all.takeError();
        for (Request &one : *all) {
          if (Result<ResolvedRequest> resolved = resolve(one); !resolved)
            return resolved.takeError();
          jobs.push_back({std::move(one)});
        }
      }
    }
  }
  if (Result<void> read = checkWidths(flags, jobs); !read)
    return read.takeError();
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
  printJobs(*jobs, session.json);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  printTotals(*jobs, archs->size(), seconds.count());
  return reportJobs(*jobs, compiler);
}

} // namespace

void addPrecompileCommand(CLI::App &app, Session &session) {
  auto flags = std::make_shared<PrecompileFlags>();
  CLI::App *command =
      app.add_subcommand("precompile", "Compile kernels into the cache; needs no GPU");
  addListFlag(*command, "--arch", flags->archs,
              "GPU archs (sm_80,sm_90), compute_90 for PTX, cpu, or all that NVRTC knows")
      ->required()
      ->type_name("A,B|all");
  addListFlag(*command, "--ops", flags->ops, "OPs, or all: the shipped ops")
      ->type_name("all|OP,..");
  command
      ->add_option("--widths", flags->widths,
                   "Elements of a row, for ops over rows on a GPU: programs for these widths, too")
      ->delimiter(',')
      ->check(numberUpTo(uint64_t(1) << 30, 1))
      ->type_name("N,N");
  command
      ->add_option("--jobs", flags->jobs,
                   "Compiles at a time; 0: as many as this process has cores")
      ->check(numberUpTo(UINT_MAX))
      ->type_name("N");
  addRequestFlags(*command, flags->request);
  addJsonFlag(*command, session);
  command->footer(
      "Without --dtype, --option and --feature every profile of the op is compiled. Ops "
      "over rows have programs for rows\nof any width, and with --widths for each of "
      "these: rows that all start on boundaries of 16 bytes, that are off\nthem by the "
      "same number of elements, and any others. With --fact only that one.");
  command->callback([&session, flags] {
    session.action = [&session, flags] { return precompile(session, *flags); };
  });
}

} // namespace fw::cli
