// Allocation failure: the n-th allocation of a call fails, for every n. The call says
// FW_OUT_OF_MEMORY and has changed nothing. Links the static library, so that this program's
// operator new is the library's.
#include "tests/runtime/Api.h"

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

namespace {
/// Allocations until one fails; negative: none does.
thread_local long untilFailure = -1;

void *allocate(size_t size) {
  if (untilFailure >= 0 && untilFailure-- == 0)
    throw std::bad_alloc();
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}
} // namespace

void *operator new(size_t size) { return allocate(size); }
void *operator new[](size_t size) { return allocate(size); }
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }

namespace {

using namespace api;

/// Calls with a failure at allocation 0, 1, ... until the call succeeds; returns the number of
/// failures.
template <class Call, class Check> int failEverywhere(Call call, Check unchanged) {
  for (int n = 0;; ++n) {
    untilFailure = n;
    fw_status status = call();
    bool failed = untilFailure < 0;
    untilFailure = -1;
    if (!failed) {
      EXPECT_EQ(status, FW_OK) << lastError();
      return n;
    }
    EXPECT_EQ(status, FW_OUT_OF_MEMORY) << "at allocation " << n;
    unchanged();
  }
}

TEST(Allocation, launchWritesNothing) {
  Context ctx = context();
  Request req = request(find(ctx, "adamw"));
  Program program = compile(ctx, req);
  const int64_t rows[2] = {3, 50};
  const int64_t strides[2] = {60, 1};
  std::vector<float> data[4];
  fw_tensor tensors[4];
  for (int k = 0; k < 4; ++k) {
    data[k].assign(200, 1.0f);
    tensors[k] = tensor("f32", data[k].data(), rows);
    tensors[k].rank = 2;
    tensors[k].strides = strides;
  }
  fw_scalar scalars[] = {scalar("t", 1), scalar("lr", 0.5)};
  int failures = failEverywhere(
      [&] { return fw_launch(ctx.get(), program.get(), tensors, 4, scalars, 2, nullptr); },
      [&] {
        for (int k = 0; k < 4; ++k)
          ASSERT_EQ(data[k], std::vector<float>(200, 1.0f));
      });
  EXPECT_GT(failures, 10);
  EXPECT_LT(data[0][0], 1.0f);
}

TEST(Allocation, requestsStayAsTheyWere) {
  Context ctx = context();
  Request req = request(find(ctx, "adamw"));
  auto operandDtype = [&] {
    fw_operand_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(fw_request_operand(req.get(), 1, &info), FW_OK) << lastError();
    return std::string(info.dtype);
  };
  failEverywhere([&] { return fw_request_dtype(req.get(), "grad", "bf16"); },
                 [&] { ASSERT_EQ(operandDtype(), "f32"); });
  EXPECT_EQ(operandDtype(), "bf16");
}

TEST(Allocation, handlesAreNotGivenOut) {
  Context ctx = context();
  Op op = find(ctx, "adamw");
  fw_request *made = nullptr;
  failEverywhere([&] { return fw_request_create(op.get(), &made); },
                 [&] { ASSERT_EQ(made, nullptr); });
  fw_request_destroy(made);
}

TEST(Allocation, errorsNeedNoMemory) {
  untilFailure = 0;
  fw_status status = fw_op_find(nullptr, "adamw", nullptr);
  untilFailure = -1;
  EXPECT_EQ(status, FW_OUT_OF_MEMORY);
  EXPECT_EQ(
      lastError(),
      "expected memory, got none; nothing was changed; free memory, or work on smaller lists");
}

} // namespace
