#include "compiler/Standing.h"

#include "compiler/target/Target.h"

namespace fw {
namespace {

std::optional<jit::ProgramRecord> storedRecord(jit::Cache &cache, const std::string &key) {
  jit::EntryPtr entry = cache.peek(jit::EntryKind::Program, key);
  const std::string *bytes = entry ? entry->find(jit::Section::Record) : nullptr;
  if (!bytes)
    return std::nullopt;
  auto record = jit::decodeProgramRecord(*bytes);
  return record ? std::optional(std::move(*record)) : std::nullopt;
}

/// The record that the request would get, as far as no compile is needed.
Result<jit::ProgramRecord> loweredRecord(Builder &builder, const Subject &subject,
                                         const ResolvedRequest &request) {
  auto lowered = lower(request);
  if (!lowered)
    return lowered.takeError();
  auto keys = builder.kernelKeys(subject, *lowered);
  if (!keys)
    return keys.takeError();
  for (size_t i = 0; i < keys->size(); ++i)
    lowered->record.kernels[i].key = std::move((*keys)[i]);
  return std::move(lowered->record);
}

} // namespace

Result<Standing> standingOf(Builder &builder, const Subject &subject,
                            const ResolvedRequest &request) {
  Standing standing{.key = subject.key, .facts = subject.facts};
  std::optional<jit::ProgramRecord> record = storedRecord(builder.cache, subject.key);
  standing.isIndexed = record.has_value();
  if (!record) {
    auto made = loweredRecord(builder, subject, request);
    if (!made) {
      standing.unknown = made.takeError();
      return standing;
    }
    record = std::move(*made);
  }
  auto kind = target::isCpuTarget(subject.target) ? jit::EntryKind::Object : jit::EntryKind::Kernel;
  for (const jit::KernelRecord &kernel : record->kernels)
    standing.kernels.push_back(
        {kernel.launch.symbol, kernel.key, builder.cache.peek(kind, kernel.key) != nullptr});
  return standing;
}

} // namespace fw
