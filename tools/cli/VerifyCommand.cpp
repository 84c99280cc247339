// fusewright verify [OP]: every profile on this machine's CPU or GPU against the evaluator.
#include "tools/cli/Commands.h"

#include "tools/cli/Progress.h"
#include "tools/cli/Runner.h"
#include "tools/cli/Table.h"

#include "runtime/launch/Work.h"

#include <algorithm>
#include <iostream>

namespace fw::cli {

namespace {

struct VerifyFlags {
  std::string op;
  host::Device device;
  std::string deviceText = "cpu";
  std::string arch = "sm_90"; ///< whose schedule the cases are awkward for
  uint64_t seed = 1;
  RequestFlags request;
};

struct Verified {
  Request request;
  std::string program; ///< "adamw --dtype grad=bf16": the arguments that name it
  verify::Report report;
};

/// More than a launch gives to the caller's thread alone, so that several share it.
constexpr uint64_t kLongBytes = launch::inlineBytes + launch::inlineBytes / 2;

/// " --device cuda:0", or the arch that the CPU's cases are for.
std::string placeFlags(const VerifyFlags &flags) {
  return flags.device.isCuda() ? " --device " + flags.device.name() : " --arch " + flags.arch;
}

/// The command that verifies one program again.
std::string replay(const Verified &one, const VerifyFlags &flags) {
  return "fusewright verify " + one.program + placeFlags(flags) + " --seed " +
         std::to_string(flags.seed);
}

Result<Verified> verifyOne(const Request &request, const VerifyFlags &flags, Runner &runner) {
  const language::Domain::Kind over = request.op->domain.kind;
  if (over == language::Domain::Kind::Rows || over == language::Domain::Kind::Axes)
    return Error{Code::USAGE,
                 "expected an op over elements, got op '" + request.op->name + "' over axes",
                 "the cases of this command are flat lists; compare a launch with fw_evaluate"};
  Result<verify::CaseOptions> options = verify::caseOptions(request, flags.arch, flags.seed);
  if (!options)
    return options.takeError();
  options->longBytes = kLongBytes;
  Request here = request;
  if (!flags.device.isCuda())
    here.schedule.clear(); // the cases have it; the CPU has no schedule
  Result<ResolvedRequest> resolved = resolve(here);
  if (!resolved)
    return resolved.takeError();
  if (Result<void> compiled = runner.compile(*resolved); !compiled)
    return compiled.takeError();
  std::vector<verify::Way> ways = runner.ways(*resolved);
  Result<verify::Report> report = verify::verify(*resolved, *options, ways);
  if (!report)
    return report.takeError();
  std::string op = flags.op.empty() ? request.op->name : flags.op;
  return Verified{request, op + flagsText(request, *resolved), std::move(*report)};
}

Json toJson(const verify::OutputReport &output) {
  return {{"operand", output.operand},
          {"dtype", output.dtype},
          {"max_error", output.worst.worst.error},
          {"bound", output.worst.worst.bound},
          {"ratio", output.worst.worst.ratio},
          {"case", output.caseName},
          {"case_seed", output.caseSeed},
          {"tensor", output.worst.tensor},
          {"element", output.worst.element},
          {"cases_with_other_bits", output.differingBits}};
}

Json toJson(const std::vector<Verified> &all, const VerifyFlags &flags) {
  Json list = Json::array();
  for (const Verified &one : all) {
    Json outputs = Json::array();
    for (const verify::OutputReport &output : one.report.outputs)
      outputs.push_back(toJson(output));
    list.push_back({{"op", one.request.op->name},
                    {"dtypes", one.request.dtypes},
                    {"options", one.request.options},
                    {"features", one.request.features},
                    {"absent", one.request.absent},
                    {"cases", one.report.cases},
                    {"elements", one.report.elements},
                    {"outputs", outputs},
                    {"failures", one.report.failures},
                    {"replay", replay(one, flags)},
                    {"ok", one.report.ok()}});
  }
  return {{"seed", flags.seed},
          {"arch", flags.arch},
          {"backend", flags.device.name()},
          {"verified", list}};
}

/// "chunk + 1 [0][817]", the place of an output's worst element.
std::string placeText(const verify::OutputReport &output) {
  return output.caseName + " [" + std::to_string(output.worst.tensor) + "][" +
         std::to_string(output.worst.element) + "]";
}

void printTable(const std::vector<Verified> &all, const VerifyFlags &flags) {
  Table table({"program", "output", ">max error", ">bound", ">ratio",
               "worst element: case [tensor][element]", "case's seed", "bits", "result"});
  for (const Verified &one : all)
    for (const verify::OutputReport &output : one.report.outputs)
      table.add({one.program, output.operand + " " + output.dtype,
                 scientific(output.worst.worst.error), scientific(output.worst.worst.bound),
                 decimal(output.worst.worst.ratio, 3), placeText(output),
                 std::to_string(output.caseSeed),
                 !one.report.hasBits    ? "-"
                 : output.differingBits ? "differ"
                                        : "equal",
                 output.worst.ok() && !output.differingBits ? "ok" : "FAILED"});
  table.print(std::cout);
  std::cout
      << "\nratio: error / bound of the worst element, at most 1. At 1.000 an element stands at "
         "the "
         "end of the range\nthat the equations allow: storage rounds every tie by half an ulp, and "
         "where arithmetic may underflow,\nbeing off by the whole step is right.\n"
         "replay: fusewright verify PROGRAM"
      << placeFlags(flags) << " --seed " << flags.seed << "\n";
}

/// The failures, each program with the command that shows them again.
void printFailures(const std::vector<Verified> &all, const VerifyFlags &flags) {
  for (const Verified &one : all) {
    for (const std::string &failure : one.report.failures)
      std::cerr << one.request.op->name << ": " << failure << "\n";
    if (!one.report.ok())
      std::cerr << "replay: " << replay(one, flags) << "\n";
  }
}

Result<std::vector<Request>> requestsToVerify(const VerifyFlags &flags) {
  Result<std::vector<language::OpHandle>> ops = findOps({flags.op.empty() ? "all" : flags.op});
  if (!ops)
    return ops.takeError();
  std::vector<Request> requests;
  for (const language::OpHandle &op : *ops) {
    Result<std::vector<Request>> own =
        requestsOf(op, flags.request, flags.device.isCuda() ? flags.arch : "cpu");
    if (!own)
      return own.takeError();
    requests.insert(requests.end(), own->begin(), own->end());
  }
  return requests;
}

Result<std::vector<Verified>> verifyAll(const VerifyFlags &flags, Runner &runner) {
  Result<std::vector<Request>> requests = requestsToVerify(flags);
  if (!requests)
    return requests.takeError();
  std::vector<Verified> all;
  Progress progress("verifying", requests->size());
  for (const Request &request : *requests) {
    Result<Verified> one = verifyOne(request, flags, runner);
    if (!one)
      return one.takeError();
    all.push_back(std::move(*one));
    progress.step(request.op->name + " " + dtypesText(request));
  }
  return all;
}

Result<int> verifyOps(const Session &session, VerifyFlags flags) {
  Result<host::Device> device = host::parseDevice(flags.deviceText);
  if (!device)
    return device.takeError();
  flags.device = *device;
  Result<Runner> runner = Runner::create(flags.device);
  if (!runner)
    return runner.takeError();
  if (flags.device.isCuda())
    flags.arch = runner->target();
  Result<std::vector<Verified>> all = verifyAll(flags, *runner);
  if (!all)
    return all.takeError();
  if (session.json)
    printJson(toJson(*all, flags));
  else
    printTable(*all, flags);
  printFailures(*all, flags);
  bool ok = std::ranges::all_of(*all, [](const Verified &one) { return one.report.ok(); });
  std::cerr << countText(all->size(), "program", "programs") << " on " << runner->deviceName()
            << ", seed " << flags.seed << ": " << (ok ? "verified" : "FAILED") << "\n";
  return int(ok ? Code::OK : Code::CHECK_FAILED);
}

} // namespace

void addVerifyCommand(CLI::App &app, Session &session) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App *command = app.add_subcommand(
      "verify",
      "Run an op's profiles on the CPU or a GPU, in one launch and by a plan, and compare "
      "each element and bit with the reference");
  command->add_option("OP", flags->op, "Shipped name, file, or file:name; none: all shipped ops");
  command->add_option("--device", flags->deviceText, "cpu, cuda or cuda:N")
      ->capture_default_str()
      ->type_name("DEVICE");
  command
      ->add_option(
          "--arch", flags->arch,
          "The arch whose schedule (with --schedule) gives vector and chunk of the CPU's lists")
      ->capture_default_str()
      ->type_name("ARCH");
  command->add_option("--seed", flags->seed, "Chooses the data; the same seed gives the same run")
      ->check(numberUpTo(UINT64_MAX))
      ->capture_default_str()
      ->type_name("N");
  addRequestFlags(*command, flags->request);
  addJsonFlag(*command, session);
  command->footer(
      "Lists of 1, V-1, V, chunk-1 and chunk+1 elements (V: elements of a vector), three tensors, "
      "empty tensors\nfirst and last, bases one element off, and a list that several threads "
      "share; "
      "values normal, tiny, huge,\nties, zeros, infinities and NaN.");
  command->callback([&session, flags] {
    session.action = [&session, flags] { return verifyOps(session, *flags); };
  });
}

} // namespace fw::cli
