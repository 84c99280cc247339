// The op loss_scale alone, its scalar program run by the host, against the rules of other
// libraries. No runtime takes part.
#include "compiler/Stages.h"
#include "compiler/dialect/Dtypes.h"
#include "ops/ShippedOps.h"
#include "runtime/scaling/State.h"
#include "tests/scaling/Traces.h"

#include <map>
#include <stdexcept>

namespace scaling {
namespace {

using fw::jit::ScalarInput;

template <class T> T need(fw::Result<T> result) {
  if (!result)
    throw std::runtime_error(render(result.error()) + "\n" + result.error().log);
  return std::move(*result);
}

/// The record of the op under some options, made once.
const fw::jit::ProgramRecord &recordOf(const fw_scaler_options &options) {
  static std::map<std::string, fw::jit::ProgramRecord> known;
  const std::string key =
      std::string(options.mode) + "," + options.refill + "," + options.denormals;
  if (auto found = known.find(key); found != known.end())
    return found->second;
  fw::Request request{.op = need(fw::findShippedOp("loss_scale")),
                      .options = {{"mode", options.mode},
                                  {"refill", options.refill},
                                  {"denormals", options.denormals}}};
  return known[key] = need(fw::lower(need(fw::resolve(request)))).record;
}

class Op {
public:
  static fw_scaler_options defaults() { return fw::scaling::defaultOptions(); }

  explicit Op(const fw_scaler_options &options)
      : record(recordOf(options)), program(record.stages.back().scalars),
        hypers{{"growth_factor", options.growth_factor},
               {"backoff_factor", options.backoff_factor},
               {"growth_interval", double(options.growth_interval)},
               {"hysteresis", double(options.hysteresis)},
               {"min_scale", options.min_scale},
               {"max_scale", options.max_scale}} {
    for (const auto &operand : record.operands)
      numbers[operand.name] = operand.neutral;
    numbers["scale"] = options.init_scale;
    numbers["hysteresis_left"] = double(options.hysteresis);
  }

  void update(float skipped) {
    numbers["skipped"] = skipped;
    std::vector<double> inputs, values(program.valueCount());
    for (const ScalarInput &input : program.inputs)
      inputs.push_back(input.kind == ScalarInput::Kind::Hyper
                           ? hypers.at(record.hypers[input.index].name)
                           : numbers.at(record.operands[input.index].name));
    fw::jit::runAll(program, inputs.data(), values.data());
    for (const fw::jit::ScalarResult &result : program.results)
      numbers[record.operands[result.operand].name] = float(values[result.value]);
  }

  fw_scaler_state state() const {
    fw_scaler_state state = {};
    state.scale = numbers.at("scale");
    state.growth_count = uint64_t(numbers.at("growth_count"));
    state.hysteresis_left = uint64_t(numbers.at("hysteresis_left"));
    return state;
  }

  double number(const std::string &name) const { return numbers.at(name); }

private:
  const fw::jit::ProgramRecord &record;
  const fw::jit::ScalarProgram &program;
  std::map<std::string, double> hypers, numbers; ///< by name
};

INSTANTIATE_TYPED_TEST_SUITE_P(Op, Traces, Op);

TEST(LossScale, has_no_kernel) {
  const fw::jit::ProgramRecord &record = recordOf(Op::defaults());
  EXPECT_EQ(record.kernels.size(), 0u);
  EXPECT_EQ(record.stages.size(), 1u);
}

TEST(LossScale, defaults_of_the_op_are_those_of_the_scaler) {
  const fw_scaler_options options = Op::defaults();
  std::map<std::string, double> fallbacks;
  const fw::jit::ProgramRecord &record = recordOf(options);
  for (const auto &hyper : record.hypers)
    fallbacks[hyper.name] = hyper.fallback;
  EXPECT_EQ(fallbacks,
            (std::map<std::string, double>{{"growth_factor", options.growth_factor},
                                           {"backoff_factor", options.backoff_factor},
                                           {"growth_interval", double(options.growth_interval)},
                                           {"hysteresis", double(options.hysteresis)},
                                           {"min_scale", options.min_scale},
                                           {"max_scale", options.max_scale}}));
  for (const auto &operand : record.operands)
    if (operand.name == "scale" || operand.name == "previous_scale")
      EXPECT_EQ(operand.neutral, options.init_scale);
}

TEST(LossScale, counts_and_seals) {
  Op op(Op::defaults());
  for (float skipped : {0.0f, 3.0f, -1.0f, 0.0f, 7.0f})
    op.update(skipped);
  EXPECT_EQ(op.number("updates"), 5);
  EXPECT_EQ(op.number("seal"), 5);
  EXPECT_EQ(op.number("skips"), 3);
  EXPECT_EQ(op.number("skips_in_a_row"), 1);
  EXPECT_EQ(op.number("last_skipped"), 7);
  EXPECT_EQ(op.number("previous_scale"), 16384);
  EXPECT_EQ(op.number("scale"), 8192);
}

/// NaN is no 0, so it skips.
TEST(LossScale, a_report_of_nan_skips) {
  Op op(Op::defaults());
  op.update(std::nanf(""));
  EXPECT_EQ(op.number("skips"), 1);
  EXPECT_EQ(op.number("scale"), 32768);
}

TEST(LossScale, denormals_are_kept_or_flushed) {
  fw_scaler_options options = Op::defaults();
  options.init_scale = 0x1p-126;
  options.min_scale = 0;
  Op keeps(options);
  options.denormals = "flush";
  Op flushes(options);
  keeps.update(1);
  flushes.update(1);
  EXPECT_EQ(keeps.number("scale"), 0x1p-127);
  EXPECT_EQ(flushes.number("scale"), 0);
}

} // namespace
} // namespace scaling
