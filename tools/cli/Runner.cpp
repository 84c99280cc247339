#include "tools/cli/Runner.h"

namespace fw::cli {

namespace {

/// The tensors of a case whose arena stands at `base`.
std::vector<fw_tensor> tensorsOf(const host::Device &device, const ResolvedRequest &request,
                                 const verify::Case &data, const verify::Arena &arena,
                                 std::byte *base, const std::vector<int64_t> &sizes) {
  static constexpr int64_t kOne = 1; // tensors of uniform operands have one element
  std::vector<fw_tensor> out;
  auto add = [&](size_t k, size_t t, const int64_t &size) {
    const RequestOperand &operand = request.operands[k];
    void *place = operand.present ? base + arena.offset(k, t) : nullptr;
    out.push_back(host::tensorOf(device, operand.dtype, place, {&size, 1}));
  };
  for (size_t t = 0; t < data.sizes.size(); ++t)
    for (size_t k = 0; k < request.operands.size(); ++k)
      if (request.operands[k].scope != "all")
        add(k, t, request.operands[k].scope == "element" ? sizes[t] : kOne);
  for (size_t k = 0; k < request.operands.size(); ++k)
    if (request.operands[k].scope == "all")
      add(k, 0, kOne);
  return out;
}

bool isOnePass(const fw_program *program) {
  fw_kernel_info info = {};
  info.struct_size = sizeof info;
  return fw_program_kernel_count(program) == 1 && fw_program_kernel(program, 0, &info) == FW_OK &&
         info.one_pass;
}

/// The scalars of a case: one value each, or one per tensor. `columns` holds the latter.
std::vector<fw_scalar> scalarsOf(const ResolvedRequest &request, const verify::Case &data,
                                 std::vector<std::vector<double>> &columns) {
  std::vector<fw_scalar> scalars;
  columns.resize(request.scalars.size());
  for (size_t s = 0; s < columns.size(); ++s) {
    for (const std::vector<double> &row : data.scalars)
      columns[s].push_back(row[s]);
    scalars.push_back(host::scalarOf(request.scalars[s].name, columns[s][0]));
    if (columns[s].size() > 1) {
      scalars.back().values = columns[s].data();
      scalars.back().count = columns[s].size();
    }
  }
  return scalars;
}

} // namespace

Result<Runner> Runner::create(const host::Device &device) {
  Runner runner;
  runner.device = device;
  auto context = host::make<fw_context>(fw_context_create, nullptr);
  if (!context)
    return context.takeError();
  runner.context = std::move(*context);
  if (device.isCuda()) {
    Result<fw_device_info> info = host::describe(runner.context.get(), device);
    if (!info)
      return info.takeError();
    runner.name = std::string(info->name) + " (" + device.name() + ")";
    runner.arch = info->target;
  }
  return runner;
}

Result<void> Runner::compile(const ResolvedRequest &request) {
  auto compiled = host::compile(context.get(), request.request, device);
  if (!compiled)
    return compiled.takeError();
  program = std::move(*compiled);
  return {};
}

std::vector<verify::Way> Runner::ways(const ResolvedRequest &request) {
  auto way = [this, &request](Call call) {
    return [this, &request, call](const verify::Case &data, const verify::Arena &arena) {
      return run(call, request, data, arena);
    };
  };
  // On a GPU, other programs run as plans alone.
  if (device.isCuda() && !isOnePass(program.get()))
    return {{"plan", way(&Runner::runPlan)}};
  return {{"launch", way(&Runner::launch)}, {"plan", way(&Runner::runPlan)}};
}

Result<void> Runner::launch(const ResolvedRequest &request, const verify::Case &data,
                            const std::vector<fw_tensor> &tensors) {
  std::vector<std::vector<double>> columns;
  std::vector<fw_scalar> scalars = scalarsOf(request, data, columns);
  return host::check(fw_launch(context.get(), program.get(), tensors.data(), tensors.size(),
                               scalars.data(), scalars.size(), nullptr));
}

Result<void> Runner::runPlan(const ResolvedRequest &request, const verify::Case &data,
                             const std::vector<fw_tensor> &tensors) {
  std::vector<std::vector<double>> columns;
  std::vector<fw_scalar> scalars = scalarsOf(request, data, columns);
  fw_plan_group group = {};
  group.struct_size = sizeof group;
  group.program = program.get();
  group.tensors = tensors.data();
  group.tensor_count = tensors.size();
  group.scalars = scalars.data();
  group.scalar_count = scalars.size();
  auto plan = host::make<fw_plan>(fw_plan_create, context.get(), &group, size_t(1));
  if (!plan)
    return plan.takeError();
  return host::check(fw_plan_run(plan->get(), nullptr, 0, nullptr, nullptr));
}

Result<void> Runner::run(Call call, const ResolvedRequest &request, const verify::Case &data,
                         const verify::Arena &arena) {
  std::vector<int64_t> sizes(data.sizes.begin(), data.sizes.end());
  if (!device.isCuda())
    return (this->*call)(request, data,
                         tensorsOf(device, request, data, arena, arena.base(), sizes));
  auto memory =
      host::make<fw_buffer>(fw_buffer_create, context.get(), device.kind, device.id, arena.size());
  if (!memory)
    return memory.takeError();
  fw_buffer *buffer = memory->get();
  if (auto in = host::check(fw_buffer_copy_in(buffer, 0, arena.base(), arena.size(), nullptr)); !in)
    return in;
  auto *base = static_cast<std::byte *>(fw_buffer_data(buffer));
  if (auto done =
          (this->*call)(request, data, tensorsOf(device, request, data, arena, base, sizes));
      !done)
    return done;
  return host::check(fw_buffer_copy_out(buffer, 0, arena.base(), arena.size(), nullptr));
}

} // namespace fw::cli
