// fusewright ops: what is shipped.
#include "tools/cli/Commands.h"

#include "ops/Profiles.h"
#include "ops/ShippedOps.h"
#include "tools/cli/Table.h"

#include <iostream>

namespace fw::cli {

namespace {

/// The first sentence.
std::string summaryLine(const std::string &summary) {
  size_t end = summary.find(". ");
  return summary.substr(0, std::min(end, summary.find('\n')));
}

Result<int> listOps(const Session &session) {
  Json list = Json::array();
  Table table({"op", ">profiles", "summary"});
  for (const std::string &name : shippedOpNames()) {
    Result<language::OpHandle> op = findShippedOp(name);
    if (!op)
      return op.takeError();
    size_t profiles = shippedProfiles(name).size();
    table.add({name, std::to_string(profiles), summaryLine((*op)->summary)});
    list.push_back(
        {{"op", name}, {"hash", (*op)->hash}, {"profiles", profiles}, {"summary", (*op)->summary}});
  }
  if (session.json)
    printJson({{"ops", list}});
  else
    table.print(std::cout);
  return 0;
}

} // namespace

void addOpsCommand(CLI::App &app, Session &session) {
  CLI::App *command = app.add_subcommand("ops", "List the shipped ops");
  addJsonFlag(*command, session);
  command->callback([&session] { session.action = [&session] { return listOps(session); }; });
}

} // namespace fw::cli
