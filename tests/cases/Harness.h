// A few lines over the public C header that the handed cases share.
#pragma once

#include "fusewright/fusewright.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cases {

inline std::string lastError() {
  const fw_error *error = fw_last_error();
  return std::string(error->text) + "; " + error->remedy + "\n" + error->log;
}

/// A shipped op compiled for the CPU, and its operands by name.
class Kernel {
public:
  Kernel(const char *op, const std::map<std::string, std::string> &options = {},
         const std::map<std::string, std::string> &dtypes = {},
         const std::vector<std::string> &features = {}) {
    check(fw_context_create(nullptr, &context));
    check(fw_op_find(context, op, &this->op));
    check(fw_request_create(this->op, &request));
    for (auto &[option, value] : options)
      check(fw_request_option(request, option.c_str(), value.c_str()));
    for (auto &[operand, dtype] : dtypes)
      check(fw_request_dtype(request, operand.c_str(), dtype.c_str()));
    for (auto &feature : features)
      check(fw_request_feature(request, feature.c_str()));
    check(fw_compile(context, request, &program));
    readOperands();
  }
  Kernel(const Kernel &) = delete;
  Kernel &operator=(const Kernel &) = delete;
  ~Kernel() {
    fw_program_destroy(program);
    fw_request_destroy(request);
    fw_op_destroy(op);
    fw_context_destroy(context);
  }

  /// One list entry: operand name -> address. All have `count` elements.
  struct Entry {
    int64_t count;
    std::map<std::string, void *> data;
  };

  /// Launches over the list; a scalar with more than one value has one per entry.
  void launch(const std::vector<Entry> &list,
              const std::map<std::string, std::vector<double>> &scalars) const {
    std::vector<fw_tensor> tensors;
    for (const Entry &entry : list)
      for (size_t k = 0; k < names.size(); ++k)
        tensors.push_back(tensor(entry, k));
    std::vector<fw_scalar> values;
    for (auto &[name, value] : scalars)
      values.push_back({sizeof(fw_scalar), 0, name.c_str(), value[0],
                        value.size() > 1 ? value.data() : nullptr, value.size()});
    check(fw_launch(context, program, tensors.data(), tensors.size(), values.data(), values.size(),
                    nullptr));
  }

private:
  static void check(fw_status status) { ASSERT_EQ(status, FW_OK) << lastError(); }

  void readOperands() {
    size_t count = 0;
    check(fw_request_operand_count(request, &count));
    for (size_t k = 0; k < count; ++k) {
      fw_operand_info info = {};
      info.struct_size = sizeof info;
      check(fw_request_operand(request, k, &info));
      names.push_back(info.name);
      dtypes.push_back(info.dtype);
    }
  }

  fw_tensor tensor(const Entry &entry, size_t k) const {
    fw_tensor out = {};
    out.struct_size = sizeof out;
    out.device = FW_DEVICE_CPU;
    out.rank = 1;
    out.dtype = dtypes[k].c_str();
    auto found = entry.data.find(names[k]);
    out.data = found == entry.data.end() ? nullptr : found->second;
    out.shape = &entry.count;
    return out;
  }

  fw_context *context = nullptr;
  fw_op *op = nullptr;
  fw_request *request = nullptr;
  fw_program *program = nullptr;
  std::vector<std::string> names, dtypes;
};

} // namespace cases
