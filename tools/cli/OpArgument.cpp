// OP on a command line: a shipped name, a file, or file:name.
#include "tools/cli/Session.h"

#include "compiler/jit/Files.h"
#include "compiler/language/Functions.h"
#include "ops/Profiles.h"
#include "ops/ShippedOps.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

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

/// A pipe that somebody writes to is as good as a regular file.
bool isFile(const std::string &path) { return exists(path) && !isFolder(path); }

Error unreadable(const std::string &path, const std::string &why) {
  return {Code::USAGE, "expected a readable op file, got '" + path + "': " + why,
          "name a text file that this user may read"};
}

bool isPipe(int file) {
  struct stat facts;
  return ::fstat(file, &facts) == 0 && S_ISFIFO(facts.st_mode);
}

/// The first `most` bytes: a file may be larger than memory, or have no end. Opened so that a named
/// pipe to which nobody writes is told instead of waited for.
Result<std::string> readStart(const std::string &path, size_t most) {
  jit::FileHandle file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::string text(most, '\0');
  size_t size = 0;
  while (file && size < most) {
    ssize_t count = ::read(file.get(), text.data() + size, most - size);
    if (count < 0 && errno == EAGAIN && ::fcntl(file.get(), F_SETFL, 0) == 0)
      continue; // a writer is there: wait for it
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return unreadable(path, std::strerror(errno));
    if (count == 0)
      break;
    size += size_t(count);
  }
  if (!file)
    return unreadable(path, std::strerror(errno));
  if (size == 0 && isPipe(file.get()))
    return unreadable(path, "a pipe to which nobody writes");
  text.resize(size);
  return text;
}

Result<language::OpHandle> opOfFile(const std::string &path, const std::string &name) {
  // One byte more than a text may have, so that the parser sees that it is too long.
  Result<std::string> text = readStart(path, language::maxTextBytes + 1);
  if (!text)
    return text.takeError();
  return language::parseOp(*text, path, name, &shippedLibrary());
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
  for (const std::string &name : unite(names, compiledOpNames())) {
    Result<language::OpHandle> op = findOp(name);
    if (!op)
      return op.takeError();
    ops.push_back(std::move(*op));
  }
  return ops;
}

} // namespace fw::cli
