// fusewright show OP: equations and metadata.
#include "tools/cli/Commands.h"

#include "tools/cli/Table.h"

#include <iostream>

namespace fw::cli {

namespace {

std::string join(const std::vector<std::string> &items, const char *separator) {
  std::string out;
  for (const std::string &item : items)
    out += (out.empty() ? "" : separator) + item;
  return out;
}

/// The op's own text, from its name to its closing brace.
std::string textOf(const language::OpHandle &op) {
  const language::Token &last = op->last[-1];
  size_t end = last.at + last.text.size();
  return "op " + std::string(op.file->text().text().substr(op->at, end - op->at));
}

Json operandsJson(const ResolvedRequest &request) {
  Json list = Json::array();
  for (const RequestOperand &operand : request.operands)
    list.push_back({{"name", operand.name},
                    {"role", operand.role},
                    {"dtype", operand.dtype},
                    {"read", operand.read},
                    {"written", operand.written},
                    {"optional", operand.optional}});
  return list;
}

/// A bool is true or false, everything else a number.
Json defaultJson(const RequestScalar &scalar) {
  if (!scalar.value)
    return nullptr;
  return scalar.kind == "bool" ? Json(*scalar.value != 0) : Json(*scalar.value);
}

std::string defaultText(const RequestScalar &scalar) {
  if (!scalar.value)
    return "-";
  if (scalar.kind == "bool")
    return *scalar.value != 0 ? "true" : "false";
  return scientific(*scalar.value);
}

Json scalarsJson(const ResolvedRequest &request) {
  Json list = Json::array();
  for (const RequestScalar &scalar : request.scalars)
    list.push_back({{"name", scalar.name},
                    {"kind", scalar.kind},
                    {"default", defaultJson(scalar)},
                    {"range", scalar.range}});
  return list;
}

Json toJson(const language::OpHandle &op, const ResolvedRequest &request,
            const std::vector<Request> &profiles) {
  Json options = Json::array(), list = Json::array();
  for (const language::OptionInfo &option : request.op.info.options)
    options.push_back({{"name", option.name}, {"values", option.values}});
  for (const Request &profile : profiles)
    list.push_back(
        {{"dtypes", profile.dtypes}, {"options", profile.options}, {"features", profile.features}});
  return {{"op", op->name},
          {"hash", op->hash},
          {"file", op.file->name()},
          {"summary", op->summary},
          {"text", textOf(op)},
          {"operands", operandsJson(request)},
          {"scalars", scalarsJson(request)},
          {"options", options},
          {"features", validFeatures(*op)},
          {"profiles", list}};
}

void print(const language::OpHandle &op, const ResolvedRequest &request,
           const std::vector<Request> &profiles) {
  std::cout << op->summary << "\n\n" << textOf(op) << "\n\n";
  Table operands({"operand", "role", "dtype", "access", "where absent"});
  for (const RequestOperand &operand : request.operands)
    operands.add({operand.name, operand.role, operand.dtype,
                  std::string(operand.read ? "read " : "") + (operand.written ? "written" : ""),
                  operand.optional ? scientific(operand.neutral) : ""});
  operands.print(std::cout);
  std::cout << "\n";
  Table scalars({"scalar", "kind", ">default", "range"});
  for (const RequestScalar &scalar : request.scalars)
    scalars.add({scalar.name, scalar.kind, defaultText(scalar), scalar.range});
  scalars.print(std::cout);
  std::cout << "\n";
  for (const language::OptionInfo &option : request.op.info.options)
    std::cout << "option " << option.name << " = " << join(option.values, " | ") << "\n";
  for (const std::string &feature : validFeatures(*op))
    std::cout << "feature " << feature << "\n";
  if (!request.op.info.options.empty() || !validFeatures(*op).empty())
    std::cout << "\n";
  Table table({"profile: dtypes", "options and features"});
  for (const Request &profile : profiles)
    table.add({profile.dtypes.empty() ? "(defaults)" : dtypesText(profile), choicesText(profile)});
  table.print(std::cout);
  std::cout << "\nhash " << op->hash << "\n";
}

Result<int> show(const Session &session, const std::string &name) {
  Result<language::OpHandle> op = findOp(name);
  if (!op)
    return op.takeError();
  printWarnings(*op);
  Request request;
  request.op = *op;
  Result<ResolvedRequest> resolved = resolve(request);
  if (!resolved)
    return resolved.takeError();
  Result<std::vector<Request>> profiles = requestsOf(*op, {}, "cpu");
  if (!profiles)
    return profiles.takeError();
  if (session.json)
    printJson(toJson(*op, *resolved, *profiles));
  else
    print(*op, *resolved, *profiles);
  return 0;
}

} // namespace

void addShowCommand(CLI::App &app, Session &session) {
  auto name = std::make_shared<std::string>();
  CLI::App *command = app.add_subcommand(
      "show", "Show an op: equations, operands, hyper-parameters, options, features, profiles");
  command->add_option("OP", *name, "Shipped name, file, or file:name")->required();
  addJsonFlag(*command, session);
  command->callback(
      [&session, name] { session.action = [&session, name] { return show(session, *name); }; });
}

} // namespace fw::cli
