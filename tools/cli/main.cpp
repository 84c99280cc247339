// fusewright: the command line over the compiler and the CPU runtime.
#include "fusewright/fusewright.h"
#include "tools/cli/Commands.h"

#include <iostream>

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
  out += "\nSettings (environment):\n";
  for (const jit::KnobRow &row : jit::knobs())
    out += "  " + jit::variableName(row) + "\n      " + row.help + "\n";
  return out;
}

int run(Session &session) {
  Result<jit::Settings> settings = jit::Settings::read();
  if (!settings)
    return printError(settings.error());
  session.settings = std::move(*settings);
  Result<int> done = session.action();
  return done ? *done : printError(done.error());
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"Fused training kernels from equations.", "fusewright"};
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  app.footer(footer());
  Session session;
  for (auto add : {addOpsCommand, addShowCommand, addEmitCommand, addPrecompileCommand,
                   addVerifyCommand, addCacheCommand, addDoctorCommand})
    add(app, session);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    bool isHelp = error.get_exit_code() == 0;
    app.exit(error, std::cout, std::cerr);
    return isHelp ? 0 : int(Code::USAGE);
  }
  return run(session);
}
