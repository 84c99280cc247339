#include "tools/cli/CpuRunner.h"

namespace fw::cli {

namespace {

Error lastError() {
  const fw_error *error = fw_last_error();
  return {Code(error->code), error->text,   error->remedy, error->file,
          error->line,       error->column, error->log};
}

/// Says a request again through the C API; false when a call failed.
bool say(fw_request *out, const Request &request) {
  bool ok = !fw_request_target(out, "cpu");
  for (const auto &[option, value] : request.options)
    ok = ok && !fw_request_option(out, option.c_str(), value.c_str());
  for (const auto &[operand, dtype] : request.dtypes)
    ok = ok && !fw_request_dtype(out, operand.c_str(), dtype.c_str());
  for (const std::string &feature : request.features)
    ok = ok && !fw_request_feature(out, feature.c_str());
  for (const std::string &operand : request.absent)
    ok = ok && !fw_request_absent(out, operand.c_str());
  return ok;
}

std::vector<fw_tensor> tensorsOf(const ResolvedRequest &request, const verify::Case &data,
                                 const verify::Arena &arena, const std::vector<int64_t> &sizes) {
  std::vector<fw_tensor> out;
  for (size_t t = 0; t < data.sizes.size(); ++t)
    for (size_t k = 0; k < request.operands.size(); ++k) {
      fw_tensor tensor = {};
      tensor.struct_size = sizeof tensor;
      tensor.device = FW_DEVICE_CPU;
      tensor.rank = 1;
      tensor.dtype = request.operands[k].dtype.c_str();
      tensor.data = request.operands[k].present ? arena.address(k, t) : nullptr;
      tensor.shape = &sizes[t];
      out.push_back(tensor);
    }
  return out;
}

/// The values of each scalar, over the rows of a case.
std::vector<std::vector<double>> columnsOf(const ResolvedRequest &request,
                                           const verify::Case &data) {
  std::vector<std::vector<double>> columns(request.scalars.size());
  for (const std::vector<double> &row : data.scalars)
    for (size_t s = 0; s < columns.size(); ++s)
      columns[s].push_back(row[s]);
  return columns;
}

} // namespace

Result<CpuRunner> CpuRunner::create() {
  CpuRunner runner;
  fw_context *context = nullptr;
  if (fw_context_create(nullptr, &context))
    return lastError();
  runner.context.reset(context);
  return runner;
}

Result<void> CpuRunner::compile(const ResolvedRequest &resolved) {
  const language::OpHandle &source = resolved.request.op;
  std::string_view text = source.file->text().text();
  fw_op *parsed = nullptr;
  if (fw_op_parse(context.get(), text.data(), text.size(), source.file->name().c_str(),
                  source->name.c_str(), &parsed))
    return lastError();
  op.reset(parsed);
  fw_request *made = nullptr;
  if (fw_request_create(parsed, &made))
    return lastError();
  request.reset(made);
  fw_program *compiled = nullptr;
  if (!say(made, resolved.request) || fw_compile(context.get(), made, &compiled))
    return lastError();
  program.reset(compiled);
  return {};
}

Result<void> CpuRunner::run(const ResolvedRequest &resolved, const verify::Case &data,
                            const verify::Arena &arena) {
  std::vector<int64_t> sizes(data.sizes.begin(), data.sizes.end());
  std::vector<fw_tensor> tensors = tensorsOf(resolved, data, arena, sizes);
  std::vector<std::vector<double>> columns = columnsOf(resolved, data);
  std::vector<fw_scalar> scalars;
  for (size_t s = 0; s < columns.size(); ++s)
    scalars.push_back({sizeof(fw_scalar), 0, resolved.scalars[s].name.c_str(), columns[s][0],
                       columns[s].size() > 1 ? columns[s].data() : nullptr, columns[s].size()});
  if (fw_launch(context.get(), program.get(), tensors.data(), tensors.size(), scalars.data(),
                scalars.size(), nullptr))
    return lastError();
  return {};
}

} // namespace fw::cli
