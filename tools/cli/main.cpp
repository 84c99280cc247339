// fusewright: the command line over the compiler and the CPU runtime.
#include "fusewright/fusewright.h"
#include "tools/cli/Commands.h"

#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <new>
#include <unistd.h>

using namespace fw;
using namespace fw::cli;

namespace {

std::string version() {
  return "fusewright " + std::to_string(FW_VERSION_MAJOR) + "." + std::to_string(FW_VERSION_MINOR) +
         "." + std::to_string(FW_VERSION_PATCH);
}

/// Exit codes and settings, from their tables.
std::string footer() {
  std::string out = "\nOP is a shipped name, an op file, or file:name.\n\nExit codes:\n";
#define FW_STATUS(name, value, meaning) out += "  " #value "  " meaning "\n";
#include "fusewright/status.def"
#undef FW_STATUS
  out += "A command that succeeds, but whose output stdout does not take, ends with 2.\n";
  out += "\nSettings (environment):\n";
  for (const jit::KnobRow &row : jit::knobs())
    out += "  " + jit::variableName(row) + "\n      " + row.help + "\n";
  return out;
}

int run(Session &session) {
  session.settings = jit::Settings::read(jit::processEnvironment(), session.wrongSettings);
  for (const Error &wrong : session.wrongSettings)
    if (!session.takesWrongSettings)
      printError(wrong);
  if (!session.wrongSettings.empty() && !session.takesWrongSettings)
    return int(Code::USAGE);
  Result<int> done = session.action();
  return done ? *done : printError(done.error());
}

/// The app or command that has commands of its own, of which none was named; null for any other
/// mistake.
const CLI::App *withoutCommand(const CLI::App &app) {
  std::vector<CLI::App *> named = app.get_subcommands();
  if (!named.empty())
    return withoutCommand(*named.front());
  return app.get_require_subcommand_min() > 0 ? &app : nullptr;
}

Error unknownCommand(const CLI::App &app) {
  std::string known;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    known += (known.empty() ? "" : ", ") + command->get_name();
  std::vector<std::string> words = app.remaining();
  return {Code::USAGE,
          "expected a command of " + app.get_name() + ", got " +
              (words.empty() ? "none" : "'" + words.front() + "'"),
          "use one of " + known};
}

/// The command that was named, with those that it is a command of: "fusewright cache prune".
std::pair<const CLI::App *, std::string> named(const CLI::App &app) {
  std::pair<const CLI::App *, std::string> found{&app, app.get_name()};
  while (!found.first->get_subcommands().empty()) {
    found.first = found.first->get_subcommands().front();
    found.second += " " + found.first->get_name();
  }
  return found;
}

/// A mistake in the arguments in our words; what the checks of values say is in them already.
Error wrongArguments(const CLI::App &app, const CLI::ParseError &error) {
  const auto [command, name] = named(app);
  const std::string said = error.what(), help = "'" + name + " --help' tells what it takes";
  if (dynamic_cast<const CLI::RequiredError *>(&error))
    return {Code::USAGE,
            name + ": expected " + said.substr(0, said.find(" is required")) + ", got none", help};
  if (dynamic_cast<const CLI::ArgumentMismatch *>(&error))
    return {Code::USAGE, "expected a value after " + said.substr(0, said.find(':')) + ", got none",
            help};
  const std::vector<std::string> rest = command->remaining(true);
  if (dynamic_cast<const CLI::ExtrasError *>(&error) && !rest.empty())
    return {Code::USAGE,
            name + ": expected " +
                (rest.front().starts_with("-") ? "one of its flags" : "no further argument") +
                ", got '" + rest.front() + "'",
            help};
  return {Code::USAGE, said, help};
}

int refuse(const CLI::App &app, const CLI::ParseError &error) {
  if (error.get_exit_code() == 0) // --help and --version
    return app.exit(error, std::cout, std::cerr);
  if (const CLI::App *place = withoutCommand(app))
    return printError(unknownCommand(*place));
  return printError(wrongArguments(app, error));
}

int parseAndRun(int argc, char **argv) {
  CLI::App app{"Fused training kernels from equations.", "fusewright"};
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  Session session;
  for (auto add : {addOpsCommand, addShowCommand, addEmitCommand, addPrecompileCommand,
                   addVerifyCommand, addBenchCommand, addCacheCommand, addDoctorCommand})
    add(app, session);
  app.footer(footer()); // after the commands, which would inherit it
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return refuse(app, error);
  }
  return run(session);
}

/// What is thrown past a room's border is a fault or a lack of memory, and still an exit code.
int guarded(int argc, char **argv) {
  try {
    return parseAndRun(argc, argv);
  } catch (const std::bad_alloc &) {
    std::fputs(
        "error: expected memory, got none; free memory, or raise the limit of this process\n",
        stderr);
    return int(Code::OUT_OF_MEMORY);
  } catch (const std::exception &exception) {
    return printError({Code::INTERNAL,
                       std::string("expected no exception, got ") + exception.what(),
                       "please report it with what led to it"});
  }
}

/// A standard stream that is closed would be given to the next file that is opened, which may be
/// one of the cache. Opened for the other direction, it stays as unusable as it was.
void occupyClosedStreams() {
  for (int stream = 0; stream <= 2; ++stream)
    if (::fcntl(stream, F_GETFD) == -1)
      (void)::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
}

/// A command whose output was lost did not succeed.
int flushed(int code) {
  std::cout.flush();
  if (std::cout || code != 0)
    return code;
  return printError({Code::USAGE, "expected stdout to take the output, got a write error",
                     "free space where stdout goes, or point it elsewhere"});
}

} // namespace

int main(int argc, char **argv) {
  occupyClosedStreams();
  return flushed(guarded(argc, argv));
}
