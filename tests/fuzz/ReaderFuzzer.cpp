// Fuzz target of everything in the JIT room that reads bytes it did not write: cache entries,
// records, logs.
#include "compiler/jit/CacheFile.h"
#include "compiler/jit/Hash.h"
#include "compiler/jit/KernelCompiler.h"
#include "compiler/jit/ProgramRecord.h"

#include <cstdlib>

using namespace fw::jit;

namespace {

const std::string key(64, 'a');

/// The input as a payload with a right checksum: what a checksum alone does not stop.
std::string sealed(std::string_view payload) {
  constexpr size_t hashedHead = 24, digestBytes = 32;
  std::string head = encodeEntry({}, EntryKind::Kernel, key).substr(0, hashedHead - 8);
  for (int i = 0; i < 8; ++i)
    head += char(uint64_t(payload.size()) >> (8 * i));
  const std::string_view parts[] = {key, head, payload};
  Digest digest = sha256(parts);
  static_assert(sizeof digest == digestBytes);
  return head + std::string(digest.begin(), digest.end()) + std::string(payload);
}

void require(bool condition) {
  if (!condition)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  require(!decodeEntry(bytes, EntryKind::Kernel, key) || size > 56);
  if (fw::Result<Entry> entry = decodeEntry(sealed(bytes), EntryKind::Kernel, key)) {
    require(entry->bytes() <= size);
    require(encodeEntry(*entry, EntryKind::Kernel, key) == sealed(bytes));
  }
  if (fw::Result<ProgramRecord> record = decodeProgramRecord(bytes)) {
    for (const StageRecord &stage : record->stages)
      require(bool(check(stage.scalars)));
    require(bool(decodeProgramRecord(encode(*record))));
  }
  if (fw::Result<LaunchRecord> launch = decodeLaunchRecord(bytes))
    require(bool(decodeLaunchRecord(encode(*launch))));
  for (const KernelResources &kernel : parseResources(bytes))
    require(kernel.symbol.size() <= size);
  return 0;
}
