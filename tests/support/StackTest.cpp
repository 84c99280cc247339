// Deep recursions, whatever the stack of the thread that asks for them.
#include "compiler/support/Stack.h"

#include <gtest/gtest.h>

#include <pthread.h>
#include <stdexcept>
#include <string>

namespace fw {
namespace {

/// Runs the body on a thread whose stack has so many bytes.
void runOnStack(size_t bytes, const std::function<void()> &body) {
  pthread_attr_t attributes;
  ASSERT_EQ(::pthread_attr_init(&attributes), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  auto run = [](void *body) -> void * {
    (*static_cast<const std::function<void()> *>(body))();
    return nullptr;
  };
  ASSERT_EQ(::pthread_create(&thread, &attributes, run, const_cast<std::function<void()> *>(&body)),
            0);
  ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&attributes);
}

/// Takes 4 KiB of stack or more for each level.
__attribute__((noinline)) int depthOf(int levels) {
  volatile char frame[4096];
  frame[0] = char(levels);
  return levels == 0 ? 0 : 1 + depthOf(levels - 1) + (frame[0] - char(levels));
}

TEST(Stack, aDeepRecursionFitsWhateverTheCallersStack) {
  for (size_t kilobytes : {64, 256, 1024, 3 * 1024})
    runOnStack(kilobytes << 10, [] {
      EXPECT_EQ(onLargeStack([] { return depthOf(700); }), 700); // 2.8 MiB
    });
}

TEST(Stack, noThreadWhereThereIsRoom) {
  runOnStack(size_t(32) << 20, [] {
    pthread_t here = ::pthread_self();
    runOnLargeStack([&] { EXPECT_TRUE(::pthread_equal(here, ::pthread_self())); });
  });
  runOnStack(size_t(64) << 10, [] {
    pthread_t here = ::pthread_self();
    runOnLargeStack([&] {
      EXPECT_FALSE(::pthread_equal(here, ::pthread_self()));
      pthread_t large = ::pthread_self();
      runOnLargeStack([&] { EXPECT_TRUE(::pthread_equal(large, ::pthread_self())); });
    });
  });
}

TEST(Stack, whatIsThrownComesBack) {
  runOnStack(size_t(64) << 10, [] {
    std::string caught;
    try {
      runOnLargeStack([] { throw std::runtime_error("deep"); });
    } catch (const std::runtime_error &error) {
      caught = error.what();
    }
    EXPECT_EQ(caught, "deep");
  });
}

} // namespace
} // namespace fw
