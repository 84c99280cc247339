// Plans on the CPU: the lists are checked and split once, the kernels run at every call.
#include "runtime/plan/Plan.h"

#include <algorithm>

namespace fw::plan {
namespace {

using launch::Number;
using launch::ScalarSource;

/// Calls `with` with a number of `type` at `data`, as its C++ type.
template <class With> auto visit(void *data, Number type, With &&with) {
  switch (type) {
  case Number::f32:
    return with(*static_cast<float *>(data));
  case Number::f64:
    return with(*static_cast<double *>(data));
  case Number::i32:
    return with(*static_cast<int32_t *>(data));
  case Number::i64:
    break;
  }
  return with(*static_cast<int64_t *>(data));
}

void *at(const ScalarSource &source, size_t index) {
  return static_cast<char *>(source.data) + index * launch::bytesOf(source.type);
}

/// The number that a run reads: counted up, where the source says so, in its own type.
double read(const ScalarSource &source, size_t index) {
  return visit(at(source, index), source.type, [&](auto number) {
    return double(decltype(number)(source.advance ? number + 1 : number));
  });
}

class CpuPlan : public Plan {
public:
  CpuPlan(std::vector<Group> given, const launch::Executor &executor) : executor(executor) {
    counts = countGroups(given);
    for (Group &group : given) {
      launch::PreparedList prepared =
          launch::prepare(*group.program, std::move(group.list), executor.threads);
      group.list = {};
      counts.launches += uint32_t(group.program->kernels.size());
      counts.blocks += prepared.work.shares();
      groups.push_back({std::move(group), std::move(prepared)});
    }
  }

  Result<void> setPointers(size_t group, size_t operand, std::span<void *const> pointers) override {
    Ready &ready = groups[group];
    if (Result<void> good = checkPointers(ready.group, operand, pointers); !good)
      return good;
    std::swap(ready.group.list, ready.prepared.list);
    storePointers(ready.group, operand, pointers);
    std::swap(ready.group.list, ready.prepared.list);
    return {};
  }

  Result<void> run(const RunScalars &scalars, void *) override {
    std::vector<launch::ScalarRows> rows;
    for (size_t g = 0; g < groups.size(); ++g)
      rows.push_back(rowsOf(scalars, g));
    const std::vector<Counter> counters = countersOf(scalars);
    for (size_t g = 0; g < groups.size(); ++g)
      launch::execute(*groups[g].group.program, groups[g].prepared, rows[g], executor);
    for (const Counter &counter : counters)
      visit(counter.data, counter.type, [](auto &number) { number += 1; });
    return {};
  }

  Stats stats() const override { return counts; }

private:
  struct Ready {
    Group group; ///< its list is in `prepared`
    launch::PreparedList prepared;
  };

  size_t hypersOf(size_t g) const { return groups[g].group.program->hypers.size(); }

  struct Counter {
    void *data;
    Number type;
  };
  /// What the run counts up: each number once, whatever the number of groups that read it.
  std::vector<Counter> countersOf(const RunScalars &scalars) const {
    std::vector<Counter> counters;
    for (size_t g = 0; g < groups.size(); ++g)
      for (size_t h = 0; h < hypersOf(g); ++h) {
        const ScalarSource &source = scalars.find(g, h).source;
        for (size_t i = 0; source.advance && i < source.count; ++i)
          if (std::ranges::find(counters, at(source, i), &Counter::data) == counters.end())
            counters.push_back({at(source, i), source.type});
      }
    return counters;
  }

  launch::ScalarRows rowsOf(const RunScalars &scalars, size_t g) const {
    launch::ScalarRows out;
    out.columns = hypersOf(g);
    out.rows = scalars.variesByEntry({&g, 1}) ? groups[g].group.length : 1;
    out.values.resize(out.rows * out.columns);
    for (size_t row = 0; row < out.rows; ++row) {
      std::span<double> values(out.values.data() + row * out.columns, out.columns);
      scalars.row(g, row, values);
      for (size_t h = 0; h < out.columns; ++h) {
        RunScalars::Found found = scalars.find(g, h);
        if (found.source.kind == ScalarSource::Kind::Data)
          values[h] = read(found.source, found.source.count > 1 ? found.first + row : 0);
      }
    }
    return out;
  }

  std::vector<Ready> groups;
  launch::Executor executor;
  Stats counts;
};

} // namespace

std::unique_ptr<Plan> makeCpuPlan(std::vector<Group> groups, const launch::Executor &executor) {
  return std::make_unique<CpuPlan>(std::move(groups), executor);
}

} // namespace fw::plan
