#include "runtime/plan/CudaLaunch.h"

#include <algorithm>

namespace fw::plan {
namespace {

/// From here on the loads of a launch are marked to stay in the L2 longest: 2-5 % on an H200
/// (docs/rationale/elements-schedule.md).
constexpr uint64_t evictLastBytes = uint64_t(64) << 20;

/// The first driver whose captures take launches that start early.
constexpr int earlyLaunchesInGraphs = 12030;

std::variant<ElementsArguments, ReduceArguments> argumentsOf(const CudaKernel &kernel) {
  const int operands = int(kernel.operands.size()), slots = int(kernel.slots);
  if (kernel.reduces)
    return ReduceArguments(operands, slots, kernel.doubleScalars);
  return ElementsArguments(operands, slots, kernel.doubleScalars);
}

uint64_t streamedBytes(const CudaKernel &kernel, const ProgramLists &lists) {
  if (kernel.reduces)
    return kernel.loadedBytes(lists.elements);
  return lists.elements * uint64_t(launch::bytesPerElement(lists.program->operands));
}

std::vector<ListSegment> segmentsOf(const ProgramLists &lists) {
  std::vector<ListSegment> segments;
  size_t local = 0;
  for (size_t s = 0; s < lists.segments.size(); ++s) {
    while (s >= lists.firstSegments[local + 1])
      ++local;
    segments.push_back({.count = lists.segments[s].count,
                        .segment = uint32_t(s),
                        .group = uint32_t(local),
                        .entry = lists.segmentRows[s]});
  }
  return segments;
}

} // namespace

uint64_t policyFor(uint64_t streamedBytes) {
  return streamedBytes >= evictLastBytes ? L2::EVICT_LAST : L2::NORMAL;
}

Result<void> checkBlocks(uint64_t blocks) {
  constexpr uint64_t most = (uint64_t(1) << 31) - 1; // of a grid's first dimension
  if (blocks <= most)
    return {};
  return Error{Code::USAGE,
               "expected at most 2^31 - 1 blocks of a launch, got " + std::to_string(blocks),
               "split the list"};
}

CudaLaunch::CudaLaunch(const CudaKernel &kernel, const ProgramLists &lists, AddressColumns &columns)
    : kernel(kernel), columns(columns), segments(segmentsOf(lists)),
      arguments(argumentsOf(kernel)) {
  parameters().policy(policyFor(streamedBytes(kernel, lists)));
}

Result<std::unique_ptr<CudaLaunch>> CudaLaunch::make(const DeviceWorld &world,
                                                     const CudaKernel &kernel,
                                                     const ProgramLists &lists,
                                                     AddressColumns &columns) {
  std::unique_ptr<CudaLaunch> made(new CudaLaunch(kernel, lists, columns));
  auto function = kernel.module.load(*world.driver, *world.modules);
  if (!function)
    return function.takeError();
  made->function = *function;
  made->chunks = made->cut(false);
  if (Result<void> fit = checkBlocks(made->chunks.size()); !fit)
    return fit.takeError();
  // A change of alignment moves heads, which adds at most one block to a segment.
  made->most = made->chunks.size() + made->segments.size();
  if (auto table = remake(made->chunkTable, world, made->most * sizeof(Chunk)); !table)
    return table.takeError();
  if (auto ready = made->prepare(world, nullptr, false); !ready)
    return ready.takeError();
  return made;
}

std::vector<Chunk> CudaLaunch::cut(bool isStaged) {
  return planChunks(segments, columns.spans(kernel.operands, isStaged),
                    {kernel.chunk, kernel.vec, kernel.bytes});
}

bool CudaLaunch::reads(size_t operand) const {
  return std::ranges::find(kernel.operands, operand) != kernel.operands.end();
}

Result<void> CudaLaunch::stage() {
  stagedChunks = cut(true);
  return checkBlocks(stagedChunks.size());
}

void CudaLaunch::commit() {
  chunks.swap(stagedChunks);
  isStale = true;
  ++cutCount;
}

KernelArguments &CudaLaunch::parameters() {
  return std::visit([](auto &each) -> KernelArguments & { return each; }, arguments);
}

Result<void> CudaLaunch::prepare(const DeviceWorld &world, driver::CUstream stream,
                                 bool capturing) {
  if (isStale) {
    if (auto updated = chunkTable.update(world, tableBytes(chunks), stream, capturing); !updated)
      return updated;
    isStale = false;
  }
  parameters().chunks(chunkTable.address());
  for (size_t k = 0; k < kernel.operands.size(); ++k)
    parameters().column(int(k), columns.address(kernel.operands[k]));
  return {};
}

Result<void> CudaLaunch::launch(const DeviceWorld &world, driver::CUstream stream, bool early) {
  ++*world.launches;
  void *bytes[] = {parameters().data()};
  const bool isEarly =
      early && kernel.startsEarly && world.driver->version() >= earlyLaunchesInGraphs;
  return driver::check(*world.driver,
                       isEarly ? launchEarly(world, stream, bytes)
                               : world.driver->cu().launchKernel(
                                     function, unsigned(chunks.size()), 1, 1, kernel.threads, 1, 1,
                                     kernel.sharedBytes, stream, bytes, nullptr),
                       "launching a kernel");
}

driver::CUresult CudaLaunch::launchEarly(const DeviceWorld &world, driver::CUstream stream,
                                         void **bytes) const {
  driver::CUlaunchAttribute attribute = {};
  attribute.id = driver::LaunchAttribute::PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value = 1;
  const driver::CUlaunchConfig config = {.gridX = unsigned(chunks.size()),
                                         .gridY = 1,
                                         .gridZ = 1,
                                         .blockX = kernel.threads,
                                         .blockY = 1,
                                         .blockZ = 1,
                                         .sharedBytes = kernel.sharedBytes,
                                         .stream = stream,
                                         .attributes = &attribute,
                                         .attributeCount = 1};
  return world.driver->cu().launchKernelEx(&config, function, bytes, nullptr);
}

} // namespace fw::plan
