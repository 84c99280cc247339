// A few lines over the public C header that the handed cases share.
#pragma once

#include "fusewright/fusewright.h"

#include <gtest/gtest.h>

#include <cmath>
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

  using Scalars = std::map<std::string, std::vector<double>>;

  /// What the reference says of an operand's elements.
  struct Range {
    double value, bound;
    bool holds(double x) const { return std::abs(x - value) <= bound; }
  };
  /// Written operand -> its elements after a launch.
  using Reference = std::map<std::string, std::vector<Range>>;

  /// The reference of each entry, from the data as they are before a launch.
  std::vector<Reference> evaluate(const std::vector<Entry> &list, const Scalars &scalars) const {
    std::vector<Reference> references;
    for (size_t i = 0; i < list.size(); ++i)
      references.push_back(evaluateEntry(list[i], scalars, i));
    return references;
  }

  /// Launches over the list; a scalar with more than one value has one per entry.
  void launch(const std::vector<Entry> &list, const Scalars &scalars) const {
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
      written.push_back(info.written != 0);
    }
  }

  Reference evaluateEntry(const Entry &entry, const Scalars &scalars, size_t index) const {
    std::vector<fw_tensor> tensors;
    size_t outputs = 0;
    for (size_t k = 0; k < names.size(); ++k) {
      tensors.push_back(tensor(entry, k));
      outputs += written[k];
    }
    std::vector<fw_scalar> row;
    for (auto &[name, value] : scalars)
      row.push_back(
          {sizeof(fw_scalar), 0, name.c_str(), value[value.size() > 1 ? index : 0], nullptr, 0});
    const size_t count = size_t(entry.count);
    std::vector<double> values(outputs * count), bounds(outputs * count);
    check(fw_evaluate(request, tensors.data(), tensors.size(), row.data(), row.size(),
                      values.data(), bounds.data()));
    Reference reference;
    size_t at = 0;
    for (size_t k = 0; k < names.size(); ++k)
      for (size_t i = 0; written[k] && i < count; ++i, ++at)
        reference[names[k]].push_back({values[at], bounds[at]});
    return reference;
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
  std::vector<bool> written;
};

/// What was produced is within the reference's bound, and so is the number that the case calls
/// right: the two agree on what is right.
inline void expectRight(double produced, double right, const Kernel::Range &reference) {
  EXPECT_TRUE(reference.holds(produced))
      << produced << " is not " << reference.value << " +- " << reference.bound;
  EXPECT_TRUE(reference.holds(right))
      << right << " of the case is not " << reference.value << " +- " << reference.bound;
}

} // namespace cases
