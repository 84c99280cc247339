// Every program of the suite over every list: within the bounds of the reference, and nothing else
// written; without reductions bit for bit what the CPU backend computes. By plans and by one-shot
// launches.
#include "tests/gpu/suite/Trial.h"

namespace suite {
namespace {

class Numeric : public GpuTest, public testing::WithParamInterface<std::string> {};

/// Every second list with scalars away from their defaults, the others at the first step.
Scalars scalarsFor(const Kernel &kernel, size_t number) {
  Scalars scalars = number % 2 ? unusualScalars(kernel) : Scalars();
  if (!kernel.step().empty())
    scalars.set(kernel.step(), number % 2 ? 7 : 1);
  return scalars;
}

/// In a quick run each program takes every third list, from a start of its own.
bool isTaken(const Kernel &kernel, size_t number) {
  return !isQuick() || (number + kernel.row->name().size()) % 3 == 0;
}

TEST_P(Numeric, plans_and_launches_are_right_to_the_bit) {
  const Kernel &kernel = compiled(GetParam());
  size_t number = 0;
  for (const NamedList &list : allLists(kernel)) {
    SCOPED_TRACE(list.name);
    if (!isTaken(kernel, ++number))
      continue;
    const Scalars scalars = scalarsFor(kernel, number);
    const Values values = kernel.isOnePass() || number % 2 ? Values::ANY : Values::USUAL;
    const std::vector<GroupSpec> groups = {{&kernel, list.list, {}, values}};
    Trial onDevice(context(), onGpu, groups, number), reference(context(), onCpu, groups, number);
    onDevice.run(scalars);
    reference.run(scalars);
    EXPECT_EQ(onDevice.arena().check(onDevice.image(), scalars), "");
    if (kernel.isOnePass()) {
      expectSame(onDevice, reference);
      onDevice.reset();
      onDevice.launch(scalars);
      expectSame(onDevice, reference);
    } else {
      EXPECT_EQ(reference.arena().check(reference.image(), scalars), "");
    }
    if (HasFailure())
      return;
  }
}

std::vector<std::string> programNames() {
  std::vector<std::string> names;
  for (const ProgramRow &row : programRows())
    names.push_back(row.name());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Programs, Numeric, testing::ValuesIn(programNames()),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace suite
