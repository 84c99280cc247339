#include "compiler/cpu/ObjectLinker.h"

#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Support/MemoryBuffer.h"

namespace fw::cpu {

/// A session of its own for each object: releasing it frees code, names and memory at once.
struct LinkedObject::Session {
  explicit Session(std::unique_ptr<llvm::orc::ExecutorProcessControl> process)
      : execution(std::move(process)), layer(execution),
        library(execution.createBareJITDylib("kernel")) {
    execution.setErrorReporter(
        [this](llvm::Error error) { log += llvm::toString(std::move(error)) + "\n"; });
  }
  ~Session() { llvm::consumeError(execution.endSession()); }

  llvm::orc::ExecutionSession execution;
  llvm::orc::ObjectLinkingLayer layer;
  llvm::orc::JITDylib &library;
  std::string log;
};

LinkedObject::LinkedObject() = default;
LinkedObject::~LinkedObject() = default;

Result<std::unique_ptr<LinkedObject>> LinkedObject::link(llvm::StringRef object,
                                                         llvm::StringRef symbol) {
  auto process = llvm::orc::SelfExecutorProcessControl::Create();
  if (!process)
    return fw::Error{Code::INTERNAL, llvm::toString(process.takeError())};
  std::unique_ptr<LinkedObject> linked(new LinkedObject);
  linked->session = std::make_unique<Session>(std::move(*process));
  Session &session = *linked->session;
  auto refuse = [&](llvm::Error error) {
    std::string reason = llvm::toString(std::move(error));
    return fw::Error{.code = Code::TOOLCHAIN,
                     .text = "cannot link the CPU kernel '" + symbol.str() + "': " + reason,
                     .log = session.log};
  };
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, symbol);
  if (llvm::Error error = session.layer.add(session.library, std::move(buffer)))
    return refuse(std::move(error));
  auto found = session.execution.lookup({&session.library}, session.execution.intern(symbol));
  if (!found)
    return refuse(found.takeError());
  linked->entry = found->getAddress().toPtr<KernelFunction>();
  return linked;
}

} // namespace fw::cpu
