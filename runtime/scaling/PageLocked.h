// Memory of the host that devices write to while the host goes on.
#pragma once

#include "runtime/driver/Driver.h"

namespace fw::scaling {

class PageLocked {
public:
  PageLocked() = default;
  PageLocked(PageLocked &&other) noexcept
      : driver(other.driver), context(other.context), place(std::exchange(other.place, nullptr)) {}
  PageLocked &operator=(PageLocked &&other) noexcept {
    std::swap(driver, other.driver);
    std::swap(context, other.context);
    std::swap(place, other.place);
    return *this;
  }
  ~PageLocked();

  /// In `context`, which is current; works while other threads capture.
  static Result<PageLocked> allocate(const driver::Driver &driver, driver::CUcontext context,
                                     size_t bytes);

  void *data() const { return place; }

private:
  const driver::Driver *driver = nullptr;
  driver::CUcontext context = nullptr;
  void *place = nullptr;
};

} // namespace fw::scaling
