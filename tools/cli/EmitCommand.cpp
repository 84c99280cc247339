// fusewright emit OP --stage ...: any stage of the way down, as text.
#include "tools/cli/Commands.h"

#include <iostream>

namespace fw::cli {

namespace {

struct EmitFlags {
  std::string op, stage, arch;
  RequestFlags request;
};

Result<int> emit(const Session &session, const EmitFlags &flags) {
  Result<language::OpHandle> op = findOp(flags.op);
  if (!op)
    return op.takeError();
  printWarnings(*op);
  Result<TextStage> stage = parseStage(flags.stage);
  if (!stage)
    return stage.takeError();
  Result<Request> request =
      makeRequest(*op, flags.request, flags.arch.empty() ? "cpu" : flags.arch);
  if (!request)
    return request.takeError();
  Compiler compiler(session.compilerOptions());
  Result<std::string> text = compiler.text(*request, *stage);
  if (!text)
    return text.takeError();
  std::cout << *text;
  return 0;
}

} // namespace

void addEmitCommand(CLI::App &app, Session &session) {
  auto flags = std::make_shared<EmitFlags>();
  CLI::App *command = app.add_subcommand("emit", "Print a stage of an op's way to machine code");
  command->add_option("OP", flags->op, "Shipped name, file, or file:name")->required();
  command->add_option("--stage", flags->stage, "semantic, phases, cuda, ptx or llvm")
      ->required()
      ->type_name("STAGE");
  command->add_option("--arch", flags->arch, "GPU arch such as sm_90; without it the CPU")
      ->type_name("ARCH");
  addRequestFlags(*command, flags->request);
  command->callback(
      [&session, flags] { session.action = [&session, flags] { return emit(session, *flags); }; });
}

} // namespace fw::cli
