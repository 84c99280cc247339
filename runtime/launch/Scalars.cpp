#include "runtime/launch/Scalars.h"

#include "compiler/support/FloatMode.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace fw::launch {

namespace {

std::string number(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// Integers are exact in f64 up to here.
constexpr double largestInt = 0x1p53;

bool inRange(const Hyper &hyper, double value) {
  bool above = hyper.lowOpen ? value > hyper.low : value >= hyper.low;
  bool below = hyper.highOpen ? value < hyper.high : value <= hyper.high;
  bool anyNumber = std::isinf(hyper.low) && std::isinf(hyper.high);
  return anyNumber || (above && below);
}

bool ofKind(const Hyper &hyper, double value) {
  if (hyper.kind == Hyper::Kind::Bool)
    return value == 0 || value == 1;
  return hyper.kind == Hyper::Kind::Real ||
         (std::trunc(value) == value && std::abs(value) <= largestInt);
}

const char *kindText(const Hyper &hyper) {
  return hyper.kind == Hyper::Kind::Bool ? "0 or 1" : "an integer of at most 53 bits";
}

Result<void> checkValue(const Hyper &hyper, double value) {
  if (!ofKind(hyper, value))
    return Error{Code::USAGE,
                 hyper.name + ": expected " + kindText(hyper) + ", got " + number(value),
                 hyper.kind == Hyper::Kind::Bool ? "pass 0 or 1" : "pass a whole number"};
  if (hyper.isStep && !(value >= 1))
    return Error{Code::USAGE,
                 hyper.name + ": expected the number of this step, >= 1, got " + number(value),
                 "count the steps that are applied from 1"};
  if (!inRange(hyper, value))
    return Error{Code::USAGE,
                 hyper.name + ": expected a value " + printRange(hyper) + ", got " + number(value),
                 "the op declares this range; pass a value within it"};
  return {};
}

std::string listNames(std::span<const Hyper> hypers) {
  std::string out;
  for (const Hyper &hyper : hypers)
    out += (out.empty() ? "" : ", ") + hyper.name;
  return out.empty() ? "none" : out;
}

/// The place of each given scalar among the hypers.
Result<std::vector<size_t>> matchNames(std::span<const Hyper> hypers, const ScalarArray &given,
                                       size_t listLength) {
  std::vector<size_t> places;
  for (size_t i = 0; i < given.size(); ++i) {
    const fw_scalar &scalar = given[i];
    std::string who = "scalar " + std::to_string(i);
    if (scalar.struct_size != given[0].struct_size)
      return Error{Code::USAGE,
                   who + ": expected struct_size " + std::to_string(given[0].struct_size) +
                       " as in scalar 0, got " + std::to_string(scalar.struct_size),
                   "set struct_size to sizeof(fw_scalar) in every scalar"};
    if (!scalar.name)
      return Error{Code::USAGE, who + ": expected a name, got NULL",
                   "name one of " + listNames(hypers)};
    size_t place = std::ranges::find(hypers, scalar.name, &Hyper::name) - hypers.begin();
    if (place == hypers.size())
      return Error{Code::USAGE,
                   who + ": expected one of " + listNames(hypers) + ", got " + scalar.name,
                   "leave it out, or set the option of the request that brings it in"};
    if (std::ranges::find(places, place) != places.end())
      return Error{Code::USAGE, who + ": expected each name once, got " + scalar.name + " again",
                   "leave one of them out"};
    if (scalar.values && scalar.count != listLength)
      return Error{Code::USAGE,
                   who + " (" + scalar.name + "): expected one value per list entry, " +
                       std::to_string(listLength) + ", got " + std::to_string(scalar.count),
                   "pass as many values as entries, or values = NULL and one value"};
    places.push_back(place);
  }
  for (size_t place = 0; place < hypers.size(); ++place) {
    if (std::ranges::find(places, place) != places.end())
      continue;
    const std::string &name = hypers[place].name;
    if (hypers[place].isStep)
      return Error{Code::USAGE, name + ": expected the number of this step, got none",
                   "pass a scalar \"" + name + "\" that counts the applied steps from 1"};
    if (hypers[place].required)
      return Error{Code::USAGE, name + ": expected a value, got none",
                   "pass a scalar \"" + name + "\", or give it a default in the op"};
  }
  return places;
}

} // namespace

std::string printRange(const Hyper &hyper) {
  bool low = !std::isinf(hyper.low), high = !std::isinf(hyper.high);
  if (low && high)
    return std::string("in ") + (hyper.lowOpen ? "(" : "[") + number(hyper.low) + ", " +
           number(hyper.high) + (hyper.highOpen ? ")" : "]");
  if (low)
    return (hyper.lowOpen ? "> " : ">= ") + number(hyper.low);
  if (high)
    return (hyper.highOpen ? "< " : "<= ") + number(hyper.high);
  return "";
}

Result<ScalarRows> readScalars(std::span<const Hyper> hypers, const ScalarArray &given,
                               size_t listLength) {
  Result<std::vector<size_t>> places = matchNames(hypers, given, listLength);
  if (!places)
    return places.takeError();

  StandardFloatMode mode; // where denormals count as zero, a tiny negative one would pass ">= 0"
  ScalarRows rows;
  rows.columns = hypers.size();
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i].values)
      rows.rows = listLength;
  for (size_t row = 0; row < rows.rows; ++row)
    for (const Hyper &hyper : hypers)
      rows.values.push_back(hyper.fallback);

  for (size_t i = 0; i < given.size(); ++i) {
    const Hyper &hyper = hypers[(*places)[i]];
    for (size_t row = 0; row < rows.rows; ++row) {
      double value = given[i].values ? given[i].values[row] : given[i].value;
      if (Result<void> good = checkValue(hyper, value); !good) {
        Error error = good.takeError();
        if (given[i].values)
          error.text = "entry " + std::to_string(row) + ": " + error.text;
        return error;
      }
      rows.values[row * rows.columns + (*places)[i]] = value;
    }
  }
  return rows;
}

} // namespace fw::launch
