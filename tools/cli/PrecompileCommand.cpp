// fusewright precompile: fills the cache for any arch, on a machine without a GPU.
#include "tools/cli/Commands.h"

#include "compiler/jit/KernelCompiler.h"
#include "compiler/target/Target.h"
#include "tools/cli/Progress.h"
#include "tools/cli/Table.h"

#include "llvm/Support/ThreadPool.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>

namespace fw::cli {

namespace {

struct PrecompileFlags {
  std::vector<std::string> archs, ops = {"all"};
  unsigned jobs = 0;
  RequestFlags request;
};

/// One request for one arch, and what became of it.
struct Job {
  Request request;
  std::shared_ptr<const Program> program;
  std::optional<Error> error;

  const char *status() const {
    return error ? "failed" : program->origin == Origin::COMPILED ? "compiled" : "cached";
  }
};

/// "all" is every arch that both the table and NVRTC know.
Result<std::vector<std::string>> archsOf(const std::vector<std::string> &names,
                                         Compiler &compiler) {
  if (names != std::vector<std::string>{"all"})
    return names;
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
        jobs.push_back({std::move(request), nullptr, std::nullopt});
      }
    }
  return jobs;
}

void runJobs(std::vector<Job> &jobs, Compiler &compiler, unsigned threads) {
  Progress progress("compiling", jobs.size());
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(threads));
  for (Job &job : jobs)
    pool.async([&job, &compiler, &progress] {
      auto program = compiler.compile(job.request);
      if (program)
        job.program = *program;
      else
        job.error = program.takeError();
      progress.step(job.request.op->name + " " + job.request.target);
    });
  pool.wait();
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
            job.program->kernels[k].image->code.size());
  }
}

Json toJson(const std::vector<Job> &jobs) {
  Json kernels = Json::array();
  forEachKernel(jobs, [&](const Job &job, const jit::LaunchRecord *launch, size_t bytes) {
    Json row = {{"op", job.request.op->name},
                {"arch", job.request.target},
                {"dtypes", job.request.dtypes},
                {"options", job.request.options},
                {"features", job.request.features},
                {"symbol", launch ? Json(launch->symbol) : Json(nullptr)},
                {"registers", launch ? Json(launch->registers) : Json(nullptr)},
                {"spill_bytes", launch ? Json(launch->spillBytes) : Json(nullptr)},
                {"cubin_bytes", launch ? Json(bytes) : Json(nullptr)},
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
               ">cubin bytes", ">ms", "status"});
  forEachKernel(jobs, [&](const Job &job, const jit::LaunchRecord *launch, size_t bytes) {
    std::string name =
        launch ? launch->symbol : job.request.op->name + " " + dtypesText(job.request);
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
  std::cerr << jobs.size() << " programs for " << archs << (archs == 1 ? " arch: " : " archs: ")
            << with("compiled") << " compiled, " << with("cached") << " cached, " << with("failed")
            << " failed in " << decimal(seconds, 1) << " s\n";
}

/// The errors of failed jobs; the exit code is that of the first.
int printErrors(const std::vector<Job> &jobs) {
  int code = 0;
  for (const Job &job : jobs)
    if (job.error) {
      std::cerr << job.request.op->name << " for " << job.request.target << ": ";
      int own = printError(*job.error);
      code = code ? code : own;
    }
  return code;
}

Result<int> precompile(const Session &session, const PrecompileFlags &flags) {
  auto start = std::chrono::steady_clock::now();
  Compiler compiler(session.compilerOptions());
  Result<std::vector<std::string>> archs = archsOf(flags.archs, compiler);
  if (!archs)
    return archs.takeError();
  Result<std::vector<Job>> jobs = makeJobs(flags, *archs);
  if (!jobs)
    return jobs.takeError();
  auto threads =
      flags.jobs ? flags.jobs : unsigned(session.settings.number(jit::Knob::num_threads));
  runJobs(*jobs, compiler, threads);
  if (session.json)
    std::cout << toJson(*jobs).dump(2) << "\n";
  else
    printTable(*jobs);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  printTotals(*jobs, archs->size(), seconds.count());
  return printErrors(*jobs);
}

} // namespace

void addPrecompileCommand(CLI::App &app, Session &session) {
  auto flags = std::make_shared<PrecompileFlags>();
  CLI::App *command =
      app.add_subcommand("precompile", "Compile kernels into the cache; needs no GPU");
  command
      ->add_option("--arch", flags->archs, "GPU archs (sm_80,sm_90), cpu, or all that NVRTC knows")
      ->required()
      ->delimiter(',')
      ->type_name("A,B|all");
  command->add_option("--ops", flags->ops, "OPs, or all: the shipped ops")
      ->delimiter(',')
      ->type_name("all|OP,..");
  command
      ->add_option("--jobs", flags->jobs,
                   "Compiles at a time; 0: as many as this process has cores")
      ->type_name("N");
  addRequestFlags(*command, flags->request);
  addJsonFlag(*command, session);
  command->footer("Without --dtype, --option and --feature every profile of the op is compiled.");
  command->callback([&session, flags] {
    session.action = [&session, flags] { return precompile(session, *flags); };
  });
}

} // namespace fw::cli
