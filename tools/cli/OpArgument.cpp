// OP on a command line: a shipped name, a file, or file:name.
#include "tools/cli/Session.h"

#include "compiler/language/Functions.h"
#include "ops/ShippedOps.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace fw::cli {

namespace {

bool exists(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool isFolder(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

/// A pipe is as good as a regular file.
bool isFile(const std::string &path) { return exists(path) && !isFolder(path); }

/// The first `most` bytes: a file may be larger than memory, or have no end.
Result<std::string> readStart(const std::string &path, size_t most) {
  std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  std::string text(most, '\0');
  if (file)
    text.resize(std::fread(text.data(), 1, most, file.get()));
  if (!file || std::ferror(file.get()))
    return Error{Code::USAGE,
                 "expected a readable op file, got '" + path + "': " + std::strerror(errno),
                 "name a text file that this user may read"};
  return text;
}

Result<language::OpHandle> opOfFile(const std::string &path, const std::string &name) {
  // One byte more than a text may have, so that the parser sees that it is too long.
  Result<std::string> text = readStart(path, language::maxTextBytes + 1);
  if (!text)
    return text.takeError();
  return language::parseOp(*text, path, name);
}

/// The path of an argument that can only be meant as a file, "dir/mine.fuse:name" without its name.
std::optional<std::string> meantFile(const std::string &name) {
  size_t ending = name.rfind(".fuse");
  if (ending != std::string::npos && (ending + 5 == name.size() || name[ending + 5] == ':'))
    return name.substr(0, ending + 5);
  return name.find('/') != std::string::npos ? std::optional(name) : std::nullopt;
}

/// Why `name` is no op, with what it may have been meant for.
Error noOp(const std::string &name, const std::vector<std::string> &shipped) {
  if (std::optional<std::string> file = meantFile(name); file && !isFolder(name))
    return {Code::USAGE, "expected a file, got none at '" + *file + "'",
            "name an op file that is there; shipped ops have names without a path"};
  std::string list;
  for (const std::string &op : shipped)
    list += (list.empty() ? "" : ", ") + op;
  auto near = language::nearest(name, {shipped.begin(), shipped.end()});
  return {Code::USAGE,
          std::string("expected a shipped op, a file or file:name, got ") +
              (isFolder(name) ? "the folder '" : "'") + name + "'",
          (near ? "did you mean '" + *near + "'; " : "") + "shipped ops are " + list};
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
  return noOp(name, names);
}

Result<std::vector<language::OpHandle>> findOps(const std::vector<std::string> &names) {
  std::vector<language::OpHandle> ops;
  for (const std::string &name : unite(names, shippedOpNames())) {
    Result<language::OpHandle> op = findOp(name);
    if (!op)
      return op.takeError();
    printWarnings(*op);
    ops.push_back(std::move(*op));
  }
  return ops;
}

} // namespace fw::cli
