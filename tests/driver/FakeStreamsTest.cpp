// The order of work in streams, and when the host sees it.
#include "tests/driver/Cuda.h"

#include <atomic>
#include <future>
#include <thread>

namespace fw::driver {
namespace {

using CudaStreams = CudaTest;
using FakeStreams = FakeTest;
using Bytes = std::vector<uint8_t>;

void nothing(void *) {}
void setFlag(void *flag) { *static_cast<std::atomic<bool> *>(flag) = true; }

TEST_F(FakeStreams, WorkWaitsUntilSomebodyWaitsForIt) {
  const CUdeviceptr address = allocate(16);
  const CUstream queue = stream(), other = stream();
  OK(cu.memsetD8Async(address, 1, 16, queue));
  OK(cu.streamSynchronize(other));
  EXPECT_EQ(peek(address, 16), Bytes(16, 0xFF));
  OK(cu.streamSynchronize(queue));
  EXPECT_EQ(peek(address, 16), Bytes(16, 1));
}

// Case F05: a producer with a long delay on a side stream, and a consumer.
TEST_F(FakeStreams, AWrongStreamReadsStaleData) {
  const CUdeviceptr data = allocate(16), right = allocate(16), wrong = allocate(16);
  const CUstream side = stream(), elsewhere = stream();
  OK(cu.memsetD8(data, 7, 16));
  OK(cu.launchHostFunc(side, nothing, nullptr));
  OK(cu.memsetD8Async(data, 8, 16, side));
  OK(cu.memcpyDtoDAsync(wrong, data, 16, elsewhere));
  OK(cu.memcpyDtoDAsync(right, data, 16, side));
  OK(cu.streamSynchronize(nullptr)); // non-blocking streams do not care
  OK(cu.streamSynchronize(elsewhere));
  OK(cu.streamSynchronize(side));
  EXPECT_EQ(peek(wrong, 16), Bytes(16, 7));
  EXPECT_EQ(peek(right, 16), Bytes(16, 8));
}

TEST_F(FakeStreams, TheLegacyStreamWaitsForBlockingOnes) {
  const CUdeviceptr address = allocate(16), free = allocate(16);
  const CUstream blocking = stream(0), nonBlocking = stream();
  OK(cu.memsetD8Async(address, 1, 16, blocking));
  OK(cu.memsetD8Async(free, 1, 16, nonBlocking));
  OK(cu.memsetD8Async(address, 2, 16, nullptr));
  OK(cu.memsetD8Async(address, 3, 8, blocking));
  OK(cu.streamSynchronize(blocking)); // needs the legacy work, and that the first
  EXPECT_EQ(peek(address, 8), Bytes(8, 3));
  EXPECT_EQ(peek(address + 8, 8), Bytes(8, 2));
  EXPECT_EQ(peek(free, 16), Bytes(16, 0xFF));
  OK(cu.memsetD8Async(address, 4, 16, blocking));
  OK(cu.streamSynchronize(legacyStream()));
  EXPECT_EQ(peek(address, 16), Bytes(16, 4));
  EXPECT_EQ(fake.pending(), 1u);
}

TEST_F(CudaStreams, ThreadsHaveAStream) {
  const CUdeviceptr address = allocate(16);
  OK(cu.memsetD8Async(address, 9, 16, perThreadStream()));
  OK(cu.streamSynchronize(perThreadStream()));
  EXPECT_EQ(read(address, 16), Bytes(16, 9));
}

TEST_F(FakeStreams, PageableBytesAreKeptAtTheCall) {
  const CUdeviceptr address = allocate(70000);
  const CUstream queue = stream();
  Bytes host(70000, 1);
  OK(cu.memcpyHtoDAsync(address, host.data(), 65536, queue));
  EXPECT_EQ(counts().implicitSynchronisations, 0u);
  host.assign(70000, 2);
  OK(cu.streamSynchronize(queue));
  EXPECT_EQ(peek(address, 65536), Bytes(65536, 1));
  OK(cu.memcpyHtoDAsync(address, host.data(), 65537, queue));
  EXPECT_EQ(counts().implicitSynchronisations, 1u);
}

TEST_F(FakeStreams, PageLockedBytesAreReadLate) {
  const CUdeviceptr address = allocate(16);
  const CUstream queue = stream();
  void *host = nullptr;
  OK(cu.memHostAlloc(&host, 16, 0));
  memset(host, 1, 16);
  OK(cu.memcpyHtoDAsync(address, host, 16, queue));
  memset(host, 2, 16); // too early: what a GPU would copy is not known
  OK(cu.streamSynchronize(queue));
  EXPECT_EQ(peek(address, 16), Bytes(16, 2));
  memset(host, 3, 16);
  OK(cu.memcpyDtoHAsync(host, address, 16, queue));
  EXPECT_EQ(*static_cast<uint8_t *>(host), 3); // asynchronous
  OK(cu.streamSynchronize(queue));
  EXPECT_EQ(*static_cast<uint8_t *>(host), 2);
  OK(cu.memFreeHost(host));
}

TEST_F(CudaStreams, PageableCopiesToTheHostWait) {
  const CUdeviceptr address = allocate(16);
  const CUstream queue = stream();
  Bytes host(16);
  OK(cu.memsetD8Async(address, 5, 16, queue));
  OK(cu.memcpyDtoHAsync(host.data(), address, 16, queue));
  EXPECT_EQ(host, Bytes(16, 5));
}

TEST_F(FakeStreams, EventsOrderStreams) {
  const CUdeviceptr address = allocate(16), copy = allocate(16);
  const CUstream producer = stream(), consumer = stream();
  const CUevent ready = event();
  OK(cu.memsetD8Async(address, 1, 16, producer));
  OK(cu.eventRecord(ready, producer));
  OK(cu.memsetD8Async(address, 2, 16, producer)); // behind the event: not waited for
  OK(cu.streamWaitEvent(consumer, ready, 0));
  OK(cu.memcpyDtoDAsync(copy, address, 16, consumer));
  OK(cu.streamSynchronize(consumer));
  EXPECT_EQ(peek(copy, 16), Bytes(16, 1));
  EXPECT_EQ(peek(address, 16), Bytes(16, 1));
  OK(cu.eventSynchronize(ready));
  EXPECT_EQ(fake.pending(), 1u);
}

TEST_F(CudaStreams, EventsHaveTimes) {
  const CUdeviceptr address = allocate(1 << 20);
  const CUstream queue = stream();
  const CUevent start = event(), end = event(), untimed = event(EventFlag::DISABLE_TIMING);
  float milliseconds = -1;
  EXPECT_EQ(cu.eventElapsedTime(&milliseconds, start, end), Answer::INVALID_HANDLE);
  OK(cu.eventRecord(start, queue));
  OK(cu.memsetD8Async(address, 1, 1 << 20, queue));
  OK(cu.eventRecord(end, queue));
  OK(cu.eventRecord(untimed, queue));
  OK(cu.eventSynchronize(untimed));
  OK(cu.eventElapsedTime(&milliseconds, start, end));
  EXPECT_GE(milliseconds, 0);
  EXPECT_LT(milliseconds, 60000);
  EXPECT_EQ(cu.eventElapsedTime(&milliseconds, start, untimed), Answer::INVALID_HANDLE);
}

TEST_F(FakeStreams, TimesOfPendingEventsAreNotReady) {
  const CUstream queue = stream();
  const CUevent start = event(), end = event();
  float milliseconds = -1;
  OK(cu.eventRecord(start, queue));
  OK(cu.eventRecord(end, queue));
  EXPECT_EQ(cu.eventElapsedTime(&milliseconds, start, end), Answer::NOT_READY);
}

TEST_F(CudaStreams, AskingAgainAndAgainEnds) {
  const CUdeviceptr address = allocate(16);
  const CUstream queue = stream();
  const CUevent done = event();
  for (int k = 0; k < 5; ++k)
    OK(cu.memsetD8Async(address, uint8_t(k), 16, queue));
  OK(cu.eventRecord(done, queue));
  CUresult result = Answer::NOT_READY;
  while ((result = cu.eventQuery(done)) == Answer::NOT_READY) {
  }
  OK(result);
  while ((result = cu.streamQuery(queue)) == Answer::NOT_READY) {
  }
  OK(result);
  EXPECT_EQ(read(address, 16), Bytes(16, 4));
}

TEST_F(FakeStreams, ADestroyedStreamEndsItsWork) {
  const CUdeviceptr address = allocate(16);
  const CUstream queue = stream();
  OK(cu.memsetD8Async(address, 1, 16, queue));
  OK(cu.streamDestroy(queue));
  EXPECT_EQ(cu.streamDestroy(queue), Answer::INVALID_HANDLE);
  EXPECT_EQ(cu.memsetD8Async(address, 1, 16, queue), Answer::INVALID_HANDLE);
  EXPECT_EQ(cu.streamSynchronize(queue), Answer::INVALID_HANDLE);
  EXPECT_EQ(fake.pending(), 1u);
  OK(cu.ctxSynchronize());
  EXPECT_EQ(peek(address, 16), Bytes(16, 1));
}

TEST_F(FakeStreams, StaleHandlesAreKnown) {
  const CUevent gone = event();
  OK(cu.eventDestroy(gone));
  EXPECT_EQ(cu.eventDestroy(gone), Answer::INVALID_HANDLE);
  EXPECT_EQ(cu.eventRecord(gone, nullptr), Answer::INVALID_HANDLE);
  EXPECT_EQ(cu.eventSynchronize(gone), Answer::INVALID_HANDLE);
  EXPECT_EQ(cu.streamWaitEvent(nullptr, gone, 0), Answer::INVALID_HANDLE);
}

TEST_F(FakeStreams, ALongQueueMovesOn) {
  const CUdeviceptr address = allocate(16);
  const CUstream queue = stream();
  for (int k = 0; k < 3000; ++k)
    OK(cu.memsetD8Async(address, uint8_t(k), 16, queue));
  EXPECT_EQ(fake.pending(), 1024u);
  EXPECT_EQ(peek(address, 1), Bytes(1, uint8_t(3000 - 1024 - 1)));
}

TEST_F(CudaStreams, AHostFunctionMayWaitForAnotherThread) {
  std::promise<void> go;
  std::atomic<bool> isDone = false;
  const CUstream queue = stream();
  auto wait = [](void *promise) {
    static_cast<std::promise<void> *>(promise)->get_future().wait();
  };
  OK(cu.launchHostFunc(queue, wait, &go));
  OK(cu.launchHostFunc(queue, setFlag, &isDone));
  std::thread waiter([&] {
    cu.ctxPushCurrent(context);
    cu.streamSynchronize(queue);
  });
  const CUdeviceptr address = allocate(16); // the driver is free meanwhile
  const CUstream other = stream();
  OK(cu.memsetD8Async(address, 1, 16, other));
  OK(cu.streamSynchronize(other));
  EXPECT_FALSE(isDone);
  go.set_value();
  waiter.join();
  EXPECT_TRUE(isDone);
}

TEST_F(CudaStreams, AHostFunctionMayNotCallTheDriver) {
  struct Case {
    const Cuda &cu;
    CUresult result = Answer::SUCCESS;
  } inside{cu};
  const CUstream queue = stream();
  auto call = [](void *data) {
    auto &inside = *static_cast<Case *>(data);
    CUdeviceptr address = 0;
    inside.result = inside.cu.memAlloc(&address, 16);
  };
  OK(cu.launchHostFunc(queue, call, &inside));
  OK(cu.streamSynchronize(queue));
  EXPECT_EQ(inside.result, Answer::NOT_PERMITTED);
}

TEST_F(CudaStreams, ManyThreads) {
  constexpr int threads = 4, rounds = 50;
  std::vector<std::thread> workers;
  std::atomic<int> failures = 0;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      auto check = [&](CUresult result) { failures += result != Answer::SUCCESS; };
      CUstream queue = nullptr;
      check(cu.ctxPushCurrent(context));
      check(cu.streamCreate(&queue, t % 2));
      for (int k = 0; k < rounds; ++k) {
        CUdeviceptr address = 0;
        Bytes host(64);
        check(cu.memAlloc(&address, 64));
        check(cu.memsetD8Async(address, uint8_t(t * rounds + k), 64, queue));
        check(cu.memcpyDtoHAsync(host.data(), address, 64, queue));
        failures += host != Bytes(64, uint8_t(t * rounds + k));
        check(cu.memFree(address));
      }
      check(cu.streamDestroy(queue));
    });
  for (std::thread &worker : workers)
    worker.join();
  EXPECT_EQ(failures, 0);
}

} // namespace
} // namespace fw::driver
