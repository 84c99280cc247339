#include "compiler/jit/ScalarProgram.h"

#include "templates/vocab/scalar_program.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <charconv>

namespace fw::jit {
namespace {

struct ScalarRow {
  const char *name;
  unsigned arity;
};
constexpr ScalarRow rows[] = {
#define FW_ROW(name, arity, value) {#name, arity},
    FW_SCALAR_OPERATIONS(FW_ROW)
#undef FW_ROW
};

std::string shortest(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

} // namespace

const char *scalarName(ScalarCode code) { return rows[size_t(code)].name; }
unsigned scalarArity(ScalarCode code) { return rows[size_t(code)].arity; }

std::optional<ScalarCode> findScalarCode(std::string_view name) {
  for (size_t i = 0; i < std::size(rows); ++i)
    if (rows[i].name == name)
      return ScalarCode(i);
  return std::nullopt;
}

uint32_t ScalarProgram::input(ScalarInput::Kind kind, uint32_t index) {
  assert(constants.empty() && operations.empty());
  ScalarInput wanted{kind, index};
  auto place = std::find(inputs.begin(), inputs.end(), wanted);
  if (place == inputs.end())
    place = inputs.insert(place, wanted);
  return uint32_t(place - inputs.begin());
}

uint32_t ScalarProgram::constant(double value) {
  assert(operations.empty());
  auto same = [&](double other) {
    return std::bit_cast<uint64_t>(other) == std::bit_cast<uint64_t>(value);
  };
  auto place = std::find_if(constants.begin(), constants.end(), same);
  if (place == constants.end())
    place = constants.insert(place, value);
  return uint32_t(inputs.size() + (place - constants.begin()));
}

uint32_t ScalarProgram::operation(ScalarCode code, uint32_t a, uint32_t b, uint32_t c) {
  operations.push_back({code, a, b, c});
  return valueCount() - 1;
}

void ScalarProgram::slot(uint32_t value, std::string label) {
  slots.push_back(value);
  labels.push_back(std::move(label));
}

Result<void> check(const ScalarProgram &program) {
  auto wrong = [](const char *what) {
    return Error{.text =
                     std::string("expected a scalar program that reads earlier values only, got ") +
                     what};
  };
  uint32_t known = uint32_t(program.inputs.size() + program.constants.size());
  for (const ScalarOperation &op : program.operations) {
    if (std::max({op.a, op.b, op.c}) >= known) // also of operands that the operation does not take
      return wrong("an operand that comes later");
    ++known;
  }
  for (uint32_t slot : program.slots)
    if (slot >= known)
      return wrong("a slot without a value");
  for (const ScalarResult &result : program.results)
    if (result.value >= known)
      return wrong("a result without a value");
  if (program.skip && *program.skip >= known)
    return wrong("a decision without a value");
  if (program.labels.size() != program.slots.size())
    return wrong("slots and labels of different number");
  return {};
}

void runAll(const ScalarProgram &program, const double *inputs, double *values) {
  double *next = std::copy_n(inputs, program.inputs.size(), values);
  next = std::copy(program.constants.begin(), program.constants.end(), next);
  for (const ScalarOperation &op : program.operations)
    *next++ = evaluateScalar(op.code, values[op.a], values[op.b], values[op.c]);
}

void run(const ScalarProgram &program, const double *inputs, double *slots) {
  constexpr uint32_t onStack = 256; // no allocation in a step: shipped ops need about 30
  double local[onStack];
  std::vector<double> heap(program.valueCount() > onStack ? program.valueCount() : 0);
  double *values = heap.empty() ? local : heap.data();
  runAll(program, inputs, values);
  for (size_t i = 0; i < program.slots.size(); ++i)
    slots[i] = values[program.slots[i]];
}

namespace {

std::string inputName(const ScalarInput &input, const std::vector<std::string> &hyperNames) {
  switch (input.kind) {
  case ScalarInput::Kind::Hyper:
    return input.index < hyperNames.size() ? hyperNames[input.index]
                                           : "hyper" + std::to_string(input.index);
  case ScalarInput::Kind::Step:
    return "step";
  case ScalarInput::Kind::Reduction:
    return "reduction" + std::to_string(input.index);
  case ScalarInput::Kind::TensorSize:
    return "size(tensor)";
  case ScalarInput::Kind::AllSize:
    return "size(all)";
  case ScalarInput::Kind::TensorIndex:
    return "index(tensor)";
  case ScalarInput::Kind::AxisSize:
    return "size(axis " + std::to_string(input.index) + ")";
  case ScalarInput::Kind::Operand:
    break;
  }
  return "operand" + std::to_string(input.index);
}

} // namespace

std::string print(const ScalarProgram &program, const std::vector<std::string> &hyperNames) {
  std::vector<std::string> names;
  for (const ScalarInput &input : program.inputs)
    names.push_back(inputName(input, hyperNames));
  for (double constant : program.constants)
    names.push_back(shortest(constant));

  std::string text;
  for (const ScalarOperation &op : program.operations) {
    std::string name = "t" + std::to_string(names.size());
    for (size_t i = 0; i < program.slots.size(); ++i)
      if (program.slots[i] == names.size())
        name = program.labels[i];
    const uint32_t operands[] = {op.a, op.b, op.c};
    text += name + " = " + scalarName(op.code) + "(";
    for (unsigned i = 0; i < scalarArity(op.code); ++i)
      text += (i ? ", " : "") + names[operands[i]];
    text += ")\n";
    names.push_back(name);
  }
  return text;
}

} // namespace fw::jit
