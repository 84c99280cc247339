#include "tests/driver/fake/Objects.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>

namespace fw::driver::fake {
namespace {

constexpr size_t alignment = 256;
constexpr int nan = 0xFF;                    // in every float format
constexpr std::byte guard = std::byte(0xDB); // and what a kernel writes is rarely this

using Mark = void (*)(const volatile void *, size_t);

/// AddressSanitizer's functions, where the program has them.
struct Sanitizer {
  Mark forbid = reinterpret_cast<Mark>(dlsym(RTLD_DEFAULT, "__asan_poison_memory_region"));
  Mark allow = reinterpret_cast<Mark>(dlsym(RTLD_DEFAULT, "__asan_unpoison_memory_region"));
};

const Sanitizer &sanitizer() {
  static const Sanitizer sanitizer;
  return sanitizer;
}

size_t roundUp(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

} // namespace

Allocation::Allocation(Context *context, size_t bytes, bool isOnHost)
    : context(context), bytes(bytes), isOnHost(isOnHost),
      base(static_cast<std::byte *>(aligned_alloc(alignment, total()))) {
  if (!base)
    throw std::bad_alloc();
  memset(base, int(guard), total());
  memset(data(), nan, bytes);
  forbid();
}

Allocation::~Allocation() {
  if (sanitizer().allow)
    sanitizer().allow(base, total());
  memset(base, nan, total());
  free(base);
}

std::byte *Allocation::data() const { return base + alignment; }
size_t Allocation::total() const { return roundUp(bytes) + 2 * alignment; }

bool Allocation::holds(uint64_t first, size_t count) const {
  return first >= address() && first - address() <= bytes && count <= bytes - (first - address());
}

bool Allocation::mendGuards() const {
  if (sanitizer().allow)
    sanitizer().allow(base, total());
  bool wasHurt = false;
  const auto mend = [&](std::byte *first, std::byte *end) {
    wasHurt |= std::count(first, end, guard) != end - first;
    std::fill(first, end, guard);
  };
  mend(base, data());
  mend(data() + bytes, base + total());
  forbid();
  return wasHurt;
}

void Allocation::allow() const {
  if (sanitizer().allow)
    sanitizer().allow(data(), bytes);
}

void Allocation::forbid() const {
  if (!sanitizer().forbid)
    return;
  sanitizer().forbid(base, total());
  if (isOnHost)
    allow();
}

} // namespace fw::driver::fake
