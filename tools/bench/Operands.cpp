#include "tools/bench/Operands.h"

#include "compiler/dialect/Dtypes.h"
#include "compiler/dialect/evaluator/Storage.h"
#include "tools/verify/Values.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace fw::bench {

uint64_t widthOf(const RequestOperand &operand) { return storageBytes(operand.dtype); }
bool isOfElements(const RequestOperand &operand) { return operand.scope == "element"; }

namespace {

/// Statistics of rows are reciprocal deviations and the like; a second moment is positive, too.
bool isPositive(const RequestOperand &operand) {
  return operand.role == "state" || operand.role == "row";
}

/// Bits most of which are set, or small numbers, a period of each dtype long.
std::vector<std::byte> wholePatternOf(const RequestOperand &operand) {
  const IntDtype &dtype = *findIntDtype(operand.dtype);
  constexpr size_t count = 1'000'003;
  verify::Random random(operand.name.size() + 1);
  std::vector<std::byte> bytes(count * dtype.bytes);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t word = dtype.isBool ? random.below(5) != 0 : random.below(8);
    std::memcpy(&bytes[i * dtype.bytes], &word, dtype.bytes);
  }
  return bytes;
}

} // namespace

/// Numbers of either sign, positive ones for states (a second moment is). A count that is no power
/// of two, so that their repetition falls on other addresses in each operand.
std::vector<std::byte> patternOf(const RequestOperand &operand) {
  constexpr size_t count = 1'000'003;
  const Dtype *real = findDtype(operand.dtype);
  if (!real)
    return wholePatternOf(operand);
  const Dtype &dtype = *real;
  if (!isOfElements(operand) && operand.axes.empty()) // a scale, a count: a number that fits all
    return evaluator::pack(
        dtype, std::vector<uint64_t>(
                   alignment / dtype.bytes,
                   evaluator::encode(dtype, operand.role == "state" ? operand.init : 1.0)));
  verify::Random random(operand.name.size() + 1);
  std::vector<uint64_t> words(count);
  for (uint64_t &word : words)
    word = verify::drawWord(random, dtype, verify::Values::NORMAL, isPositive(operand));
  return evaluator::pack(dtype, words);
}

namespace {

/// Defaults; a later step, since a first one may skip the loads of states; a loss scale as in
/// training.
double valueOf(const RequestScalar &scalar) {
  if (scalar.isStep)
    return 2;
  if (scalar.name == "all.scale")
    return 65536;
  return scalar.value.value_or(std::clamp(1.0, scalar.low, scalar.high));
}

} // namespace

std::vector<fw_scalar> scalarsOf(const ResolvedRequest &request) {
  std::vector<fw_scalar> scalars;
  for (const RequestScalar &scalar : request.scalars)
    scalars.push_back(host::scalarOf(scalar.name, valueOf(scalar)));
  return scalars;
}

/// "adamw amsgrad=true +copy"
std::string opOf(const ResolvedRequest &request) {
  std::string text = request.op.info.name;
  for (const auto &[option, value] : request.request.options)
    if (std::ranges::none_of(request.op.info.options, [&](const auto &known) {
          return known.name == option && known.values.front() == value;
        }))
      text += " " + option + "=" + value;
  for (const std::string &feature : request.request.features)
    text += " +" + feature;
  return text;
}

/// "f32", or "p=f32 g=bf16 m=f32 v=f32".
std::string dtypesOf(const ResolvedRequest &request) {
  auto dtype = [](const RequestOperand &operand) { return operand.dtype; };
  // A number per tensor or in all says nothing of the traffic.
  std::vector<RequestOperand> operands = request.operands;
  if (std::ranges::any_of(operands, isOfElements))
    std::erase_if(operands, std::not_fn(isOfElements));
  if (std::ranges::all_of(
          operands, [&](const std::string &one) { return one == operands[0].dtype; }, dtype))
    return operands[0].dtype;
  std::string text;
  for (const RequestOperand &operand : operands)
    text += (text.empty() ? "" : " ") + operand.name + "=" + operand.dtype;
  return text;
}

Result<void> describeKernels(const fw_program *program, Row &row) {
  for (size_t k = 0; k < fw_program_kernel_count(program); ++k) {
    fw_kernel_info kernel = {};
    kernel.struct_size = sizeof kernel;
    if (Result<void> told = host::check(fw_program_kernel(program, k, &kernel)); !told)
      return told;
    row.schedule += (k ? " | " : "") + std::string(kernel.schedule);
    row.registers = std::max(row.registers, kernel.registers);
  }
  return {};
}

} // namespace fw::bench
