// A program whose allocations fail on demand: it replaces operator new, so exactly one source file
// of a program includes it.
#pragma once

#include <cstdlib>
#include <new>

namespace {
/// Allocations of this thread until one fails; negative: none does.
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
// std::stable_sort takes its buffer by these, and gives it back by the usual delete.
void *operator new(size_t size, const std::nothrow_t &) noexcept {
  return std::malloc(size ? size : 1);
}
void *operator new[](size_t size, const std::nothrow_t &) noexcept {
  return std::malloc(size ? size : 1);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }
