// fusewright verify [OP]: every profile on this machine's CPU against the evaluator.
#include "tools/cli/Commands.h"

#include "tools/cli/CpuRunner.h"
#include "tools/cli/Progress.h"
#include "tools/cli/Table.h"

#include <algorithm>
#include <iostream>

namespace fw::cli {

namespace {

struct VerifyFlags {
  std::string op;
  uint64_t seed = 1;
  RequestFlags request;
};

struct Verified {
  Request request;
  verify::Report report;
};

/// V is 16 bytes of the widest streamed dtype; the chunk is the default schedule's.
verify::CaseOptions caseOptions(const ResolvedRequest &request, uint64_t seed) {
  verify::CaseOptions options;
  options.seed = seed;
  unsigned widest = 1;
  for (const RequestOperand &operand : request.operands)
    if (operand.present)
      widest = std::max(widest, findDtype(operand.dtype)->bytes);
  options.vec = 16 / widest;
  return options;
}

Result<Verified> verifyOne(const Request &request, uint64_t seed, CpuRunner &runner) {
  Result<ResolvedRequest> resolved = resolve(request);
  if (!resolved)
    return resolved.takeError();
  if (Result<void> compiled = runner.compile(*resolved); !compiled)
    return compiled.takeError();
  Result<verify::Report> report =
      verify::verify(*resolved, caseOptions(*resolved, seed),
                     [&](const verify::Case &data, const verify::Arena &arena) {
                       return runner.run(*resolved, data, arena);
                     });
  if (!report)
    return report.takeError();
  return Verified{request, std::move(*report)};
}

Json toJson(const std::vector<Verified> &all, uint64_t seed) {
  Json list = Json::array();
  for (const Verified &one : all) {
    Json outputs = Json::array();
    for (const verify::OutputReport &output : one.report.outputs)
      outputs.push_back({{"operand", output.operand},
                         {"dtype", output.dtype},
                         {"max_error", output.worst.worst.error},
                         {"bound", output.worst.worst.bound},
                         {"ratio", output.worst.worst.ratio},
                         {"case", output.caseName},
                         {"cases_with_other_bits", output.differingBits}});
    list.push_back({{"op", one.request.op->name},
                    {"dtypes", one.request.dtypes},
                    {"options", one.request.options},
                    {"features", one.request.features},
                    {"cases", one.report.cases},
                    {"elements", one.report.elements},
                    {"outputs", outputs},
                    {"failures", one.report.failures},
                    {"ok", one.report.ok()}});
  }
  return {{"seed", seed}, {"backend", "cpu"}, {"verified", list}};
}

void printTable(const std::vector<Verified> &all) {
  Table table({"op", "dtypes", "options and features", "output", ">max error", ">bound", ">ratio",
               "worst case", "bits", "result"});
  for (const Verified &one : all)
    for (const verify::OutputReport &output : one.report.outputs)
      table.add({one.request.op->name,
                 one.request.dtypes.empty() ? "(defaults)" : dtypesText(one.request),
                 choicesText(one.request), output.operand + " " + output.dtype,
                 scientific(output.worst.worst.error), scientific(output.worst.worst.bound),
                 decimal(output.worst.worst.ratio, 3), output.caseName,
                 output.differingBits ? "differ" : "equal",
                 output.worst.ok() && !output.differingBits ? "ok" : "FAILED"});
  table.print(std::cout);
}

/// The failures, and the command that shows them again.
void printFailures(const std::vector<Verified> &all, const std::string &op, uint64_t seed) {
  for (const Verified &one : all) {
    if (one.report.ok())
      continue;
    for (const std::string &failure : one.report.failures)
      std::cerr << one.request.op->name << ": " << failure << "\n";
    std::cerr << "replay: fusewright verify " << (op.empty() ? one.request.op->name : op);
    if (!one.request.dtypes.empty())
      std::cerr << " --dtype " << dtypesText(one.request);
    for (const auto &[option, value] : one.request.options)
      std::cerr << " --option " << option << "=" << value;
    for (const std::string &feature : one.request.features)
      std::cerr << " --feature " << feature;
    std::cerr << " --seed " << seed << "\n";
  }
}

Result<int> verifyOps(const Session &session, const VerifyFlags &flags) {
  Result<std::vector<language::OpHandle>> ops = findOps({flags.op.empty() ? "all" : flags.op});
  if (!ops)
    return ops.takeError();
  std::vector<Request> requests;
  for (const language::OpHandle &op : *ops) {
    Result<std::vector<Request>> own = requestsOf(op, flags.request, "cpu");
    if (!own)
      return own.takeError();
    requests.insert(requests.end(), own->begin(), own->end());
  }
  Result<CpuRunner> runner = CpuRunner::create();
  if (!runner)
    return runner.takeError();

  std::vector<Verified> all;
  {
    Progress progress("verifying", requests.size());
    for (const Request &request : requests) {
      Result<Verified> one = verifyOne(request, flags.seed, *runner);
      if (!one)
        return one.takeError();
      all.push_back(std::move(*one));
      progress.step(request.op->name + " " + dtypesText(request));
    }
  }
  if (session.json)
    std::cout << toJson(all, flags.seed).dump(2) << "\n";
  else
    printTable(all);
  printFailures(all, flags.op, flags.seed);
  bool ok = std::ranges::all_of(all, [](const Verified &one) { return one.report.ok(); });
  std::cerr << all.size() << " programs on the CPU, seed " << flags.seed << ": "
            << (ok ? "verified" : "FAILED") << "\n";
  return int(ok ? Code::OK : Code::CHECK_FAILED);
}

} // namespace

void addVerifyCommand(CLI::App &app, Session &session) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App *command = app.add_subcommand(
      "verify", "Run an op's profiles on the CPU and compare each element and bit "
                "with the reference");
  command->add_option("OP", flags->op, "Shipped name, file, or file:name; none: all shipped ops");
  command->add_option("--seed", flags->seed, "Chooses the data; the same seed gives the same run")
      ->type_name("N");
  addRequestFlags(*command, flags->request);
  addJsonFlag(*command, session);
  command->footer(
      "Lists of 1, V-1, V, chunk-1 and chunk+1 elements, three tensors, empty tensors first and "
      "last, and\n"
      "bases one element off; values normal, tiny, huge, ties, zeros, infinities and NaN.");
  command->callback([&session, flags] {
    session.action = [&session, flags] { return verifyOps(session, *flags); };
  });
}

} // namespace fw::cli
