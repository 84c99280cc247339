// Devices and contexts.
#include "tests/driver/Cuda.h"

#include <set>
#include <thread>

namespace fw::driver {
namespace {

using CudaDevices = CudaTest;
using FakeDevices = FakeTest;

TEST_F(FakeDevices, EveryFunctionIsThere) {
#define FW_CUDA(member, symbol, arguments) EXPECT_TRUE(cu.member) << #symbol;
#define FW_CUDA_OPTIONAL FW_CUDA
#include "runtime/driver/symbols.def"
#include "tests/driver/fake/extra.def"
#undef FW_CUDA
#undef FW_CUDA_OPTIONAL
#define FAKE_CUDA(result, name, arguments) EXPECT_TRUE(fake.name) << #name;
#include "tests/driver/fake/control.def"
#undef FAKE_CUDA
}

TEST_F(FakeDevices, NothingWorksBeforeInit) {
  fake.reset();
  int count = 0, version = 0;
  CUdeviceptr address = 0;
  EXPECT_EQ(cu.deviceGetCount(&count), Answer::NOT_INITIALIZED);
  EXPECT_EQ(cu.primaryCtxRetain(&context, 0), Answer::NOT_INITIALIZED);
  EXPECT_EQ(cu.memAlloc(&address, 4), Answer::NOT_INITIALIZED);
  EXPECT_EQ(cu.ctxPushCurrent(context), Answer::NOT_INITIALIZED);
  OK(cu.driverGetVersion(&version));
  EXPECT_EQ(version, 13000);
}

TEST_F(FakeDevices, InitAnswersWhatATestDecides) {
  fake.reset();
  fake.init(Answer::SYSTEM_DRIVER_MISMATCH);
  EXPECT_EQ(cu.init(0), Answer::SYSTEM_DRIVER_MISMATCH);
  fake.init(Answer::SUCCESS);
  fake.devices("");
  EXPECT_EQ(cu.init(0), Answer::NO_DEVICE);
  EXPECT_EQ(cu.init(1), Answer::INVALID_VALUE);
}

TEST_F(FakeDevices, SettingsAreSeen) {
  restart("9.0,8.6");
  fake.version(12040);
  fake.memory(4096);
  int version = 0, count = 0, major = 0, minor = 0;
  size_t bytes = 0;
  char name[64] = "";
  OK(cu.driverGetVersion(&version));
  OK(cu.deviceGetCount(&count));
  OK(cu.deviceGetAttribute(&major, Attribute::COMPUTE_CAPABILITY_MAJOR, 1));
  OK(cu.deviceGetAttribute(&minor, Attribute::COMPUTE_CAPABILITY_MINOR, 1));
  OK(cu.deviceTotalMem(&bytes, 1));
  OK(cu.deviceGetName(name, sizeof name, 1));
  EXPECT_EQ(version, 12040);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(major * 10 + minor, 86);
  EXPECT_EQ(bytes, 4096u);
  EXPECT_STREQ(name, "Fake GPU 8.6");
}

TEST_F(CudaDevices, AreChecked) {
  CUdevice device = 0;
  int value = 0;
  size_t bytes = 0;
  CUcontext other = nullptr;
  EXPECT_EQ(cu.deviceGet(&device, 99), Answer::INVALID_DEVICE);
  EXPECT_EQ(cu.deviceGet(&device, -1), Answer::INVALID_DEVICE);
  EXPECT_EQ(cu.deviceGetAttribute(&value, Attribute::MULTIPROCESSOR_COUNT, 99),
            Answer::INVALID_DEVICE);
  EXPECT_EQ(cu.deviceGetAttribute(&value, 1 << 20, 0), Answer::INVALID_VALUE);
  EXPECT_EQ(cu.deviceTotalMem(&bytes, 99), Answer::INVALID_DEVICE);
  EXPECT_EQ(cu.primaryCtxRetain(&other, 99), Answer::INVALID_DEVICE);
  OK(cu.deviceGetAttribute(&value, Attribute::MULTIPROCESSOR_COUNT, 0));
  EXPECT_GT(value, 0);
}

TEST_F(CudaDevices, ErrorsHaveNames) {
  const char *name = nullptr, *text = nullptr;
  OK(cu.getErrorName(Answer::STREAM_CAPTURE_IMPLICIT, &name));
  OK(cu.getErrorString(Answer::STREAM_CAPTURE_IMPLICIT, &text));
  EXPECT_STREQ(name, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT");
  EXPECT_GT(strlen(text), 0u);
  OK(cu.getErrorName(Answer::SUCCESS, &name));
  EXPECT_STREQ(name, "CUDA_SUCCESS");
  EXPECT_EQ(cu.getErrorName(123456, &name), Answer::INVALID_VALUE);
}

TEST_F(CudaDevices, ThePrimaryContextIsOne) {
  CUcontext again = nullptr;
  OK(cu.primaryCtxRetain(&again, 0));
  EXPECT_EQ(again, context);
  OK(cu.primaryCtxRelease(0));
  allocate(16); // still alive
}

TEST_F(FakeDevices, TheLastReleaseEndsIt) {
  const CUdeviceptr address = allocate(16);
  const CUstream made = stream();
  OK(cu.primaryCtxRelease(0));
  EXPECT_EQ(cu.primaryCtxRelease(0), Answer::INVALID_CONTEXT);
  CUdeviceptr other = 0;
  EXPECT_EQ(cu.memAlloc(&other, 16), Answer::CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cu.ctxPushCurrent(context), Answer::CONTEXT_IS_DESTROYED);
  EXPECT_EQ(fake.bytes(0), 0u);
  CUcontext again = nullptr;
  OK(cu.primaryCtxRetain(&again, 0));
  EXPECT_EQ(again, context);
  EXPECT_EQ(cu.memFree(address), Answer::INVALID_VALUE);
  EXPECT_EQ(cu.streamSynchronize(made), Answer::INVALID_HANDLE);
}

TEST_F(CudaDevices, EachThreadHasAStackOfContexts) {
  CUcontext current = context, popped = nullptr;
  CUresult allocated = 0, pop = 0, device = 0;
  std::thread([&] {
    CUdeviceptr address = 0;
    CUdevice number = 0;
    cu.ctxGetCurrent(&current);
    allocated = cu.memAlloc(&address, 16);
    pop = cu.ctxPopCurrent(&popped);
    device = cu.ctxGetDevice(&number);
  }).join();
  EXPECT_EQ(current, nullptr);
  EXPECT_EQ(allocated, Answer::INVALID_CONTEXT);
  EXPECT_EQ(pop, Answer::INVALID_CONTEXT);
  EXPECT_EQ(device, Answer::INVALID_CONTEXT);
  OK(cu.ctxPushCurrent(context));
  OK(cu.ctxPopCurrent(&popped));
  EXPECT_EQ(popped, context);
  OK(cu.ctxGetCurrent(&current));
  EXPECT_EQ(current, context);
}

TEST_F(CudaDevices, ContextsOfUsers) {
  CUcontext made = nullptr, current = nullptr;
  OK(cu.ctxCreateOf13 ? cu.ctxCreateOf13(&made, nullptr, 0, 0) : cu.ctxCreate(&made, 0, 0));
  EXPECT_NE(made, context);
  OK(cu.ctxGetCurrent(&current));
  EXPECT_EQ(current, made);
  OK(cu.ctxDestroy(made));
  OK(cu.ctxGetCurrent(&current));
  EXPECT_EQ(current, context);
}

TEST_F(CudaDevices, EveryContextHasANumberOfItsOwn) {
  const auto idOf = [&](CUcontext of) {
    unsigned long long id = 0;
    EXPECT_EQ(cu.ctxGetId(of, &id), Answer::SUCCESS);
    return id;
  };
  std::set<unsigned long long> seen = {idOf(context)};
  for (int round = 0; round < 4; ++round) { // a new context may have the address of an old one
    CUcontext made = nullptr;
    OK(cu.ctxCreateOf13 ? cu.ctxCreateOf13(&made, nullptr, 0, 0) : cu.ctxCreate(&made, 0, 0));
    const unsigned long long id = idOf(made);
    EXPECT_EQ(idOf(nullptr), id) << "null: the current one";
    EXPECT_EQ(idOf(made), id);
    EXPECT_TRUE(seen.insert(id).second) << "given again: " << id;
    OK(cu.ctxDestroy(made));
  }
  EXPECT_EQ(idOf(nullptr), idOf(context));
}

TEST_F(FakeDevices, AHandleMayBeGivenAgain) {
  fake.reuse_contexts(1);
  CUcontext first = nullptr, second = nullptr, third = nullptr;
  unsigned long long before = 0, after = 0;
  OK(cu.ctxCreate(&first, 0, 0));
  OK(cu.ctxGetId(first, &before));
  const CUstream own = stream();
  OK(cu.ctxDestroy(first));
  EXPECT_EQ(cu.ctxGetId(first, &after), Answer::CONTEXT_IS_DESTROYED);
  OK(cu.ctxCreate(&second, 0, 0));
  EXPECT_EQ(second, first);
  OK(cu.ctxGetId(second, &after));
  EXPECT_NE(after, before);
  EXPECT_EQ(cu.streamSynchronize(own), Answer::INVALID_HANDLE);
  OK(cu.ctxCreate(&third, 0, 0));
  EXPECT_NE(third, second);
  OK(cu.ctxDestroy(third));
  OK(cu.ctxDestroy(second));
}

TEST_F(FakeDevices, ThingsBelongToTheirContext) {
  const CUstream foreignStream = stream();
  const CUevent foreignEvent = event();
  const CUdeviceptr foreign = allocate(64);
  CUcontext made = nullptr;
  OK(cu.ctxCreate(&made, 0, 0));
  const CUdeviceptr own = allocate(64);
  const CUstream ownStream = stream();
  EXPECT_EQ(cu.memsetD8Async(own, 1, 64, foreignStream), Answer::INVALID_HANDLE);
  EXPECT_EQ(cu.memsetD8Async(foreign, 1, 64, ownStream), Answer::INVALID_CONTEXT);
  EXPECT_EQ(cu.memcpyDtoDAsync(own, foreign, 64, ownStream), Answer::INVALID_CONTEXT);
  EXPECT_EQ(cu.memFree(foreign), Answer::INVALID_CONTEXT);
  EXPECT_EQ(cu.eventRecord(foreignEvent, ownStream), Answer::INVALID_HANDLE);
  EXPECT_EQ(cu.streamWaitEvent(ownStream, foreignEvent, 0), Answer::SUCCESS); // allowed in CUDA
  OK(cu.ctxDestroy(made));
  EXPECT_EQ(cu.ctxDestroy(made), Answer::INVALID_CONTEXT);
  EXPECT_EQ(cu.streamDestroy(ownStream), Answer::INVALID_HANDLE);
}

TEST_F(FakeDevices, EveryDeviceHasItsOwn) {
  restart("9.0,8.0");
  const CUcontext second = retain(1);
  const CUdeviceptr address = allocate(1000);
  CUdevice device = 0;
  OK(cu.ctxGetDevice(&device));
  EXPECT_EQ(device, 1);
  EXPECT_EQ(fake.bytes(0), 0u);
  EXPECT_EQ(fake.bytes(1), 1000u);
  const CUcontext first = retain(0);
  EXPECT_NE(first, second);
  int ordinal = -1;
  OK(cu.pointerGetAttribute(&ordinal, PointerAttribute::DEVICE_ORDINAL, address));
  EXPECT_EQ(ordinal, 1);
  EXPECT_EQ(cu.memsetD8Async(address, 0, 8, nullptr), Answer::INVALID_CONTEXT);
}

} // namespace
} // namespace fw::driver
