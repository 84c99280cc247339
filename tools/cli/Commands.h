// The subcommands. Each adds itself with its flags; the one that is named sets session.action.
#pragma once

#include "tools/cli/Session.h"

namespace fw::cli {

void addOpsCommand(CLI::App &app, Session &session);
void addShowCommand(CLI::App &app, Session &session);
void addEmitCommand(CLI::App &app, Session &session);
void addPrecompileCommand(CLI::App &app, Session &session);
void addVerifyCommand(CLI::App &app, Session &session);
void addBenchCommand(CLI::App &app, Session &session);
void addCacheCommand(CLI::App &app, Session &session);
void addDoctorCommand(CLI::App &app, Session &session);

} // namespace fw::cli
