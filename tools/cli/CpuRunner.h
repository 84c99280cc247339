// The CPU for `verify`, through the C API as any host program uses it.
#pragma once

#include "fusewright/fusewright.h"
#include "tools/verify/Verify.h"

#include <memory>

namespace fw::cli {

class CpuRunner {
public:
  static Result<CpuRunner> create();

  /// Compiles the request for the CPU.
  Result<void> compile(const ResolvedRequest &request);
  /// Runs the program that was compiled last.
  Result<void> run(const ResolvedRequest &request, const verify::Case &data,
                   const verify::Arena &arena);

private:
  struct Destroy {
    void operator()(fw_context *context) const { fw_context_destroy(context); }
    void operator()(fw_op *op) const { fw_op_destroy(op); }
    void operator()(fw_request *request) const { fw_request_destroy(request); }
    void operator()(fw_program *program) const { fw_program_destroy(program); }
  };
  std::unique_ptr<fw_context, Destroy> context;
  std::unique_ptr<fw_op, Destroy> op;
  std::unique_ptr<fw_request, Destroy> request;
  std::unique_ptr<fw_program, Destroy> program;
};

} // namespace fw::cli
