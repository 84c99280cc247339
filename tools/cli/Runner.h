// A device for `verify`, through the C API as any host program uses it.
#pragma once

#include "tools/host/Program.h"
#include "tools/verify/Verify.h"

namespace fw::cli {

class Runner {
public:
  /// DEVICE where a CUDA device is asked for and there is none.
  static Result<Runner> create(const host::Device &device);

  /// "the CPU", or the GPU's name.
  const std::string &deviceName() const { return name; }
  const std::string &target() const { return arch; } ///< "cpu", "sm_90"
  /// Compiles the request for the device.
  Result<void> compile(const ResolvedRequest &request);

  /// The ways of running the program that was compiled last.
  std::vector<verify::Way> ways(const ResolvedRequest &request);

private:
  using Call = Result<void> (Runner::*)(const ResolvedRequest &, const verify::Case &,
                                        const std::vector<fw_tensor> &);

  Result<void> launch(const ResolvedRequest &request, const verify::Case &data,
                      const std::vector<fw_tensor> &tensors);
  Result<void> runPlan(const ResolvedRequest &request, const verify::Case &data,
                       const std::vector<fw_tensor> &tensors);
  /// On a copy of the arena where the device has other memory than the host.
  Result<void> run(Call call, const ResolvedRequest &request, const verify::Case &data,
                   const verify::Arena &arena);

  host::Device device;
  std::string name = "the CPU", arch = "cpu";
  host::Handle<fw_context> context;
  host::Handle<fw_program> program;
};

} // namespace fw::cli
