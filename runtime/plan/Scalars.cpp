#include "runtime/plan/Scalars.h"

#include <algorithm>
#include <cmath>

namespace fw::plan {

using launch::ScalarSource;
using Kind = ScalarSource::Kind;

RunScalars::Found RunScalars::find(size_t group, size_t hyper) const {
  const ScalarSource &override = overrides[hyper];
  if (override.kind != Kind::Missing)
    return {override, firsts[group]};
  return {groups[group][hyper], 0};
}

namespace {

bool differs(std::span<const double> values) {
  return std::ranges::adjacent_find(values, std::ranges::not_equal_to()) != values.end();
}

} // namespace

bool RunScalars::variesByEntry(std::span<const size_t> chosen) const {
  for (size_t hyper = 0; hyper < hypers; ++hyper)
    for (size_t group : chosen) {
      Found found = find(group, hyper);
      const size_t end = group + 1 < firsts.size() ? firsts[group + 1] - firsts[group] + found.first
                                                   : found.source.values.size();
      if (found.source.kind == Kind::Data && found.source.count > 1)
        return true;
      if (found.source.kind == Kind::Values &&
          differs(found.source.values.subspan(found.first, end - found.first)))
        return true;
    }
  return false;
}

bool RunScalars::isOnDevice(size_t hyper) const {
  for (size_t group = 0; group < groups.size(); ++group)
    if (find(group, hyper).source.kind == Kind::Data)
      return true;
  return false;
}

void RunScalars::row(size_t group, size_t entry, std::span<double> out) const {
  for (size_t hyper = 0; hyper < hypers; ++hyper) {
    Found found = find(group, hyper);
    const std::span<const double> values = found.source.values;
    out[hyper] = found.source.kind == Kind::Value ? found.source.value : 0;
    // A group of no entries has a row too, of values that nobody gives.
    if (found.source.kind == Kind::Values && found.first + entry < values.size())
      out[hyper] = values[found.first + entry];
  }
}

PlanScalars::PlanScalars(std::vector<launch::Hyper> given, std::vector<size_t> groupLengths)
    : hypers(std::move(given)), lengths(std::move(groupLengths)), kept(lengths.size()) {
  size_t first = 0;
  for (size_t length : lengths) {
    firsts.push_back(first);
    first += length;
    groups.emplace_back();
    std::ranges::transform(hypers, std::back_inserter(groups.back()), launch::defaultSource);
  }
}

Result<void> PlanScalars::set(size_t group, const launch::ScalarArray &given) {
  auto matched = launch::matchScalars(hypers, given, lengths[group]);
  if (!matched)
    return matched.takeError();
  std::vector<ScalarSource> sources;
  std::ranges::transform(hypers, std::back_inserter(sources), launch::defaultSource);
  std::vector<std::vector<double>> copies;
  copies.reserve(matched->size());
  for (launch::GivenScalar &scalar : *matched) {
    if (scalar.source.kind == Kind::Values) {
      copies.emplace_back(scalar.source.values.begin(), scalar.source.values.end());
      scalar.source.values = copies.back();
    }
    sources[scalar.hyper] = scalar.source;
  }
  groups[group] = std::move(sources);
  kept[group] = std::move(copies);
  return {};
}

Result<RunScalars> PlanScalars::resolve(const launch::ScalarArray &given) const {
  const size_t entries = lengths.empty() ? 0 : firsts.back() + lengths.back();
  auto matched = launch::matchScalars(hypers, given, entries);
  if (!matched)
    return matched.takeError();
  RunScalars run;
  run.hypers = hypers.size();
  run.groups = groups;
  run.firsts = firsts;
  run.overrides.resize(hypers.size());
  for (const launch::GivenScalar &scalar : *matched)
    run.overrides[scalar.hyper] = scalar.source;
  for (size_t hyper = 0; hyper < hypers.size(); ++hyper)
    for (size_t group = 0; group < groups.size(); ++group)
      if (run.find(group, hyper).source.kind == Kind::Missing)
        return launch::missingScalar(hypers[hyper]);
  if (Result<void> one = checkShared(run); !one)
    return one.takeError();
  return run;
}

namespace {

/// Whether both give all tensors the same number.
bool isOneNumber(const ScalarSource &a, const ScalarSource &b) {
  if (a.kind == Kind::Data || b.kind == Kind::Data)
    return a.kind == b.kind && a.data == b.data && a.type == b.type && a.advance == b.advance &&
           a.count <= 1 && b.count <= 1;
  const std::optional<double> value = launch::commonValue(a), other = launch::commonValue(b);
  return value && other && (*value == *other || (std::isnan(*value) && std::isnan(*other)));
}

} // namespace

/// What all groups share is one number, so what it depends on is too.
Result<void> PlanScalars::checkShared(const RunScalars &run) const {
  for (size_t hyper = 0; hyper < hypers.size(); ++hyper)
    for (size_t group = 0; hypers[hyper].ofAll && group < groups.size(); ++group)
      if (!isOneNumber(run.find(0, hyper).source, run.find(group, hyper).source))
        return launch::severalValues(hypers[hyper]);
  return {};
}

bool PlanScalars::isOnDevice(size_t hyper) const {
  return std::ranges::any_of(
      groups, [&](const auto &sources) { return sources[hyper].kind == Kind::Data; });
}

} // namespace fw::plan
