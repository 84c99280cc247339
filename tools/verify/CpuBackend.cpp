#include "tools/verify/CpuBackend.h"

#include "fusewright/fusewright.h"
#include "tools/verify/Memory.h"

#include <memory>

namespace fw::verify {

namespace {

Error lastError() {
  const fw_error *error = fw_last_error();
  return {Code(error->code), error->text,   error->remedy, error->file,
          error->line,       error->column, error->log};
}

struct Destroy {
  void operator()(fw_op *op) const { fw_op_destroy(op); }
  void operator()(fw_request *request) const { fw_request_destroy(request); }
  void operator()(fw_program *program) const { fw_program_destroy(program); }
};

/// The request said again through the C API.
class CpuProgram {
public:
  Result<void> compile(fw_context *context, const ResolvedRequest &resolved) {
    const Request &request = resolved.request;
    std::string_view text = request.op.file->text().text();
    fw_op *parsed = nullptr;
    if (fw_op_parse(context, text.data(), text.size(), request.op.file->name().c_str(),
                    request.op->name.c_str(), &parsed))
      return lastError();
    op.reset(parsed);
    fw_request *made = nullptr;
    if (fw_request_create(parsed, &made))
      return lastError();
    this->request.reset(made);
    if (!say(made, request))
      return lastError();
    fw_program *compiled = nullptr;
    if (fw_compile(context, made, &compiled))
      return lastError();
    program.reset(compiled);
    return {};
  }
  const fw_program *get() const { return program.get(); }

private:
  static bool say(fw_request *out, const Request &request) {
    bool ok = fw_request_target(out, "cpu") == FW_OK;
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

  std::unique_ptr<fw_op, Destroy> op;
  std::unique_ptr<fw_request, Destroy> request;
  std::unique_ptr<fw_program, Destroy> program;
};

/// The tensors of a case in memory: [operand][tensor].
class CaseMemory {
public:
  CaseMemory(const ResolvedRequest &request, const Case &given) : request(request), given(given) {
    for (size_t k = 0; k < request.operands.size(); ++k) {
      auto &row = tensors.emplace_back();
      for (const std::vector<uint64_t> &words : given.words[k])
        row.emplace_back(*findDtype(request.operands[k].dtype), words, given.offset);
    }
    for (size_t size : given.sizes)
      counts.push_back(int64_t(size));
  }

  std::vector<fw_tensor> list() {
    std::vector<fw_tensor> out;
    for (size_t t = 0; t < counts.size(); ++t)
      for (size_t k = 0; k < tensors.size(); ++k) {
        fw_tensor tensor = {};
        tensor.struct_size = sizeof tensor;
        tensor.device = FW_DEVICE_CPU;
        tensor.rank = 1;
        tensor.dtype = request.operands[k].dtype.c_str();
        tensor.data = request.operands[k].present ? tensors[k][t].data() : nullptr;
        tensor.shape = &counts[t];
        out.push_back(tensor);
      }
    return out;
  }

  Result<Words> written() const {
    Words out;
    for (size_t k = 0; k < tensors.size(); ++k) {
      for (const GuardedTensor &tensor : tensors[k])
        if (!tensor.guardsAreIntact())
          return Error{Code::CHECK_FAILED, given.name + ": expected untouched memory around " +
                                               request.operands[k].name + ", got changed bytes"};
      if (!request.operands[k].written || !request.operands[k].present)
        continue;
      auto &row = out.emplace_back();
      for (const GuardedTensor &tensor : tensors[k])
        row.push_back(tensor.words());
    }
    return out;
  }

private:
  const ResolvedRequest &request;
  const Case &given;
  std::vector<std::vector<GuardedTensor>> tensors;
  std::vector<int64_t> counts;
};

/// A column of the case's scalars per name; `columns` owns the values.
std::vector<fw_scalar> scalarsOf(const ResolvedRequest &request, const Case &given,
                                 std::vector<std::vector<double>> &columns) {
  std::vector<fw_scalar> out;
  for (size_t s = 0; s < request.scalars.size(); ++s) {
    std::vector<double> &column = columns.emplace_back();
    for (const std::vector<double> &row : given.scalars)
      column.push_back(row[s]);
  }
  for (size_t s = 0; s < request.scalars.size(); ++s)
    out.push_back({sizeof(fw_scalar), 0, request.scalars[s].name.c_str(), columns[s][0],
                   columns[s].size() > 1 ? columns[s].data() : nullptr, columns[s].size()});
  return out;
}

} // namespace

Backend cpuBackend(fw_context *context) {
  // The program of the request that was run last: all cases of a request follow each other.
  struct Last {
    std::string key;
    CpuProgram program;
  };
  return [context, last = std::make_shared<std::unique_ptr<Last>>()](
             const ResolvedRequest &request, const Case &given) -> Result<Words> {
    std::string key = request.opHash + request.canonicalText;
    if (!*last || (*last)->key != key) {
      auto next = std::make_unique<Last>();
      next->key = key;
      if (Result<void> compiled = next->program.compile(context, request); !compiled)
        return compiled.takeError();
      *last = std::move(next);
    }
    CaseMemory memory(request, given);
    std::vector<fw_tensor> tensors = memory.list();
    std::vector<std::vector<double>> columns;
    std::vector<fw_scalar> scalars = scalarsOf(request, given, columns);
    if (fw_launch(context, (*last)->program.get(), tensors.data(), tensors.size(), scalars.data(),
                  scalars.size(), nullptr))
      return lastError();
    return memory.written();
  };
}

} // namespace fw::verify
