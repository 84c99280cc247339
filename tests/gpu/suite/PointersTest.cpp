// New addresses for an operand of a plan.
#include "tests/gpu/suite/Trial.h"

namespace suite {
namespace {

/// One plan on a device, and a second block of tensors of the same shapes to point at.
struct Sides {
  Sides(fw_context *context, Place place, const Kernel &kernel, const List &list,
        const List &otherList)
      : trial(context, place, {{&kernel, list}}, 1), other(kernel, otherList, 99),
        block(context, place, other.bytes) {}

  /// The addresses of an operand's tensors in the second block, moved by some bytes.
  std::vector<void *> others(const std::string &operand, ptrdiff_t by = 0) const {
    std::vector<void *> addresses;
    for (size_t entry = 0; entry < other.list.size(); ++entry)
      addresses.push_back(static_cast<std::byte *>(block.data()) +
                          other.offset(entry, other.kernel.operand(operand)) + by);
    return addresses;
  }
  void point(const std::string &operand, const std::vector<void *> &to) {
    EXPECT_OK(fw_plan_set_pointers(trial.plan(), 0, operand.c_str(), to.data(), to.size()));
  }

  Trial trial;
  Arena other;
  Block block;
};

class Pointers : public GpuTest {
protected:
  using Change = std::function<void(Sides &)>;

  /// A run, the change, a run, on both sides.
  void compare(const std::string &program, const List &list, const List &otherList,
               const Change &change) {
    const Kernel &kernel = compiled(program);
    Sides onDevice(context(), onGpu, kernel, list, otherList);
    Sides reference(context(), onCpu, kernel, list, otherList);
    for (Sides *sides : {&onDevice, &reference}) {
      sides->trial.run(Scalars().set("t", 1));
      change(*sides);
      sides->trial.run(Scalars().set("t", 2));
    }
    expectSame(onDevice.trial, reference.trial);
    EXPECT_EQ(onDevice.other.compare(onDevice.block.read(), reference.block.read()), "");
  }
  void compare(const std::string &program, const List &list, const Change &change) {
    compare(program, list, list, change);
  }
};

const List plain = vectors({700, 0, 33, 64, 1}), noneEmpty = vectors({700, 33, 64, 5, 1});
const List rows = {{{20, 30}, {41, 1}}, {{5, 7}, {1, 5}}, {.shape = {9}}};

TEST_F(Pointers, gradients_elsewhere) {
  for (const List &list : {plain, noneEmpty, rows})
    compare("adamw", list, [](Sides &sides) { sides.point("g", sides.others("g")); });
}

TEST_F(Pointers, gradients_at_another_alignment) {
  for (const char *program : {"adamw", "adamw_grad_bf16"})
    for (ptrdiff_t by : {2, 4, 8, 12, 16})
      for (const List &list : {plain, noneEmpty, rows})
        if (by % 4 == 0 || std::string(program) != "adamw")
          compare(program, list, [&](Sides &sides) { sides.point("g", sides.others("g", by)); });
}

TEST_F(Pointers, heads_come_and_go) {
  const int64_t chunk = compiled("adamw_grad_bf16").chunk;
  const Sizes sizes = {chunk, chunk + 1, 2 * chunk - 1, 5};
  for (uint64_t before : {0, 2, 15}) // no operand, the gradient alone, every one
    for (uint64_t after : {0, 2, 15})
      compare("adamw_grad_bf16", vectors(sizes, before), vectors(sizes, after), [](Sides &sides) {
        for (const char *operand : {"p", "g", "m", "v"})
          sides.point(operand, sides.others(operand));
      });
}

TEST_F(Pointers, there_and_back_again) {
  for (const List &list : {plain, noneEmpty})
    compare("adamw", list, [](Sides &sides) {
      sides.point("g", sides.others("g", 4));
      sides.point("g", sides.trial.addresses(0, "g"));
    });
}

TEST_F(Pointers, outputs_elsewhere) {
  List oneOff = plain;
  for (EntrySpec &entry : oneOff)
    entry.offByOne = 4; // m
  for (const List &otherList : {plain, oneOff})
    compare("adamw", plain, otherList, [](Sides &sides) {
      sides.point("p", sides.others("p"));
      sides.point("m", sides.others("m"));
    });
}

TEST_F(Pointers, many_times_between_runs) {
  compare("adamw_grad_bf16", plain, [](Sides &sides) {
    for (ptrdiff_t by : {2, 0, 6, 16}) {
      sides.point("g", sides.others("g", by));
      sides.trial.run(Scalars().set("t", 5));
    }
  });
}

TEST_F(Pointers, empty_tensors_need_none) {
  compare("adamw", plain, [](Sides &sides) {
    std::vector<void *> addresses = sides.others("g");
    addresses[1] = nullptr;
    sides.point("g", addresses);
  });
}

TEST_F(Pointers, a_change_is_one_upload_and_no_launch_more) {
  const Kernel &adamw = compiled("adamw");
  Sides sides(context(), onGpu, adamw, plain, plain);
  sides.trial.run(Scalars().set("t", 1));
  const uint64_t workspace = sides.trial.info().workspace_bytes;
  const fw_counters before = FreshContext::countersOf(context());
  for (int i = 0; i < 10; ++i) {
    sides.point("g", i % 2 ? sides.others("g") : sides.trial.addresses(0, "g"));
    sides.trial.run(Scalars().set("t", 2));
  }
  const fw_counters after = FreshContext::countersOf(context());
  EXPECT_EQ(after.launches - before.launches, 10u);
  EXPECT_LE(after.table_uploads - before.table_uploads, 10u);
  EXPECT_EQ(sides.trial.info().workspace_bytes, workspace);
}

TEST_F(Pointers, wrong_ones_change_nothing) {
  const Kernel &adamw = compiled("adamw");
  Sides onDevice(context(), onGpu, adamw, noneEmpty, noneEmpty);
  Sides reference(context(), onCpu, adamw, noneEmpty, noneEmpty);
  fw_plan *plan = onDevice.trial.plan();
  std::vector<void *> to = onDevice.others("g");
  EXPECT_FAULT(fw_plan_set_pointers(plan, 0, "g", to.data(), to.size() - 1), FW_USAGE,
               "one address per entry of the group, 5, got 4");
  EXPECT_FAULT(fw_plan_set_pointers(plan, 0, "q", to.data(), to.size()), FW_USAGE,
               "fw_request_operand lists them");
  EXPECT_FAULT(fw_plan_set_pointers(plan, 1, "g", to.data(), to.size()), FW_USAGE,
               "one of 1 groups, got 1");
  EXPECT_FAULT(fw_plan_set_pointers(plan, 0, "g", nullptr, to.size()), FW_USAGE, "got NULL");
  EXPECT_FAULT(fw_plan_set_pointers(plan, 0, nullptr, to.data(), to.size()), FW_USAGE, "got NULL");
  to[2] = nullptr;
  EXPECT_FAULT(fw_plan_set_pointers(plan, 0, "g", to.data(), to.size()), FW_USAGE,
               "g of entry 2: expected an address, got NULL");
  for (Sides *sides : {&onDevice, &reference})
    sides->trial.run(Scalars().set("t", 1));
  expectSame(onDevice.trial, reference.trial);
}

} // namespace
} // namespace suite
