#include "compiler/language/OpFile.h"

#include "compiler/language/Check.h"
#include "compiler/language/Parser.h"
#include "compiler/language/Text.h"
#include "compiler/support/Stack.h"

#include <algorithm>

namespace fw::language {

const Op *OpFile::find(std::string_view name) const {
  auto found = std::find_if(all.begin(), all.end(), [&](const Op &op) { return op.name == name; });
  return found != all.end() ? &*found : nullptr;
}

void OpFile::read(Diagnostics &diagnostics) {
  tokens = lex(source, diagnostics);
  all = Parser(source, tokens, diagnostics).parseFile();
  checkOpNames(all, diagnostics);
  // What follows from a statement that could not be read would be noise.
  for (const Op &op : all)
    if (!diagnostics.hasErrorWithin(op.first->at, op.last->at))
      checkOp(op, all, diagnostics);
}

/// The hash of `op` after those of the ops that it calls; calls do not recur in a checked file.
static void computeHash(Op &op, std::vector<Op> &ops) {
  if (!op.hash.empty())
    return;
  std::vector<std::string> callees;
  for (const auto &node : op.nodes) {
    const OpCall *call = node->as<OpCall>();
    if (!call)
      continue;
    for (Op &callee : ops)
      if (callee.name == call->op) {
        computeHash(callee, ops);
        callees.push_back(callee.hash);
      }
  }
  op.hash = hashTokens(op.first, op.last, callees);
}

void OpFile::computeHashes() {
  for (Op &op : all)
    computeHash(op, all);
}

Result<std::shared_ptr<const OpFile>> OpFile::parse(std::string_view text,
                                                    std::string_view fileName) {
  if (text.size() > maxTextBytes)
    return Error{Code::OP_TEXT,
                 "expected at most " + std::to_string(maxTextBytes) + " bytes of op text, got more",
                 "split the file", std::string(fileName)};
  std::shared_ptr<OpFile> file(new OpFile(text, fileName));
  Diagnostics diagnostics(file->source);
  runOnLargeStack([&] { file->read(diagnostics); });
  if (diagnostics.hasErrors())
    return diagnostics.toError();
  file->computeHashes();
  file->rendered = diagnostics.render();
  return std::shared_ptr<const OpFile>(std::move(file));
}

Result<OpHandle> parseOp(std::string_view text, std::string_view fileName, std::string_view name) {
  Result<std::shared_ptr<const OpFile>> file = OpFile::parse(text, fileName);
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
