#include "tools/cli/Session.h"

#include "ops/Profiles.h"
#include "ops/ShippedOps.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

namespace fw::cli {

CompilerOptions Session::compilerOptions() const {
  CompilerOptions options;
  options.settings = settings;
  options.log = [shown = settings.number(jit::Knob::log),
                 print = options.log](jit::Severity severity, std::string_view text) {
    if (int64_t(severity) < shown) // "off" is 0, "error" 1 ...
      print(severity, text);
  };
  return options;
}

void addRequestFlags(CLI::App &command, RequestFlags &flags) {
  command
      .add_option("--dtype", flags.dtypes, "Storage dtypes by operand or role: param=f32,grad=bf16")
      ->delimiter(',')
      ->type_name("KEY=DTYPE");
  command.add_option("--option", flags.options, "Options of the op: amsgrad=true")
      ->delimiter(',')
      ->type_name("KEY=VALUE");
  command.add_option("--feature", flags.features, "Features: copy")
      ->delimiter(',')
      ->type_name("NAME");
  command.add_option("--absent", flags.absent, "Optional operands that are not passed")
      ->delimiter(',')
      ->type_name("OPERAND");
  command
      .add_option("--schedule", flags.schedule,
                  "Decisions instead of the rule's: threads=256,vec=4")
      ->delimiter(',')
      ->type_name("KEY=N");
}

void addJsonFlag(CLI::App &command, Session &session) {
  command.add_flag("--json", session.json, "Print JSON on stdout, and nothing else there");
}

namespace {

std::string listShipped() {
  std::string out;
  for (const std::string &name : shippedOpNames())
    out += (out.empty() ? "" : ", ") + name;
  return out;
}

bool isFile(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

Result<language::OpHandle> opOfFile(const std::string &path, const std::string &name) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file)
    return Error{Code::USAGE, "expected a readable op file, got '" + path + "'"};
  return language::parseOp(text, path, name);
}

/// "key=value", or an error that names the flag.
Result<std::pair<std::string, std::string>> splitPair(const std::string &flag,
                                                      const std::string &item) {
  size_t equals = item.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == item.size())
    return Error{Code::USAGE, flag + ": expected KEY=VALUE, got '" + item + "'"};
  return std::pair(item.substr(0, equals), item.substr(equals + 1));
}

template <class Map>
Result<void> addPairs(Map &out, const std::string &flag, const std::vector<std::string> &items) {
  for (const std::string &item : items) {
    auto pair = splitPair(flag, item);
    if (!pair)
      return pair.takeError();
    out[pair->first] = pair->second;
  }
  return {};
}

Result<void> addSchedule(Request &request, const std::vector<std::string> &items) {
  std::map<std::string, std::string> pairs;
  if (auto added = addPairs(pairs, "--schedule", items); !added)
    return added;
  for (const auto &[key, text] : pairs) {
    int64_t value = 0;
    auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size())
      return Error{Code::USAGE, "--schedule: expected " + key + "=N, got '" + text + "'"};
    request.schedule[key] = value;
  }
  return {};
}

/// A dtype for the roles that the op has; nothing when it has none of them.
std::optional<Profile> profileOf(const language::OpInfo &info,
                                 std::vector<std::pair<std::string, std::string>> roles) {
  Profile profile{.op = info.name, .dtypes = {}, .options = {}, .features = {}};
  for (auto &[role, dtype] : roles)
    if (std::ranges::any_of(info.operands, [&](const language::OperandInfo &operand) {
          return language::info(operand.role).name == role;
        }))
      profile.dtypes.emplace_back(role, dtype);
  if (profile.dtypes.size() < roles.size())
    return std::nullopt;
  return profile;
}

/// What an op that is not shipped is verified and compiled with.
std::vector<Profile> usualProfiles(const language::OpHandle &op) {
  Result<language::ResolvedOp> resolved = language::resolve(*op, {});
  std::vector<Profile> profiles = {{.op = op->name, .dtypes = {}, .options = {}, .features = {}}};
  if (!resolved)
    return profiles;
  const language::OpInfo &info = resolved->info;
  const std::vector<std::pair<std::string, std::string>> sets[] = {
      {{"grad", "bf16"}},
      {{"param", "bf16"}, {"grad", "bf16"}},
      {{"param", "bf16"}, {"grad", "bf16"}, {"state", "bf16"}},
      {{"param", "f64"}, {"grad", "f64"}, {"state", "f64"}},
      {{"in", "bf16"}},
      {{"in", "f16"}},
      {{"in", "f64"}},
  };
  for (const auto &set : sets)
    if (auto profile = profileOf(info, set))
      profiles.push_back(*profile);
  return profiles;
}

/// Identity is the content: a user's op with a shipped name is not the shipped one.
bool isShipped(const language::OpHandle &op) {
  Result<language::OpHandle> shipped = findShippedOp(op->name);
  return shipped && (*shipped)->hash == op->hash;
}

Request requestOf(const language::OpHandle &op, const Profile &profile, const std::string &target) {
  Request request;
  request.op = op;
  request.options = profile.options;
  request.dtypes = {profile.dtypes.begin(), profile.dtypes.end()};
  request.features = {profile.features.begin(), profile.features.end()};
  request.target = target;
  return request;
}

} // namespace

Result<language::OpHandle> findOp(const std::string &name) {
  if (isFile(name))
    return opOfFile(name, "");
  if (size_t colon = name.rfind(':'); colon != std::string::npos && isFile(name.substr(0, colon)))
    return opOfFile(name.substr(0, colon), name.substr(colon + 1));
  std::vector<std::string> names = shippedOpNames();
  if (std::ranges::find(names, name) != names.end())
    return findShippedOp(name);
  return Error{Code::USAGE, "expected a shipped op, a file or file:name, got '" + name + "'",
               "shipped ops are " + listShipped()};
}

Result<std::vector<language::OpHandle>> findOps(const std::vector<std::string> &names) {
  std::vector<language::OpHandle> ops;
  for (const std::string &name :
       names == std::vector<std::string>{"all"} ? shippedOpNames() : names) {
    Result<language::OpHandle> op = findOp(name);
    if (!op)
      return op.takeError();
    printWarnings(*op);
    ops.push_back(std::move(*op));
  }
  return ops;
}

Result<Request> makeRequest(const language::OpHandle &op, const RequestFlags &flags,
                            const std::string &target) {
  Request request;
  request.op = op;
  request.target = target;
  request.features = {flags.features.begin(), flags.features.end()};
  request.absent = {flags.absent.begin(), flags.absent.end()};
  if (auto added = addPairs(request.dtypes, "--dtype", flags.dtypes); !added)
    return added.takeError();
  if (auto added = addPairs(request.options, "--option", flags.options); !added)
    return added.takeError();
  if (auto added = addSchedule(request, flags.schedule); !added)
    return added.takeError();
  return request;
}

Result<std::vector<Request>> requestsOf(const language::OpHandle &op, const RequestFlags &flags,
                                        const std::string &target) {
  std::vector<Request> requests;
  if (flags.namesRequest()) {
    Result<Request> request = makeRequest(op, flags, target);
    if (!request)
      return request.takeError();
    requests.push_back(std::move(*request));
    return requests;
  }
  for (const Profile &profile : isShipped(op) ? shippedProfiles(op->name) : usualProfiles(op)) {
    requests.push_back(requestOf(op, profile, target));
    if (auto added = addSchedule(requests.back(), flags.schedule); !added)
      return added.takeError();
  }
  return requests;
}

std::string dtypesText(const Request &request) {
  std::string out;
  for (const auto &[operand, dtype] : request.dtypes)
    out += (out.empty() ? "" : ",") + operand + "=" + dtype;
  return out;
}

std::string choicesText(const Request &request) {
  std::string out;
  for (const auto &[option, value] : request.options)
    out += (out.empty() ? "" : " ") + option + "=" + value;
  for (const std::string &feature : request.features)
    out += (out.empty() ? "+" : " +") + feature;
  return out;
}

int printError(const Error &error) {
  // The log of an op's error holds every diagnostic, the first one too.
  if (error.code == Code::OP_TEXT && !error.log.empty())
    std::cerr << error.log;
  else
    std::cerr << (error.file.empty() ? "error: " : "") << render(error) << "\n" << error.log;
  if (!error.log.empty() && error.log.back() != '\n')
    std::cerr << "\n";
  return int(error.code);
}

void printWarnings(const language::OpHandle &op) { std::cerr << op.file->warnings(); }

} // namespace fw::cli
