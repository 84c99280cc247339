// Captures and graphs.
#include "tests/driver/Cuda.h"

#include <thread>

namespace fw::driver {
namespace {

using Bytes = std::vector<uint8_t>;

class CudaCapture : public CudaTest {
protected:
  /// Ends a capture that went well.
  CUgraphExec instantiate(CUstream origin, size_t nodes) {
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    size_t count = 0;
    EXPECT_EQ(cu.streamEndCapture(origin, &graph), Answer::SUCCESS);
    EXPECT_EQ(cu.graphGetNodes(graph, nullptr, &count), Answer::SUCCESS);
    EXPECT_EQ(count, nodes);
    EXPECT_EQ(cu.graphInstantiate(&exec, graph, 0), Answer::SUCCESS);
    EXPECT_EQ(cu.graphDestroy(graph), Answer::SUCCESS);
    return exec;
  }

  /// A capture that `act` spoils with an error.
  template <class Act> void spoil(CUresult expected, int mode, unsigned flags, Act act) {
    const CUstream origin = stream(flags);
    CUgraph graph = nullptr;
    int status = 0;
    OK(cu.streamBeginCapture(origin, mode));
    EXPECT_EQ(act(origin), expected);
    OK(cu.streamIsCapturing(origin, &status));
    EXPECT_EQ(status, CaptureStatus::INVALIDATED);
    EXPECT_EQ(cu.memsetD8Async(address, 1, 16, origin), Answer::STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(cu.streamEndCapture(origin, &graph), Answer::STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(graph, nullptr);
    OK(cu.streamIsCapturing(origin, &status));
    EXPECT_EQ(status, CaptureStatus::NONE);
    OK(cu.memsetD8Async(address, 1, 16, origin));
    OK(cu.streamSynchronize(origin));
  }

  void SetUp() override {
    CudaTest::SetUp();
    address = allocate(16);
  }
  CUdeviceptr address = 0;
};

TEST_F(CudaCapture, ReplaysWhatItRecorded) {
  const CUdeviceptr copy = allocate(16);
  const CUstream origin = stream(), other = stream();
  OK(cu.memsetD8(address, 9, 16));
  OK(cu.memsetD8(copy, 9, 16));
  OK(cu.streamBeginCapture(origin, CaptureMode::THREAD_LOCAL));
  OK(cu.memsetD8Async(address, 1, 8, origin));
  OK(cu.memcpyDtoDAsync(copy, address, 16, origin));
  const CUgraphExec exec = instantiate(origin, 2);
  EXPECT_EQ(read(copy, 16), Bytes(16, 9)); // nothing ran
  OK(cu.graphLaunch(exec, other));
  OK(cu.streamSynchronize(other));
  Bytes expected(16, 9);
  std::fill_n(expected.begin(), 8, 1);
  EXPECT_EQ(read(copy, 16), expected);
  OK(cu.graphExecDestroy(exec));
}

TEST_F(CudaCapture, HostMemoryIsReadAtTheLaunch) {
  const CUstream origin = stream();
  void *locked = nullptr;
  OK(cu.memHostAlloc(&locked, 16, 0));
  memset(locked, 1, 16);
  OK(cu.streamBeginCapture(origin, CaptureMode::THREAD_LOCAL));
  OK(cu.memcpyHtoDAsync(address, locked, 16, origin));
  const CUgraphExec exec = instantiate(origin, 1);
  memset(locked, 2, 16);
  OK(cu.graphLaunch(exec, origin));
  EXPECT_EQ(read(address, 16), Bytes(16, 2));
  OK(cu.graphExecDestroy(exec));
}

TEST_F(CudaCapture, PageableMemoryToo) {
  const CUstream origin = stream();
  Bytes host(16, 1);
  OK(cu.streamBeginCapture(origin, CaptureMode::THREAD_LOCAL));
  OK(cu.memcpyHtoDAsync(address, host.data(), 16, origin));
  const CUgraphExec exec = instantiate(origin, 1);
  host.assign(16, 2);
  OK(cu.graphLaunch(exec, origin));
  EXPECT_EQ(read(address, 16), Bytes(16, 2));
  OK(cu.graphExecDestroy(exec));
}

TEST_F(CudaCapture, UnsafeCallsSpoilIt) {
  const CUstream other = stream();
  CUdeviceptr made = 0;
  auto allocates = [&](CUstream) { return cu.memAlloc(&made, 16); };
  auto waitsForItself = [&](CUstream origin) { return cu.streamSynchronize(origin); };
  auto asksItself = [&](CUstream origin) { return cu.streamQuery(origin); };
  auto waitsForAll = [&](CUstream) { return cu.ctxSynchronize(); };
  auto waitsForOther = [&](CUstream) { return cu.streamSynchronize(other); };
  auto copies = [&](CUstream) { return cu.memcpyHtoD(address, &made, 8); };
  for (int mode : {CaptureMode::GLOBAL, CaptureMode::THREAD_LOCAL}) {
    spoil(Answer::STREAM_CAPTURE_UNSUPPORTED, mode, StreamFlag::NON_BLOCKING, allocates);
    spoil(Answer::STREAM_CAPTURE_UNSUPPORTED, mode, StreamFlag::NON_BLOCKING, waitsForItself);
    spoil(Answer::STREAM_CAPTURE_UNSUPPORTED, mode, StreamFlag::NON_BLOCKING, asksItself);
    spoil(Answer::STREAM_CAPTURE_UNSUPPORTED, mode, StreamFlag::NON_BLOCKING, waitsForAll);
    spoil(Answer::STREAM_CAPTURE_UNSUPPORTED, mode, StreamFlag::NON_BLOCKING, waitsForOther);
    spoil(Answer::STREAM_CAPTURE_UNSUPPORTED, mode, StreamFlag::NON_BLOCKING, copies);
  }
}

TEST_F(CudaCapture, TheLegacyStreamSpoilsBlockingOnes) {
  auto sets = [&](CUstream) { return cu.memsetD8Async(address, 1, 16, nullptr); };
  auto copies = [&](CUstream origin) { return cu.memcpyHtoD(address, &origin, 8); };
  auto waits = [&](CUstream) { return cu.streamSynchronize(nullptr); };
  for (int mode : {CaptureMode::GLOBAL, CaptureMode::RELAXED}) {
    spoil(Answer::STREAM_CAPTURE_IMPLICIT, mode, 0, sets);
    spoil(Answer::STREAM_CAPTURE_IMPLICIT, mode, 0, copies);
    spoil(Answer::STREAM_CAPTURE_IMPLICIT, mode, 0, waits);
  }
  const CUstream origin = stream(0);
  int status = -1;
  OK(cu.streamBeginCapture(origin, CaptureMode::RELAXED));
  EXPECT_EQ(cu.streamIsCapturing(nullptr, &status), Answer::STREAM_CAPTURE_IMPLICIT);
  OK(cu.graphExecDestroy(instantiate(origin, 0))); // asking does no harm
}

TEST_F(CudaCapture, NonBlockingStreamsAndTheLegacyOneGoTogether) {
  const CUstream origin = stream();
  OK(cu.streamBeginCapture(origin, CaptureMode::GLOBAL));
  OK(cu.memsetD8Async(address, 3, 16, nullptr));
  OK(cu.graphExecDestroy(instantiate(origin, 0)));
  EXPECT_EQ(read(address, 16), Bytes(16, 3));
}

TEST_F(CudaCapture, ARelaxedThreadMayDoMore) {
  const CUstream origin = stream(), other = stream();
  int mode = CaptureMode::RELAXED;
  OK(cu.streamBeginCapture(origin, CaptureMode::GLOBAL));
  OK(cu.threadExchangeCaptureMode(&mode));
  EXPECT_EQ(mode, CaptureMode::GLOBAL);
  const CUdeviceptr made = allocate(16);
  OK(cu.memsetD8Async(made, 4, 16, other));
  OK(cu.streamSynchronize(other));
  OK(cu.threadExchangeCaptureMode(&mode));
  EXPECT_EQ(mode, CaptureMode::RELAXED);
  OK(cu.memsetD8Async(address, 3, 16, origin));
  OK(cu.graphExecDestroy(instantiate(origin, 1)));
  EXPECT_EQ(read(made, 16), Bytes(16, 4));
}

TEST_F(CudaCapture, ARelaxedCaptureForbidsNothing) {
  const CUstream origin = stream();
  OK(cu.streamBeginCapture(origin, CaptureMode::RELAXED));
  OK(cu.memFree(allocate(16)));
  OK(cu.graphExecDestroy(instantiate(origin, 0)));
}

TEST_F(CudaCapture, OtherThreadsSeeGlobalCapturesAlone) {
  for (int mode : {CaptureMode::GLOBAL, CaptureMode::THREAD_LOCAL, CaptureMode::RELAXED}) {
    const CUstream origin = stream();
    CUresult result = 0;
    CUgraph graph = nullptr;
    OK(cu.streamBeginCapture(origin, mode));
    std::thread([&] {
      CUdeviceptr made = 0;
      cu.ctxPushCurrent(context);
      result = cu.memAlloc(&made, 16);
    }).join();
    const bool isGlobal = mode == CaptureMode::GLOBAL;
    EXPECT_EQ(result, isGlobal ? Answer::STREAM_CAPTURE_UNSUPPORTED : Answer::SUCCESS);
    EXPECT_EQ(cu.streamEndCapture(origin, &graph),
              isGlobal ? Answer::STREAM_CAPTURE_INVALIDATED : Answer::SUCCESS);
  }
}

TEST_F(CudaCapture, BeginAndEndAreChecked) {
  const CUstream origin = stream();
  CUgraph graph = nullptr;
  EXPECT_EQ(cu.streamBeginCapture(nullptr, CaptureMode::GLOBAL),
            Answer::STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cu.streamEndCapture(origin, &graph), Answer::ILLEGAL_STATE);
  OK(cu.streamBeginCapture(origin, CaptureMode::THREAD_LOCAL));
  EXPECT_EQ(cu.streamBeginCapture(origin, CaptureMode::THREAD_LOCAL), Answer::ILLEGAL_STATE);
  CUresult elsewhere = 0;
  std::thread([&] {
    cu.ctxPushCurrent(context);
    CUgraph none = nullptr;
    elsewhere = cu.streamEndCapture(origin, &none);
  }).join();
  EXPECT_EQ(elsewhere, Answer::STREAM_CAPTURE_WRONG_THREAD);
}

TEST_F(CudaCapture, StreamsForkAndJoin) {
  const CUdeviceptr copy = allocate(16);
  const CUstream origin = stream(), side = stream();
  const CUevent fork = event(EventFlag::DISABLE_TIMING), join = event(EventFlag::DISABLE_TIMING);
  int status = 0;
  OK(cu.streamBeginCapture(origin, CaptureMode::THREAD_LOCAL));
  OK(cu.memsetD8Async(address, 6, 16, origin));
  OK(cu.eventRecord(fork, origin));
  OK(cu.streamWaitEvent(side, fork, 0));
  OK(cu.streamIsCapturing(side, &status));
  EXPECT_EQ(status, CaptureStatus::ACTIVE);
  OK(cu.memcpyDtoDAsync(copy, address, 16, side));
  CUgraph graph = nullptr;
  EXPECT_EQ(cu.streamEndCapture(side, &graph), Answer::STREAM_CAPTURE_UNMATCHED);
  OK(cu.eventRecord(join, side));
  OK(cu.streamWaitEvent(origin, join, 0));
  const CUgraphExec exec = instantiate(origin, 2);
  OK(cu.graphLaunch(exec, origin));
  EXPECT_EQ(read(copy, 16), Bytes(16, 6));
}

TEST_F(CudaCapture, AForgottenJoinIsAnError) {
  const CUstream origin = stream(), side = stream();
  const CUevent fork = event(EventFlag::DISABLE_TIMING);
  CUgraph graph = nullptr;
  OK(cu.streamBeginCapture(origin, CaptureMode::THREAD_LOCAL));
  OK(cu.eventRecord(fork, origin));
  OK(cu.streamWaitEvent(side, fork, 0));
  OK(cu.memsetD8Async(address, 6, 16, side));
  EXPECT_EQ(cu.streamEndCapture(origin, &graph), Answer::STREAM_CAPTURE_UNJOINED);
}

TEST_F(CudaCapture, EventsRespectItsBorder) {
  const CUstream outside = stream();
  const CUevent before = event();
  OK(cu.eventRecord(before, outside));
  spoil(Answer::STREAM_CAPTURE_ISOLATION, CaptureMode::RELAXED, StreamFlag::NON_BLOCKING,
        [&](CUstream origin) { return cu.streamWaitEvent(origin, before, 0); });
  const CUevent captured = event();
  spoil(Answer::CAPTURED_EVENT, CaptureMode::RELAXED, StreamFlag::NON_BLOCKING,
        [&](CUstream origin) {
          EXPECT_EQ(cu.eventRecord(captured, origin), Answer::SUCCESS);
          return cu.eventSynchronize(captured);
        });
}

TEST_F(CudaCapture, TwoCapturesDoNotMerge) {
  const CUstream first = stream(), second = stream();
  const CUevent captured = event(EventFlag::DISABLE_TIMING);
  CUgraph graph = nullptr;
  OK(cu.streamBeginCapture(first, CaptureMode::RELAXED));
  OK(cu.streamBeginCapture(second, CaptureMode::RELAXED));
  OK(cu.eventRecord(captured, first));
  EXPECT_EQ(cu.streamWaitEvent(second, captured, 0), Answer::STREAM_CAPTURE_MERGE);
  EXPECT_EQ(cu.streamEndCapture(second, &graph), Answer::STREAM_CAPTURE_INVALIDATED);
}

using FakeCapture = FakeTest;

TEST_F(FakeCapture, AGraphRunsLate) {
  const CUdeviceptr address = allocate(16);
  const CUstream origin = stream();
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  OK(cu.streamBeginCapture(origin, CaptureMode::GLOBAL));
  OK(cu.memsetD8Async(address, 1, 16, origin));
  OK(cu.streamEndCapture(origin, &graph));
  OK(cu.graphInstantiate(&exec, graph, 0));
  OK(cu.graphLaunch(exec, origin));
  OK(cu.graphDestroy(graph));
  OK(cu.graphExecDestroy(exec)); // what is queued stays
  EXPECT_EQ(peek(address, 16), Bytes(16, 0xFF));
  OK(cu.streamSynchronize(origin));
  EXPECT_EQ(peek(address, 16), Bytes(16, 1));
  EXPECT_EQ(cu.graphLaunch(exec, origin), Answer::INVALID_VALUE);
  EXPECT_EQ(cu.graphDestroy(graph), Answer::INVALID_VALUE);
}

TEST_F(FakeCapture, AGraphOfFreedMemoryFaults) {
  const CUdeviceptr address = allocate(16);
  const CUstream origin = stream();
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  OK(cu.streamBeginCapture(origin, CaptureMode::GLOBAL));
  OK(cu.memsetD8Async(address, 1, 16, origin));
  OK(cu.streamEndCapture(origin, &graph));
  OK(cu.graphInstantiate(&exec, graph, 0));
  OK(cu.memFree(address));
  OK(cu.graphLaunch(exec, origin));
  EXPECT_EQ(cu.streamSynchronize(origin), Answer::ILLEGAL_ADDRESS);
  ASSERT_STREQ(fake.check(), "a copy runs after its memory was freed");
  fake.heal();
}

TEST_F(FakeCapture, ACapturedStreamIsNotDestroyed) {
  const CUstream origin = stream();
  CUgraph graph = nullptr;
  OK(cu.streamBeginCapture(origin, CaptureMode::GLOBAL));
  EXPECT_EQ(cu.streamDestroy(origin), Answer::STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cu.streamEndCapture(origin, &graph), Answer::STREAM_CAPTURE_INVALIDATED);
  OK(cu.streamDestroy(origin));
}

} // namespace
} // namespace fw::driver
