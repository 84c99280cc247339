#include "runtime/driver/Ranges.h"

#ifdef FW_NVTX

#include <nvtx3/nvToolsExt.h>
#include <string>

namespace fw::driver {

namespace {

/// Null where no profiler listens. NVTX looks for one (NVTX_INJECTION64_PATH) at its first call.
nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("fusewright");
  return handle;
}

} // namespace

bool hasRanges() { return true; }

Range::Range(std::string_view call, std::string_view op) {
  const nvtxDomainHandle_t listener = domain();
  if (!listener)
    return;
  std::string name(call);
  if (!op.empty())
    name.append(" ").append(op);
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name.c_str();
  nvtxDomainRangePushEx(listener, &attributes);
  isOpen = true;
}

Range::~Range() {
  if (isOpen)
    nvtxDomainRangePop(domain());
}

} // namespace fw::driver

#else

namespace fw::driver {

bool hasRanges() { return false; }
Range::Range(std::string_view, std::string_view) {}
Range::~Range() { (void)isOpen; }

} // namespace fw::driver

#endif
