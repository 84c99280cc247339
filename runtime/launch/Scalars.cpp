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

/// False for a caller of the first version of the struct.
bool knowsData(const fw_scalar &scalar) {
  return scalar.struct_size >= offsetof(fw_scalar, reserved2) + sizeof scalar.reserved2;
}

struct NumberRow {
  const char *name;
  Number type;
  size_t bytes;
};
constexpr NumberRow numbers[] = {{"f32", Number::f32, 4},
                                 {"f64", Number::f64, 8},
                                 {"i32", Number::i32, 4},
                                 {"i64", Number::i64, 8}};

/// The name of the `index`th scalar, for messages.
std::string who(const fw_scalar &scalar, size_t index) {
  return "scalar " + std::to_string(index) +
         (scalar.name ? std::string(" (") + scalar.name + ")" : "");
}

Result<size_t> findHyper(std::span<const Hyper> hypers, const fw_scalar &scalar, size_t index) {
  if (!scalar.name)
    return Error{Code::USAGE, "scalar " + std::to_string(index) + ": expected a name, got NULL",
                 "name one of " + listNames(hypers)};
  for (size_t place = 0; place < hypers.size(); ++place)
    if (hypers[place].name == scalar.name)
      return place;
  return Error{Code::USAGE,
               "scalar " + std::to_string(index) + ": expected one of " + listNames(hypers) +
                   ", got " + scalar.name,
               "leave it out, or set the option of the request that brings it in"};
}

Result<ScalarSource> readData(const Hyper &hyper, const fw_scalar &scalar, size_t index,
                              size_t listLength) {
  for (const NumberRow &row : numbers) {
    if (!scalar.dtype || std::string_view(row.name) != scalar.dtype)
      continue;
    if (scalar.count != 1 && scalar.count != listLength)
      return Error{Code::USAGE,
                   who(scalar, index) + ": expected data of 1 number or one per list entry, " +
                       std::to_string(listLength) + ", got " + std::to_string(scalar.count),
                   "set count to the numbers that data holds"};
    if (reinterpret_cast<uintptr_t>(scalar.data) % row.bytes != 0)
      return Error{Code::USAGE,
                   who(scalar, index) + ": expected data at a multiple of " +
                       std::to_string(row.bytes) + " bytes, got another address",
                   "numbers stand at multiples of their size"};
    if (scalar.advance != 0 && (scalar.advance != 1 || !hyper.isStep))
      return Error{Code::USAGE,
                   who(scalar, index) + ": expected advance of 0, or 1 for the step, got " +
                       std::to_string(scalar.advance),
                   "only the step counts runs"};
    return ScalarSource{.kind = ScalarSource::Kind::Data,
                        .data = scalar.data,
                        .count = scalar.count,
                        .type = row.type,
                        .advance = scalar.advance == 1};
  }
  return Error{Code::USAGE,
               who(scalar, index) + ": expected dtype f32, f64, i32 or i64 of its data, got " +
                   (scalar.dtype ? scalar.dtype : "none"),
               "name the type of the numbers that data points to"};
}

Result<ScalarSource> readSource(const Hyper &hyper, const fw_scalar &scalar, size_t index,
                                size_t listLength) {
  if (knowsData(scalar) && scalar.data)
    return readData(hyper, scalar, index, listLength);
  if (!scalar.values) {
    if (Result<void> good = checkValue(hyper, scalar.value); !good)
      return good.takeError();
    return ScalarSource{.kind = ScalarSource::Kind::Value, .value = scalar.value};
  }
  if (scalar.count != listLength)
    return Error{Code::USAGE,
                 who(scalar, index) + ": expected one value per list entry, " +
                     std::to_string(listLength) + ", got " + std::to_string(scalar.count),
                 "pass as many values as entries, or values = NULL and one value"};
  for (size_t entry = 0; entry < scalar.count; ++entry)
    if (Result<void> good = checkValue(hyper, scalar.values[entry]); !good) {
      Error error = good.takeError();
      error.text = "entry " + std::to_string(entry) + ": " + error.text;
      return error;
    }
  return ScalarSource{.kind = ScalarSource::Kind::Values, .values = {scalar.values, scalar.count}};
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

size_t bytesOf(Number type) { return numbers[size_t(type)].bytes; }

Result<GivenScalars> matchScalars(std::span<const Hyper> hypers, const ScalarArray &given,
                                  size_t listLength) {
  StandardFloatMode mode; // where denormals count as zero, a tiny negative one would pass ">= 0"
  GivenScalars matched;
  matched.reserve(given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    const fw_scalar &scalar = given[i];
    if (scalar.struct_size != given[0].struct_size)
      return Error{Code::USAGE,
                   "scalar " + std::to_string(i) + ": expected struct_size " +
                       std::to_string(given[0].struct_size) + " as in scalar 0, got " +
                       std::to_string(scalar.struct_size),
                   "set struct_size to sizeof(fw_scalar) in every scalar"};
    Result<size_t> place = findHyper(hypers, scalar, i);
    if (!place)
      return place.takeError();
    if (std::ranges::find(matched, *place, &GivenScalar::hyper) != matched.end())
      return Error{Code::USAGE,
                   "scalar " + std::to_string(i) + ": expected each name once, got " + scalar.name +
                       " again",
                   "leave one of them out"};
    Result<ScalarSource> source = readSource(hypers[*place], scalar, i, listLength);
    if (!source)
      return source.takeError();
    matched.push_back({*place, *source});
  }
  return matched;
}

std::optional<double> commonValue(const ScalarSource &source) {
  if (source.kind == ScalarSource::Kind::Value)
    return source.value;
  auto differ = [](double a, double b) { return a != b && !(std::isnan(a) && std::isnan(b)); };
  if (source.values.empty() ||
      std::ranges::adjacent_find(source.values, differ) != source.values.end())
    return std::nullopt;
  return source.values.front();
}

Error severalValues(const Hyper &hyper) {
  return {Code::USAGE, hyper.name + ": expected one value for all tensors, got several",
          "it, or what depends on it, is shared by them all; pass one value, to a plan by "
          "fw_plan_run"};
}

ScalarSource defaultSource(const Hyper &hyper) {
  if (hyper.isStep || hyper.required)
    return {};
  return {.kind = ScalarSource::Kind::Value, .value = hyper.fallback};
}

Error missingScalar(const Hyper &hyper) {
  if (hyper.isStep)
    return {Code::USAGE, hyper.name + ": expected the number of this step, got none",
            "pass a scalar \"" + hyper.name + "\" that counts the applied steps from 1"};
  return {Code::USAGE, hyper.name + ": expected a value, got none",
          "pass a scalar \"" + hyper.name + "\", or give it a default in the op"};
}

Result<ScalarRows> readScalars(std::span<const Hyper> hypers, const ScalarArray &given,
                               size_t listLength) {
  Result<GivenScalars> matched = matchScalars(hypers, given, listLength);
  if (!matched)
    return matched.takeError();
  ScalarRows rows;
  rows.columns = hypers.size();
  llvm::SmallVector<ScalarSource, 8> sources;
  for (const Hyper &hyper : hypers)
    sources.push_back(defaultSource(hyper));
  for (const GivenScalar &scalar : *matched) {
    if (scalar.source.kind == ScalarSource::Kind::Data)
      return Error{Code::USAGE,
                   hypers[scalar.hyper].name + ": expected a host value in a one-shot launch, got "
                                               "data",
                   "make a plan, or pass the number itself"};
    if (scalar.source.kind == ScalarSource::Kind::Values)
      rows.rows = std::max<size_t>(listLength, 1); // of an empty list, one that no tensor reads
    sources[scalar.hyper] = scalar.source;
  }
  for (size_t h = 0; h < hypers.size(); ++h)
    if (sources[h].kind == ScalarSource::Kind::Missing)
      return missingScalar(hypers[h]);
    else if (hypers[h].ofAll && !commonValue(sources[h]))
      return severalValues(hypers[h]);

  rows.values.reserve(rows.rows * rows.columns);
  for (size_t row = 0; row < rows.rows; ++row)
    for (const ScalarSource &source : sources)
      rows.values.push_back(row < source.values.size() ? source.values[row] : source.value);
  return rows;
}

} // namespace fw::launch
