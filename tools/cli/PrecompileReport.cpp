#include "tools/cli/PrecompileJobs.h"
#include "tools/cli/Table.h"

#include <algorithm>
#include <iostream>

namespace fw::cli {

namespace {

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
                {"facts", job.request.facts},
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
  Table table({"kernel", "arch", "options, features, facts", ">registers", ">spill bytes",
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

uint64_t faultsOf(const jit::Cache &cache) {
  uint64_t faults = 0;
  for (unsigned kind = 0; kind < unsigned(jit::EntryKind::count); ++kind)
    faults += cache.counters(jit::EntryKind(kind)).faults;
  return faults;
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
  } else if (faultsOf(cache) > 0) {
    error.text += folder->place() + " did not take them, as a warning above says";
    error.remedy = "mend what the warning names, or point FUSEWRIGHT_CACHE_DIR elsewhere";
  } else {
    error.text += folder->place() + " is full, or holds at most " + cap +
                  ", so that entries made now were removed again";
    error.remedy = "raise FUSEWRIGHT_CACHE_SIZE, or free space there";
  }
  return error;
}

} // namespace

void printJobs(const std::vector<Job> &jobs, bool asJson) {
  if (asJson)
    printJson(toJson(jobs));
  else
    printTable(jobs);
}

void printTotals(const std::vector<Job> &jobs, size_t archs, double seconds) {
  auto with = [&](std::string_view status) {
    return std::to_string(
        std::ranges::count_if(jobs, [&](const Job &job) { return job.status() == status; }));
  };
  std::cerr << countText(jobs.size(), "program", "programs") << " for "
            << countText(archs, "arch", "archs") << ": " << with("compiled") << " compiled, "
            << with("cached") << " cached, " << with("failed") << " failed, " << with("not stored")
            << " not stored in " << decimal(seconds, 1) << " s\n";
}

int reportJobs(const std::vector<Job> &jobs, Compiler &compiler) {
  warnOfSpills(jobs);
  int code = printErrors(jobs);
  auto lost = size_t(
      std::ranges::count_if(jobs, [](const Job &job) { return job.program && !job.stored; }));
  if (lost == 0)
    return code;
  int own = printError(notStored(lost, compiler.cache(), compiler.settings()));
  return code ? code : own;
}

} // namespace fw::cli
