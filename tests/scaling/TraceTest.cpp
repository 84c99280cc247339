// The scalers of the C API on the CPU against the rules of other libraries.
#include "tests/scaling/Scaler.h"
#include "tests/scaling/Traces.h"

namespace scaling {
namespace {

class OnCpu : public Scaler {
public:
  static fw_scaler_options defaults() { return scaling::options(); }
  explicit OnCpu(const fw_scaler_options &options) : Scaler(sharedContext(), options) {}

private:
  static const api::Context &sharedContext() {
    static Log log; // a thousand times the same story
    static const api::Context context = scaling::context(&log);
    log.lines.clear();
    return context;
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(OnCpu, Traces, OnCpu);

} // namespace
} // namespace scaling
