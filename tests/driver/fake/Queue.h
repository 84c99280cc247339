// Work in streams. It runs at the latest moment at which CUDA lets it: when somebody waits for it.
#pragma once

#include "tests/driver/fake/State.h"

namespace fw::driver::fake {

/// The stream that a call names; null is the legacy one of the current context.
CUresult findStream(const Call &call, CUstream handle, std::shared_ptr<Stream> &stream);
/// The same for a call that puts work there: it must be of the current context.
CUresult findOwnStream(const Call &call, CUstream handle, std::shared_ptr<Stream> &stream);

/// The error, if any, of using the legacy stream while a stream that it would wait for is captured.
CUresult legacyUse(const Context &context);
/// The same, and the captures are over.
CUresult breakByLegacyUse(const Context &context);

/// Queues work, or records it where the stream is captured.
CUresult submit(Call &call, const std::shared_ptr<Stream> &stream, Work work);
/// Behind what is in the stream, and what the legacy stream and blocking ones owe each other.
std::shared_ptr<Op> enqueue(Lock &lock, const std::shared_ptr<Stream> &stream, Work work,
                            std::vector<std::shared_ptr<Op>> after = {});

void finish(Lock &lock, const std::shared_ptr<Op> &op);
/// Runs one piece of what `op` waits for, unless another thread is at it.
void advance(Lock &lock, const std::shared_ptr<Op> &op);
void drain(Lock &lock, const Stream &stream);
void drain(Lock &lock, Context &context);

} // namespace fw::driver::fake
