#include "runtime/plan/Scalars.h"

#include <algorithm>

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
  if (Result<void> one = checkDeciding(run); !one)
    return one.takeError();
  return run;
}

/// The decision to skip is one for all groups, so what it depends on is too.
Result<void> PlanScalars::checkDeciding(const RunScalars &run) const {
  for (size_t hyper = 0; hyper < hypers.size(); ++hyper)
    for (size_t group = 0; hypers[hyper].decides && group < groups.size(); ++group) {
      const ScalarSource &first = run.find(0, hyper).source, &other = run.find(group, hyper).source;
      const bool isOne = other.kind != Kind::Values && other.count <= 1;
      if (!isOne || other.kind != first.kind || other.value != first.value ||
          other.data != first.data)
        return Error{Code::USAGE,
                     hypers[hyper].name +
                         ": expected one value for all tensors of the plan, got several",
                     "whether a step is skipped depends on it; give it to fw_plan_run"};
    }
  return {};
}

bool PlanScalars::isOnDevice(size_t hyper) const {
  return std::ranges::any_of(
      groups, [&](const auto &sources) { return sources[hyper].kind == Kind::Data; });
}

} // namespace fw::plan
