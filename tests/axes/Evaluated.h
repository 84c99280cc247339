// An op over axes, evaluated through the C API: tensors by name in, values and bounds by name out.
#pragma once

#include "compiler/dialect/Dtypes.h"
#include "compiler/dialect/evaluator/Storage.h"
#include "tests/runtime/Api.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace axes {

using Shape = std::vector<int64_t>;
using Numbers = std::vector<double>;

/// The elements of a shape.
inline size_t count(const Shape &shape) {
  size_t n = 1;
  for (int64_t size : shape)
    n *= size_t(size);
  return n;
}

/// What is asked of a request beside its op.
struct Choices {
  std::map<std::string, std::string> options = {};
  std::map<std::string, std::string> dtypes = {};
  std::set<std::string> absent = {};
};

class Evaluated {
public:
  /// `op` is a shipped name, or op text, of which `name` is the op where there are several.
  explicit Evaluated(const std::string &op, const Choices &choices = {}, const char *name = nullptr)
      : context(api::context()),
        op(op.find('{') == std::string::npos ? api::find(context, op.c_str())
                                             : api::parse(context, op, name)),
        request(api::request(this->op)) {
    for (auto &[option, value] : choices.options)
      EXPECT_EQ(fw_request_option(request.get(), option.c_str(), value.c_str()), FW_OK);
    for (auto &[operand, dtype] : choices.dtypes)
      EXPECT_EQ(fw_request_dtype(request.get(), operand.c_str(), dtype.c_str()), FW_OK);
    for (const std::string &operand : choices.absent)
      EXPECT_EQ(fw_request_absent(request.get(), operand.c_str()), FW_OK);
    size_t operandCount = 0;
    EXPECT_EQ(fw_request_operand_count(request.get(), &operandCount), FW_OK) << api::lastError();
    for (size_t k = 0; k < operandCount; ++k) {
      fw_operand_info info = {};
      info.struct_size = sizeof info;
      EXPECT_EQ(fw_request_operand(request.get(), k, &info), FW_OK);
      operands.push_back({info.name, info.dtype, info.scope, info.written != 0, {}, {}, {}, ""});
    }
  }

  /// Gives an operand its shape and, where it is read, its numbers, which are rounded for storage.
  Evaluated &set(const std::string &name, Shape shape, const Numbers &numbers = {}) {
    Operand &operand = find(name);
    const fw::Dtype *real = fw::findDtype(operand.dtype);
    const size_t bytes = fw::storageBytes(operand.dtype);
    operand.memory.assign(std::max<size_t>(count(shape), 1) * bytes, std::byte(0));
    for (size_t i = 0; i < numbers.size(); ++i) {
      const uint64_t word =
          real ? fw::evaluator::encode(*real, numbers[i])
               : fw::encodeInt(*fw::findIntDtype(operand.dtype), static_cast<int64_t>(numbers[i]));
      std::memcpy(operand.memory.data() + i * bytes, &word, bytes);
    }
    operand.shape = std::move(shape);
    operand.strides.clear();
    return *this;
  }
  Evaluated &strides(const std::string &name, Shape strides) {
    find(name).strides = std::move(strides);
    return *this;
  }
  /// Another view of an operand's memory.
  Evaluated &reshape(const std::string &name, Shape shape, Shape strides) {
    find(name).shape = std::move(shape);
    find(name).strides = std::move(strides);
    return *this;
  }
  Evaluated &scalar(const std::string &name, double value) {
    scalars[name] = value;
    return *this;
  }
  std::string scopeOf(const std::string &name) { return find(name).scope; }

  /// Compiles for the device of the tests and launches; the text of the error, or nothing. stored()
  /// tells what it wrote.
  std::string launch() {
    const bool isCuda = device() != "cpu";
    fw_program *raw = nullptr;
    if (fw_request_target(request.get(), device().c_str()) != FW_OK ||
        fw_compile(context.get(), request.get(), &raw) != FW_OK)
      return api::lastError() + fw_last_error()->log;
    api::Program program(raw);
    std::vector<fw_tensor> tensors = allTensors();
    std::vector<fw_scalar> row = allScalars();
    Mirror mirror;
    if (isCuda)
      copyIn(mirror, tensors);
    if (fw_launch(context.get(), program.get(), tensors.data(), tensors.size(), row.data(),
                  row.size(), nullptr) != FW_OK)
      return api::lastError() + fw_last_error()->log;
    if (isCuda)
      copyOut(mirror);
    return "";
  }

  /// Where launches run: "cpu", or what FW_TEST_DEVICE names.
  static std::string device() {
    const char *named = std::getenv("FW_TEST_DEVICE");
    return named ? named : "cpu";
  }

  /// Tensors on a CUDA device start so many elements behind a boundary of 256 bytes.
  Evaluated &shift(size_t elements) {
    shifted = elements;
    return *this;
  }

  /// Evaluates, launches, and holds each number that was written against its bound.
  void expectLaunchWithinBounds() {
    ASSERT_EQ(run(), "");
    ASSERT_EQ(launch(), "");
    for (const Operand &operand : operands)
      if (operand.written)
        expectWithinBounds(operand.name);
  }

  /// Evaluates; the text of the error, or nothing.
  std::string run() {
    std::vector<fw_tensor> tensors = allTensors();
    size_t written = 0;
    for (const Operand &operand : operands)
      written += operand.written ? count(operand.shape) : 0;
    std::vector<fw_scalar> row = allScalars();
    Numbers values(written + 1), bounds(written + 1);
    if (fw_evaluate(request.get(), tensors.data(), tensors.size(), row.data(), row.size(),
                    values.data(), bounds.data()) != FW_OK)
      return api::lastError();
    size_t at = 0;
    for (Operand &operand : operands)
      if (operand.written) {
        const size_t n = count(operand.shape);
        results[operand.name] = {Numbers(&values[at], &values[at + n]),
                                 Numbers(&bounds[at], &bounds[at + n])};
        at += n;
      }
    return "";
  }

  const Numbers &values(const std::string &name) { return results.at(name).first; }
  const Numbers &bounds(const std::string &name) { return results.at(name).second; }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const Operand &operand : operands)
      out.push_back(operand.name);
    return out;
  }
  std::string dtypeOf(const std::string &name) { return find(name).dtype; }
  bool isWritten(const std::string &name) { return find(name).written; }
  /// The memory of another operand, at the same place.
  void alias(const std::string &name, const std::string &of) { find(name).aliasOf = of; }

  /// An operand's numbers as they lie in memory.
  Numbers stored(const std::string &name) {
    Operand &operand = find(find(name).aliasOf.empty() ? name : find(name).aliasOf);
    const fw::Dtype *real = fw::findDtype(operand.dtype);
    const size_t bytes = fw::storageBytes(operand.dtype);
    Numbers out;
    for (size_t i = 0; i < count(operand.shape); ++i) {
      uint64_t word = 0;
      std::memcpy(&word, operand.memory.data() + i * bytes, bytes);
      out.push_back(real ? fw::evaluator::decode(*real, word)
                         : double(fw::decodeInt(*fw::findIntDtype(operand.dtype), word)));
    }
    return out;
  }

private:
  struct Operand {
    std::string name, dtype, scope;
    bool written;
    Shape shape, strides;
    std::vector<std::byte> memory;
    std::string aliasOf = "";
  };

  void expectWithinBounds(const std::string &name) {
    const Numbers produced = stored(name);
    for (size_t i = 0; i < produced.size(); ++i) {
      const double value = values(name)[i], bound = bounds(name)[i];
      const bool isRight = std::isnan(produced[i]) ? std::isnan(value) || std::isinf(bound)
                                                   : std::isinf(bound) || produced[i] == value ||
                                                         std::abs(produced[i] - value) <= bound;
      EXPECT_TRUE(isRight) << name << "[" << i << "]: " << produced[i] << " is not " << value
                           << " +- " << bound;
      if (!isRight)
        return;
    }
  }

  /// Memory of a CUDA device for each operand that has its own.
  using Mirror = std::map<std::string, api::Buffer>;

  void copyIn(Mirror &mirror, std::vector<fw_tensor> &tensors) {
    for (size_t k = 0; k < operands.size(); ++k) {
      fw_tensor &tensor = tensors[k];
      tensor.device = FW_DEVICE_CUDA;
      const std::string &name =
          operands[k].aliasOf.empty() ? operands[k].name : operands[k].aliasOf;
      const Operand &owner = find(name);
      if (owner.memory.empty())
        continue;
      const size_t before = shifted * fw::storageBytes(owner.dtype);
      if (!mirror[name]) {
        mirror[name] = api::make<api::Buffer>([&](fw_buffer **out) {
          return fw_buffer_create(context.get(), FW_DEVICE_CUDA, 0, before + owner.memory.size(),
                                  out);
        });
        EXPECT_EQ(fw_buffer_copy_in(mirror[name].get(), before, owner.memory.data(),
                                    owner.memory.size(), nullptr),
                  FW_OK);
      }
      tensor.data = static_cast<char *>(fw_buffer_data(mirror[name].get())) + before;
    }
  }

  void copyOut(const Mirror &mirror) {
    for (const auto &[name, buffer] : mirror) {
      Operand &owner = find(name);
      EXPECT_EQ(fw_buffer_copy_out(buffer.get(), shifted * fw::storageBytes(owner.dtype),
                                   owner.memory.data(), owner.memory.size(), nullptr),
                FW_OK)
          << api::lastError();
    }
  }

  std::vector<fw_tensor> allTensors() {
    std::vector<fw_tensor> tensors;
    for (Operand &operand : operands) {
      fw_tensor tensor = {};
      tensor.struct_size = sizeof tensor;
      tensor.device = FW_DEVICE_CPU;
      tensor.dtype = operand.dtype.c_str();
      tensor.rank = int32_t(operand.shape.size());
      tensor.shape = operand.shape.data();
      tensor.strides = operand.strides.empty() ? nullptr : operand.strides.data();
      Operand &memory = operand.aliasOf.empty() ? operand : find(operand.aliasOf);
      tensor.data = memory.memory.empty() ? nullptr : memory.memory.data();
      tensors.push_back(tensor);
    }
    return tensors;
  }

  std::vector<fw_scalar> allScalars() const {
    std::vector<fw_scalar> row;
    for (auto &[name, value] : scalars)
      row.push_back(api::scalar(name.c_str(), value));
    return row;
  }

  Operand &find(const std::string &name) {
    for (Operand &operand : operands)
      if (operand.name == name)
        return operand;
    ADD_FAILURE() << "no operand " << name;
    return operands.front();
  }

  api::Context context;
  api::Op op;
  api::Request request;
  std::vector<Operand> operands;
  size_t shifted = 0; ///< elements
  std::map<std::string, double> scalars;
  std::map<std::string, std::pair<Numbers, Numbers>> results;
};

/// Numbers that are neither ordered nor symmetric.
inline Numbers wavy(size_t n, double phase = 0, double scale = 1) {
  Numbers out;
  for (size_t i = 0; i < n; ++i)
    out.push_back(scale * (std::sin(1.7 * double(i) + phase) + 0.25 * std::cos(0.31 * double(i))));
  return out;
}

/// The value is that of the closed form in double, up to double's own roundings, and the bound is
/// one that a sum of `terms` f32 numbers can have.
inline void expectClosedForm(Evaluated &op, const std::string &name, const Numbers &expected,
                             double widest = 1e-3) {
  const Numbers &values = op.values(name), &bounds = op.bounds(name);
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << name << "[" << i << "]";
      continue;
    }
    EXPECT_NEAR(values[i], expected[i], 1e-11 * (1 + std::abs(expected[i])))
        << name << "[" << i << "]";
    EXPECT_LE(bounds[i], widest * (1 + std::abs(expected[i]))) << name << "[" << i << "]";
  }
}

/// What arithmetic in f32 gives lies within the bounds.
inline void expectWithin(Evaluated &op, const std::string &name, const Numbers &produced) {
  const Numbers &values = op.values(name), &bounds = op.bounds(name);
  ASSERT_EQ(values.size(), produced.size());
  for (size_t i = 0; i < produced.size(); ++i)
    EXPECT_TRUE(produced[i] == values[i] || std::abs(produced[i] - values[i]) <= bounds[i])
        << name << "[" << i << "]: " << produced[i] << " is not " << values[i] << " +- "
        << bounds[i];
}

} // namespace axes
