#include "compiler/cpu/ObjectLinker.h"

#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Support/MemoryBuffer.h"

#include <new>

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

  llvm::Expected<KernelFunction> link(llvm::StringRef object, llvm::StringRef symbol) {
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, symbol);
    if (!buffer)
      throw std::bad_alloc();
    if (llvm::Error error = layer.add(library, std::move(buffer)))
      return error;
    auto found = execution.lookup({&library}, execution.intern(symbol));
    if (!found)
      return found.takeError();
    return found->getAddress().toPtr<KernelFunction>();
  }

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
  try {
    auto entry = linked->session->link(object, symbol);
    if (!entry)
      return fw::Error{.code = Code::TOOLCHAIN,
                       .text = "cannot link the CPU kernel '" + symbol.str() +
                               "': " + llvm::toString(entry.takeError()),
                       .log = linked->session->log};
    linked->entry = *entry;
    return linked;
  } catch (...) {
    // No memory. LLVM is built without exceptions: what one has passed through is in pieces, and
    // ending it ends the process. It is left where it is.
    (void)linked->session.release();
    throw;
  }
}

} // namespace fw::cpu
