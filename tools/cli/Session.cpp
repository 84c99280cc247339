#include "tools/cli/Session.h"

#include "ops/Profiles.h"
#include "ops/ShippedOps.h"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <set>
#include <type_traits>

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
  addListFlag(command, "--dtype", flags.dtypes,
              "Storage dtypes by operand or role: param=f32,grad=bf16")
      ->type_name("KEY=DTYPE");
  addListFlag(command, "--option", flags.options, "Options of the op: amsgrad=true")
      ->type_name("KEY=VALUE");
  addListFlag(command, "--feature", flags.features, "Features: copy")->type_name("NAME");
  addListFlag(command, "--absent", flags.absent, "Optional operands that are not passed")
      ->type_name("OPERAND");
  addListFlag(
      command, "--fact", flags.facts,
      "What is known of the tensors of an op over rows, for an arch: columns=4096,aligned=16")
      ->type_name("KEY=N");
  addListFlag(command, "--schedule", flags.schedule,
              "Decisions instead of the rule's, for an arch: threads=256,vec=4")
      ->type_name("KEY=N");
}

CLI::Option *addListFlag(CLI::App &command, const std::string &name,
                         std::vector<std::string> &items, const std::string &help) {
  auto split = [name, &items](const std::vector<std::string> &values) {
    items.clear();
    for (const std::string &value : values)
      for (size_t start = 0, end = 0; end != std::string::npos; start = end + 1) {
        end = value.find(',', start);
        items.push_back(value.substr(start, end - start));
        if (items.back().empty())
          throw CLI::ValidationError(name, "expected items separated by ',', got '" + value +
                                               "' with an empty one");
      }
  };
  return command.add_option_function<std::vector<std::string>>(name, split, help);
}

CLI::Validator numberUpTo(uint64_t most, uint64_t least) {
  return CLI::Validator(
      [most, least](const std::string &text) -> std::string {
        uint64_t value = 0;
        auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
        bool whole = fault == std::errc() && end == text.data() + text.size();
        if (whole && value >= least && value <= most)
          return "";
        return "expected a whole number from " + std::to_string(least) + " to " +
               std::to_string(most) + ", got '" + text + "'";
      },
      "");
}

void addJsonFlag(CLI::App &command, Session &session) {
  command.add_flag("--json", session.json, "Print JSON on stdout, and nothing else there");
}

void printJson(const Json &json) {
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

namespace {

/// "key=value", or an error that names the flag.
Result<std::pair<std::string, std::string>> splitPair(const std::string &flag,
                                                      const std::string &item) {
  size_t equals = item.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == item.size())
    return Error{Code::USAGE, flag + ": expected KEY=VALUE, got '" + item + "'"};
  return std::pair(item.substr(0, equals), item.substr(equals + 1));
}

Result<void> addPairs(std::map<std::string, std::string> &out, const std::string &flag,
                      const std::vector<std::string> &items) {
  for (const std::string &item : items) {
    auto pair = splitPair(flag, item);
    if (!pair)
      return pair.takeError();
    const auto &[key, value] = *pair;
    if (auto [place, added] = out.emplace(key, value); !added && place->second != value)
      return Error{Code::USAGE,
                   flag + ": expected one value for '" + key + "', got '" + place->second +
                       "' and '" + value + "'",
                   "name it once"};
  }
  return {};
}

Result<void> addNumbers(std::map<std::string, int64_t> &out, const std::string &flag,
                        const std::vector<std::string> &items) {
  std::map<std::string, std::string> pairs;
  if (auto added = addPairs(pairs, flag, items); !added)
    return added;
  for (const auto &[key, text] : pairs) {
    int64_t value = 0;
    auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size())
      return Error{Code::USAGE, flag + ": expected " + key + "=N, got '" + text + "'"};
    out[key] = value;
  }
  return {};
}

Result<void> addFactsAndSchedule(Request &request, const RequestFlags &flags) {
  if (auto added = addNumbers(request.facts, "--fact", flags.facts); !added)
    return added;
  return addNumbers(request.schedule, "--schedule", flags.schedule);
}

/// A dtype for the roles that the op has elements of; nothing when it has none of one of them.
std::optional<Profile> profileOf(const language::OpInfo &info,
                                 std::vector<std::pair<std::string, std::string>> roles) {
  Profile profile{.op = info.name, .dtypes = {}, .options = {}, .features = {}};
  for (auto &[role, dtype] : roles)
    if (std::ranges::any_of(info.operands, [&](const language::OperandInfo &operand) {
          return operand.scope.isElement() && operand.type == language::Type::Real &&
                 language::info(operand.role).name == role;
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

bool namesAll(const std::vector<std::string> &names) {
  return std::ranges::find(names, "all") != names.end();
}

std::vector<std::string> unite(const std::vector<std::string> &names,
                               const std::vector<std::string> &all) {
  std::vector<std::string> out;
  auto add = [&](const std::string &name) {
    if (std::ranges::find(out, name) == out.end())
      out.push_back(name);
  };
  for (const std::string &name : names)
    if (name == "all")
      std::ranges::for_each(all, add);
    else
      add(name);
  return out;
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
  if (auto added = addFactsAndSchedule(request, flags); !added)
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
    if (auto added = addFactsAndSchedule(requests.back(), flags); !added)
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

namespace {

/// " --flag a,b"; nothing for no items.
std::string flagText(const std::string &flag, const std::vector<std::string> &items) {
  std::string out;
  for (const std::string &item : items)
    out += (out.empty() ? " --" + flag + " " : ",") + item;
  return out;
}

template <class Map> std::vector<std::string> pairs(const Map &map) {
  std::vector<std::string> out;
  for (const auto &[key, value] : map)
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
      out.push_back(key + "=" + std::to_string(value));
    else
      out.push_back(key + "=" + value);
  return out;
}

} // namespace

std::string choicesText(const Request &request) {
  std::string out;
  for (const auto &[option, value] : request.options)
    out += (out.empty() ? "" : " ") + option + "=" + value;
  for (const std::string &feature : request.features)
    out += (out.empty() ? "+" : " +") + feature;
  for (const auto &[fact, value] : request.facts)
    out += (out.empty() ? "" : " ") + fact + "=" + std::to_string(value);
  return out;
}

/// "grad=bf16" for a role whose operands all have one dtype, else a pair for each operand; those of
/// features, and those with one value per tensor or in all, have no other key than their name.
static std::vector<std::string> dtypePairs(const ResolvedRequest &resolved) {
  std::map<std::string, std::set<std::string>> ofRole;
  std::vector<std::string> out;
  const size_t own = resolved.op.info.operands.size();
  for (size_t k = 0; k < own; ++k)
    if (resolved.operands[k].scope == "element")
      ofRole[resolved.operands[k].role].insert(resolved.operands[k].dtype);
  for (size_t k = 0; k < resolved.operands.size(); ++k) {
    const RequestOperand &operand = resolved.operands[k];
    const bool byRole = k < own && operand.scope == "element" && ofRole[operand.role].size() == 1;
    std::string pair = (byRole ? operand.role : operand.name) + "=" + operand.dtype;
    if (!byRole || std::ranges::find(out, pair) == out.end())
      out.push_back(std::move(pair));
  }
  return out;
}

std::string flagsText(const Request &request, const ResolvedRequest &resolved) {
  std::vector<std::string> dtypes = pairs(request.dtypes);
  if (dtypes.empty() && request.options.empty() && request.features.empty() &&
      request.absent.empty())
    dtypes = dtypePairs(resolved);
  return flagText("dtype", dtypes) + flagText("option", pairs(request.options)) +
         flagText("feature", {request.features.begin(), request.features.end()}) +
         flagText("absent", {request.absent.begin(), request.absent.end()}) +
         flagText("fact", pairs(request.facts)) + flagText("schedule", pairs(request.schedule));
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
