#include "tests/gpu/suite/Kernel.h"

#include <map>

namespace suite {

size_t Kernel::operand(const std::string &name) const {
  for (size_t k = 0; k < operands.size(); ++k)
    if (operands[k].name == name)
      return k;
  ADD_FAILURE() << row->name() << " has no operand " << name;
  return 0;
}

bool Kernel::isOnePass() const {
  for (const OperandInfo &operand : operands)
    if (!operand.isElement())
      return false;
  return kernels == 1;
}

std::string Kernel::step() const {
  for (const ScalarInfo &scalar : scalars)
    if (scalar.isStep)
      return scalar.name;
  return "";
}

api::Request requestOf(fw_context *context, const ProgramRow &row, const std::string &target) {
  auto op = api::make<api::Op>([&](fw_op **out) {
    if (row.text.empty())
      return fw_op_find(context, row.op.c_str(), out);
    return fw_op_parse(context, row.text.data(), row.text.size(), "suite.fuse", nullptr, out);
  });
  api::Request request = api::request(op);
  for (const auto &[option, value] : pairsOf(row.options))
    EXPECT_EQ(fw_request_option(request.get(), option.c_str(), value.c_str()), FW_OK);
  for (const auto &[operand, dtype] : pairsOf(row.dtypes))
    EXPECT_EQ(fw_request_dtype(request.get(), operand.c_str(), dtype.c_str()), FW_OK);
  for (const std::string &feature : namesOf(row.features))
    EXPECT_EQ(fw_request_feature(request.get(), feature.c_str()), FW_OK);
  EXPECT_EQ(fw_request_target(request.get(), target.c_str()), FW_OK) << api::lastError();
  return request;
}

namespace {

void describeOperands(Kernel &kernel) {
  size_t count = 0;
  EXPECT_EQ(fw_request_operand_count(kernel.request.get(), &count), FW_OK) << api::lastError();
  for (size_t k = 0; k < count; ++k) {
    fw_operand_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(fw_request_operand(kernel.request.get(), k, &info), FW_OK) << api::lastError();
    kernel.operands.push_back(
        {info.name, info.role, info.dtype, info.read != 0, info.written != 0, info.scope});
  }
}

void describeScalars(Kernel &kernel) {
  size_t count = 0;
  EXPECT_EQ(fw_request_scalar_count(kernel.request.get(), &count), FW_OK) << api::lastError();
  for (size_t k = 0; k < count; ++k) {
    fw_scalar_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(fw_request_scalar(kernel.request.get(), k, &info), FW_OK) << api::lastError();
    kernel.scalars.push_back({info.name, info.kind, info.is_step != 0, info.value});
  }
}

void describeSchedule(Kernel &kernel) {
  fw_kernel_info info = {};
  info.struct_size = sizeof info;
  kernel.kernels = fw_program_kernel_count(kernel.gpu.get());
  if (kernel.kernels == 0)
    return;
  EXPECT_EQ(fw_program_kernel(kernel.gpu.get(), kernel.kernels - 1, &info), FW_OK)
      << api::lastError();
  const std::string schedule = info.schedule;
  const size_t at = schedule.find("vec=");
  EXPECT_NE(at, schedule.npos) << schedule;
  kernel.chunk = info.chunk;
  kernel.vector = std::atoi(schedule.c_str() + at + 4);
}

api::Program compile(fw_context *context, const api::Request &request) {
  return api::make<api::Program>(
      [&](fw_program **out) { return fw_compile(context, request.get(), out); });
}

} // namespace

std::unique_ptr<Kernel> makeCpuKernel(fw_context *context, const ProgramRow &row) {
  auto made = std::make_unique<Kernel>();
  made->row = &row;
  made->request = requestOf(context, row, "cpu");
  made->cpu = compile(context, made->request);
  describeOperands(*made);
  describeScalars(*made);
  return made;
}

std::unique_ptr<Kernel> makeKernel(fw_context *context, const std::string &program, int device) {
  auto made = std::make_unique<Kernel>();
  made->row = &programRow(program);
  const Gpu &gpu = Gpu::get();
  if (gpu.isFake)
    gpu.fake.useTwins(*made->row, gpu.targets[size_t(device)]);
  made->request = requestOf(context, *made->row, "cuda:" + std::to_string(device));
  made->gpu = compile(context, made->request);
  made->cpu = compile(context, requestOf(context, *made->row, "cpu"));
  describeOperands(*made);
  describeScalars(*made);
  describeSchedule(*made);
  return made;
}

const Kernel &compiled(const std::string &program, int device) {
  static auto &known = *new std::map<std::pair<std::string, int>, std::unique_ptr<Kernel>>;
  std::unique_ptr<Kernel> &kernel = known[{program, device}];
  if (!kernel) {
    fw_context *context = Gpu::get().context.get();
    kernel = makeKernel(context, program, device);
    EXPECT_EQ(fw_preload(context, kernel->gpu.get(), device), FW_OK) << api::lastError();
  }
  return *kernel;
}

} // namespace suite
