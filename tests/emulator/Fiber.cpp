#include "tests/emulator/Fiber.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define FW_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FW_ASAN 1
#endif
#endif
#if defined(FW_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// ucontext's swap makes a system call for the signal mask: 17 times slower on kernels that reduce.
#if !defined(FW_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define FW_UCONTEXT 1
#endif
#if defined(FW_UCONTEXT)
#include <ucontext.h>
#endif

namespace fw::emulator {

constexpr size_t STACK_BYTES = size_t{128} << 10, GUARD_BYTES = size_t{64} << 10;

struct Fiber::Context {
#if defined(FW_UCONTEXT)
  ucontext_t owner, fiber;
#else
  void *owner = nullptr, *fiber = nullptr; // stack pointers, callee-saved registers are below them
#endif
#if defined(FW_ASAN)
  void *ownerFake = nullptr, *fiberFake = nullptr;
  const void *ownerStack = nullptr;
  size_t ownerBytes = 0;
#endif
};

} // namespace fw::emulator

// fw_emulator_switch(void **save, void *to): pushes what the calling convention preserves, stores
// the stack pointer in *save, takes `to` as the stack pointer, pops and returns there.
extern "C" void fw_emulator_switch(void **save, void *to);
extern "C" void fw_emulator_entry(); // the first return address of a new fiber

#if defined(__x86_64__)
asm(R"(
.text
.globl fw_emulator_switch
.type fw_emulator_switch, @function
fw_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.globl fw_emulator_entry
.type fw_emulator_entry, @function
fw_emulator_entry:
  movq %r12, %rdi
  jmpq *%r13
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl fw_emulator_switch
.type fw_emulator_switch, %function
fw_emulator_switch:
  stp x29, x30, [sp, #-160]!
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #16]
  ldp x21, x22, [sp, #32]
  ldp x23, x24, [sp, #48]
  ldp x25, x26, [sp, #64]
  ldp x27, x28, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x29, x30, [sp], #160
  ret
.globl fw_emulator_entry
.type fw_emulator_entry, %function
fw_emulator_entry:
  mov x0, x19
  br x20
)");
#endif

namespace fw::emulator {

Fiber::Fiber() : context(new Context) {
  void *memory = mmap(nullptr, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, GUARD_BYTES, PROT_NONE) != 0)
    abort();
  stack = static_cast<char *>(memory) + GUARD_BYTES;
}

Fiber::~Fiber() {
#if defined(FW_ASAN) // of frames that were never left
  __asan_unpoison_memory_region(stack, STACK_BYTES);
#endif
  munmap(stack - GUARD_BYTES, GUARD_BYTES + STACK_BYTES);
  delete context;
}

void Fiber::start(Entry newEntry, void *newArgument) {
  entry = newEntry;
  argument = newArgument;
#if defined(FW_ASAN)
  context->fiberFake = nullptr;
#endif
#if defined(FW_UCONTEXT)
  getcontext(&context->fiber);
  context->fiber.uc_stack.ss_sp = stack;
  context->fiber.uc_stack.ss_size = STACK_BYTES;
  // makecontext passes ints: the pointer travels in two halves.
  const auto halves = reinterpret_cast<uintptr_t>(this);
  makecontext(&context->fiber, reinterpret_cast<void (*)()>(+[](unsigned low, unsigned high) {
    enter(reinterpret_cast<void *>(static_cast<uintptr_t>(uint64_t{high} << 32 | low)));
  }),
              2, static_cast<unsigned>(halves), static_cast<unsigned>(uint64_t{halves} >> 32));
#elif defined(__x86_64__)
  // r15 r14 r13 r12 rbx rbp, return address, and one word that keeps the stack aligned as after a
  // call.
  void **top = reinterpret_cast<void **>(stack + STACK_BYTES) - 8;
  memset(top, 0, 8 * sizeof(void *));
  top[2] = reinterpret_cast<void *>(&Fiber::enter);
  top[3] = this;
  top[6] = reinterpret_cast<void *>(&fw_emulator_entry);
  context->fiber = top;
#else
  void **top = reinterpret_cast<void **>(stack + STACK_BYTES) - 20;
  memset(top, 0, 20 * sizeof(void *));
  top[1] = reinterpret_cast<void *>(&fw_emulator_entry); // x30
  top[2] = this;                                         // x19
  top[3] = reinterpret_cast<void *>(&Fiber::enter);      // x20
  context->fiber = top;
#endif
}

void Fiber::resume() {
#if defined(FW_ASAN)
  __sanitizer_start_switch_fiber(&context->ownerFake, stack, STACK_BYTES);
#endif
#if defined(FW_UCONTEXT)
  swapcontext(&context->owner, &context->fiber);
#else
  fw_emulator_switch(&context->owner, context->fiber);
#endif
#if defined(FW_ASAN)
  __sanitizer_finish_switch_fiber(context->ownerFake, nullptr, nullptr);
#endif
}

void Fiber::leave([[maybe_unused]] bool forGood) {
#if defined(FW_ASAN)
  __sanitizer_start_switch_fiber(forGood ? nullptr : &context->fiberFake, context->ownerStack,
                                 context->ownerBytes);
#endif
#if defined(FW_UCONTEXT)
  swapcontext(&context->fiber, &context->owner);
#else
  fw_emulator_switch(&context->fiber, context->owner);
#endif
}

void Fiber::suspend() {
  leave(false);
#if defined(FW_ASAN)
  __sanitizer_finish_switch_fiber(context->fiberFake, &context->ownerStack, &context->ownerBytes);
#endif
}

void Fiber::enter(void *pointer) {
  Fiber *fiber = static_cast<Fiber *>(pointer);
#if defined(FW_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, &fiber->context->ownerStack,
                                  &fiber->context->ownerBytes);
#endif
  fiber->entry(fiber->argument);
  fiber->leave(true);
  abort(); // a fiber that has ended is never resumed
}

} // namespace fw::emulator
