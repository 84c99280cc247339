#include "compiler/language/OpFile.h"

#include "compiler/language/Check.h"
#include "compiler/language/Parser.h"
#include "compiler/language/Text.h"
#include "compiler/support/Stack.h"

#include <algorithm>
#include <map>

namespace fw::language {

const Op *OpFile::find(std::string_view name) const {
  auto found = std::find_if(all.begin(), all.end(), [&](const Op &op) { return op.name == name; });
  return found != all.end() ? &*found : nullptr;
}

/// Every call that exists gets the op that it means.
void OpFile::link(const OpLibrary *library) {
  for (Op &op : all)
    for (const auto &node : op.nodes) {
      const OpCall *call = node->as<OpCall>();
      if (!call || op.callees.count(call->op))
        continue;
      if (const Op *own = find(call->op)) {
        op.callees[call->op] = own;
      } else if (std::optional<OpHandle> other = library ? library->find(call->op) : std::nullopt) {
        op.callees[call->op] = other->op;
        called.push_back(other->file);
      }
    }
}

void OpFile::read(Diagnostics &diagnostics, const OpLibrary *library) {
  tokens = lex(source, diagnostics);
  all = Parser(source, tokens, diagnostics).parseFile();
  link(library);
  checkOpNames(all, diagnostics);
  // What follows from a statement that could not be read would be noise.
  for (const Op &op : all)
    if (!diagnostics.hasErrorWithin(op.first->at, op.last->at))
      checkOp(op, all, diagnostics);
}

/// The hash of `op` after those of the ops that it calls; calls do not recur in a checked file, and
/// a file of the library has its hashes.
static std::string computeHash(const Op &op, std::map<const Op *, std::string> &known) {
  if (!op.hash.empty())
    return op.hash;
  if (auto found = known.find(&op); found != known.end())
    return found->second;
  std::vector<std::string> hashes;
  for (const auto &node : op.nodes)
    if (const OpCall *call = node->as<OpCall>())
      hashes.push_back(computeHash(*op.callees.at(call->op), known));
  return known[&op] = hashTokens(op.first, op.last, hashes);
}

void OpFile::computeHashes() {
  std::map<const Op *, std::string> known;
  for (const Op &op : all)
    computeHash(op, known);
  for (Op &op : all)
    op.hash = known.at(&op);
}

Result<std::shared_ptr<const OpFile>>
OpFile::parse(std::string_view text, std::string_view fileName, const OpLibrary *library) {
  if (text.size() > maxTextBytes)
    return Error{Code::OP_TEXT,
                 "expected at most " + std::to_string(maxTextBytes) + " bytes of op text, got more",
                 "split the file", std::string(fileName)};
  std::shared_ptr<OpFile> file(new OpFile(text, fileName));
  Diagnostics diagnostics(file->source);
  runOnLargeStack([&] { file->read(diagnostics, library); });
  if (diagnostics.hasErrors())
    return diagnostics.toError();
  file->computeHashes();
  file->rendered = diagnostics.render();
  return std::shared_ptr<const OpFile>(std::move(file));
}

Result<OpHandle> parseOp(std::string_view text, std::string_view fileName, std::string_view name,
                         const OpLibrary *library) {
  Result<std::shared_ptr<const OpFile>> file = OpFile::parse(text, fileName, library);
  if (!file)
    return file.takeError();
  std::vector<std::string> names;
  for (const Op &op : (*file)->ops())
    names.push_back(op.name);
  if (name.empty() && names.size() != 1)
    return Error{Code::USAGE,
                 "expected one op in " + std::string(fileName) + ", got " +
                     std::to_string(names.size()),
                 "name one of them: " + alternatives(names)};
  const Op *op = name.empty() ? &(*file)->ops().front() : (*file)->find(name);
  if (!op)
    return Error{Code::USAGE,
                 "expected an op of " + std::string(fileName) + ", got " + quoted(name),
                 "its ops are " + alternatives(names)};
  return OpHandle{*file, op};
}

} // namespace fw::language
