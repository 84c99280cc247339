// What the commands share: settings, ops by name or file, requests from flags, errors on stderr.
#pragma once

#include "compiler/Compiler.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fw::cli {

/// Keys in the order in which they are added.
using Json = nlohmann::ordered_json;

/// What a command does once its flags are read; the value is the exit code.
using Action = std::function<Result<int>()>;

struct Session {
  jit::Settings settings;
  std::vector<Error> wrongSettings; ///< of the environment; `settings` has their defaults
  bool takesWrongSettings = false;  ///< the command itself tells them
  bool json = false;
  Action action; ///< of the command that was named

  CompilerOptions compilerOptions() const;
};

/// --dtype, --option, --feature, --absent, --fact and --schedule.
struct RequestFlags {
  std::vector<std::string> dtypes, options, features, absent, facts, schedule;

  /// True when the caller names a request of his own instead of the op's profiles.
  bool namesRequest() const {
    return !dtypes.empty() || !options.empty() || !features.empty() || !absent.empty();
  }
};
void addRequestFlags(CLI::App &command, RequestFlags &flags);
void addJsonFlag(CLI::App &command, Session &session);
/// On stdout. Bytes of files and paths that are not UTF-8 are replaced, as JSON has no others.
void printJson(const Json &json);
/// Refuses signs and overflow, which the reader of flags would wrap around.
CLI::Validator numberUpTo(uint64_t most, uint64_t least = 0);
/// A flag of items that are separated by ',', none of them empty. Without it `items` stay.
CLI::Option *addListFlag(CLI::App &command, const std::string &name,
                         std::vector<std::string> &items, const std::string &help);

/// The op that OP names: a shipped one, the op of a file, or file:name.
Result<language::OpHandle> findOp(const std::string &name);
/// Whether "all" is among the names.
bool namesAll(const std::vector<std::string> &names);
/// The names, with `all` in the place of "all"; each once, where it comes first.
std::vector<std::string> unite(const std::vector<std::string> &names,
                               const std::vector<std::string> &all);
/// OPs; "all" stands for the shipped ones.
Result<std::vector<language::OpHandle>> findOps(const std::vector<std::string> &names);

/// The request of the flags.
Result<Request> makeRequest(const language::OpHandle &op, const RequestFlags &flags,
                            const std::string &target);

/// The requests to compile or verify: the one of the flags, or the op's profiles, which are those
/// of ops/profiles.def for a shipped op, else the usual ones of its roles. `flags.schedule` is for
/// all.
Result<std::vector<Request>> requestsOf(const language::OpHandle &op, const RequestFlags &flags,
                                        const std::string &target);

/// "param=f32,grad=bf16" of the request as it was asked for; "" for all defaults.
std::string dtypesText(const Request &request);
/// "amsgrad=true +copy", and the facts.
std::string choicesText(const Request &request);
/// " --dtype param=f32 --option amsgrad=true": the flags that name exactly this request. One that
/// asks for nothing is named by the dtypes that it resolves to.
std::string flagsText(const Request &request, const ResolvedRequest &resolved);

/// Prints an error with its log on stderr and returns its exit code.
int printError(const Error &error);

/// Warnings of the op's file, on stderr; for commands without a context, which tells them itself.
void printWarnings(const language::OpHandle &op);

} // namespace fw::cli
