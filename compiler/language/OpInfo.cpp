#include "compiler/language/OpInfo.h"

#include "compiler/language/Text.h"

#include <algorithm>
#include <cmath>

namespace fw::language {

std::string_view spelling(Access access) {
  static constexpr std::string_view names[] = {"read", "write", "read-write"};
  return names[static_cast<size_t>(access)];
}

std::string OperandInfo::printScope(const std::vector<std::string> &header) const {
  if (axes.empty() || scope.isElement())
    return scope.print(header);
  if (axes.size() == 1)
    return axes[0];
  std::string out;
  for (const std::string &axis : axes)
    out += (out.empty() ? "[" : ", ") + axis;
  return out + "]";
}

std::optional<size_t> gatheredAxis(const std::vector<std::string> &axes,
                                   const std::vector<std::string> &header, const Scope &place) {
  std::optional<size_t> first;
  for (size_t i = 0; i < axes.size(); ++i) {
    auto number = std::find(header.begin(), header.end(), axes[i]) - header.begin();
    if (axes[i] == "1")
      continue;
    if (size_t(number) == header.size())
      return i;
    bool varies = !place.isUniform() && place.divisors()[size_t(number)] == 1;
    if (!varies && !first)
      first = i;
  }
  return first;
}

const OperandInfo *OpInfo::operand(std::string_view name) const {
  auto found = std::find_if(operands.begin(), operands.end(),
                            [&](const OperandInfo &operand) { return operand.name == name; });
  return found != operands.end() ? &*found : nullptr;
}

const HyperInfo *OpInfo::hyper(std::string_view name) const {
  auto found = std::find_if(hypers.begin(), hypers.end(),
                            [&](const HyperInfo &hyper) { return hyper.name == name; });
  return found != hypers.end() ? &*found : nullptr;
}

std::vector<std::string> OpInfo::outputs() const {
  std::vector<std::string> out;
  for (const OperandInfo &operand : operands)
    if (operand.access != Access::Read)
      out.push_back(operand.name);
  return out;
}

Result<OptionValues> completeOptions(const Op &op, const OptionValues &chosen) {
  OptionValues out;
  std::vector<std::string> names;
  for (const Statement &statement : op.body) {
    const OptionDeclaration *option = statement.as<OptionDeclaration>();
    if (!option)
      continue;
    names.push_back(option->name);
    auto given = chosen.find(option->name);
    std::string value = given != chosen.end() ? given->second : option->values[0];
    if (std::find(option->values.begin(), option->values.end(), value) == option->values.end())
      return Error{Code::USAGE,
                   "expected " + alternatives(option->values) + " for option " +
                       quoted(option->name) + " of op " + quoted(op.name) + ", got " +
                       quoted(value),
                   "choose one of its values"};
    out[option->name] = std::move(value);
  }
  for (const auto &[name, value] : chosen)
    if (!out.count(name))
      return Error{
          Code::USAGE, "expected an option of op " + quoted(op.name) + ", got " + quoted(name),
          names.empty() ? "this op has no options" : "its options are " + alternatives(names)};
  return out;
}

Result<void> validateHyper(const HyperInfo &hyper, double value) {
  if (hyper.type == Type::Bool && value != 0 && value != 1)
    return Error{Code::USAGE,
                 "expected 0 or 1 for bool " + hyper.name + ", got " + printNumber(value),
                 "pass 0 for false and 1 for true"};
  if (hyper.type == Type::Int && (value != std::trunc(value) || std::abs(value) > 0x1p53))
    return Error{Code::USAGE,
                 "expected a whole number of at most 2^53 for int " + hyper.name + ", got " +
                     printNumber(value),
                 "pass an int"};
  if (hyper.range.contains(value) || (!hyper.range.low && !hyper.range.high))
    return {};
  return Error{Code::USAGE,
               "expected " + hyper.name + " " + hyper.range.print() + ", got " + printNumber(value),
               "its default is " + (hyper.value ? printNumber(*hyper.value) : "not set")};
}

} // namespace fw::language
