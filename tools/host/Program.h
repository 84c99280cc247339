// Requests of the command line compiled and bound to tensors through the C API.
#pragma once

#include "compiler/Request.h"
#include "tools/host/Handles.h"

#include <span>
#include <string>
#include <vector>

namespace fw::host {

struct Device {
  fw_device kind = FW_DEVICE_CPU;
  int32_t id = 0;

  bool isCuda() const { return kind == FW_DEVICE_CUDA; }
  /// "cpu" or "cuda:1", which is also a target of requests.
  std::string name() const;
};

/// "cpu", "cuda", "cuda:1".
Result<Device> parseDevice(const std::string &text);

/// What the library tells of a CUDA device; DEVICE where there is none.
Result<fw_device_info> describe(fw_context *context, const Device &device);

/// Says the request again through the C API and compiles it for the device. The schedule goes with
/// it, but to the CPU, which has none.
Result<Handle<fw_program>> compile(fw_context *context, const Request &request,
                                   const Device &device);

/// A dense tensor.
fw_tensor tensorOf(const Device &device, const std::string &dtype, void *data,
                   std::span<const int64_t> shape);

/// One value for the whole list.
fw_scalar scalarOf(const std::string &name, double value);

} // namespace fw::host
