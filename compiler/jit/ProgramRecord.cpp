#include "compiler/jit/ProgramRecord.h"

#include "compiler/jit/Hash.h"

#include <nlohmann/json.hpp>

#include <bit>

namespace fw::jit {
namespace {

using nlohmann::json;

/// Far more than a record needs; bounds what a damaged file can make the parser do.
constexpr size_t maxDepth = 8, maxBytes = 1 << 20;

/// nlohmann's parser recurses per nesting level, so the level is bounded here and not by the stack.
class BoundedReader : public nlohmann::detail::json_sax_dom_parser<json> {
  using Base = nlohmann::detail::json_sax_dom_parser<json>;

public:
  explicit BoundedReader(json &root) : Base(root, /*allow_exceptions=*/false) {}
  bool start_object(size_t size) { return ++depth <= maxDepth && Base::start_object(size); }
  bool start_array(size_t size) { return ++depth <= maxDepth && Base::start_array(size); }
  bool end_object() { return --depth, Base::end_object(); }
  bool end_array() { return --depth, Base::end_array(); }

private:
  size_t depth = 0;
};

Error damaged(const std::string &what) {
  return {.code = Code::CACHE,
          .text = "expected a record of format " + std::to_string(recordFormat) + ", got " + what,
          .remedy = "the entry is made anew"};
}

// One list of fields per struct serves both directions. `Archive` is Writer or Reader.

class Writer {
public:
  template <class T> void field(const char *name, const T &value) { object[name] = put(value); }
  template <class T> void list(const char *name, const std::vector<T> &values) {
    json array = json::array();
    for (const T &value : values) {
      Writer inner;
      fields(inner, const_cast<T &>(value)); // a writer only reads
      array.push_back(std::move(inner.object));
    }
    object[name] = std::move(array);
  }
  template <class T> void part(const char *name, T &value) {
    Writer inner;
    fields(inner, value);
    object[name] = std::move(inner.object);
  }
  json object = json::object();

private:
  template <class T> static json put(const T &value) { return value; }
};

/// Throws json::exception or std::runtime_error on anything unexpected; decode() catches.
class Reader {
public:
  explicit Reader(const json &object) : object(object) {}
  template <class T> void field(const char *name, T &value) { value = take<T>(object.at(name)); }
  template <class T> void list(const char *name, std::vector<T> &values) {
    for (const json &element : array(name)) {
      Reader inner(element);
      fields(inner, values.emplace_back());
    }
  }
  template <class T> void part(const char *name, T &value) {
    Reader inner(object.at(name));
    fields(inner, value);
  }

private:
  const json &array(const char *name) const {
    const json &found = object.at(name);
    if (!found.is_array())
      throw std::runtime_error(std::string(name) + " that is no list");
    return found;
  }

  // json's own conversions truncate integers and accept booleans as numbers.
  template <class T> static T take(const json &value) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>)
      return value.get<T>();
    else if constexpr (std::is_integral_v<T>)
      return integer<T>(value);
    else if constexpr (std::is_floating_point_v<T>)
      return value.is_number() ? value.get<T>() : throw std::runtime_error("no number");
    else
      return elements<T>(value);
  }
  template <class T> static T integer(const json &value) {
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX)))
      throw std::runtime_error("no whole number");
    int64_t number = value.get<int64_t>();
    if (number < int64_t(std::numeric_limits<T>::min()) ||
        number > int64_t(std::numeric_limits<T>::max()))
      throw std::runtime_error("a number out of range");
    return T(number);
  }
  template <class T> static T elements(const json &value) {
    if (!value.is_array())
      throw std::runtime_error("no list");
    T values;
    for (const json &element : value)
      values.push_back(take<typename T::value_type>(element));
    return values;
  }

  const json &object;
};

template <class A> void fields(A &archive, LaunchRecord &r) {
  archive.field("symbol", r.symbol);
  archive.field("pattern", r.pattern);
  archive.field("skeleton", r.skeleton);
  archive.field("schedule", r.schedule);
  archive.field("grid", r.gridRule);
  archive.field("threads", r.threads);
  archive.field("cluster", r.cluster);
  archive.field("shared", r.sharedBytes);
  archive.field("chunk", r.chunk);
  archive.field("vec", r.vec);
  archive.field("slots", r.slots);
  archive.field("real", r.real);
  archive.field("workspace", r.workspaceBytes);
  archive.field("parameters", r.parameters);
  archive.field("operands", r.operands);
  archive.field("registers", r.registers);
  archive.field("spills", r.spillBytes);
  archive.field("stack", r.stackBytes);
}

template <class A> void fields(A &archive, KernelRecord &r) {
  archive.part("launch", r.launch);
  archive.field("key", r.key);
}

template <class A> void fields(A &archive, OperandRecord &r) {
  archive.field("name", r.name);
  archive.field("role", r.role);
  archive.field("dtype", r.dtype);
  archive.field("axes", r.axes);
  archive.field("read", r.read);
  archive.field("written", r.written);
  archive.field("optional", r.optional);
  archive.field("present", r.present);
  archive.field("neutral", r.neutral);
}

template <class A> void fields(A &archive, HyperRecord &r) {
  archive.field("name", r.name);
  archive.field("type", r.type);
  archive.field("default", r.fallback);
  archive.field("low", r.low);
  archive.field("high", r.high);
  archive.field("low_open", r.lowOpen);
  archive.field("high_open", r.highOpen);
}

template <class A> void fields(A &archive, BufferRecord &r) {
  archive.field("name", r.name);
  archive.field("dtype", r.dtype);
  archive.field("size", r.sizeRule);
}

template <class A> void fields(A &archive, ExchangeRecord &r) {
  archive.field("buffer", r.buffer);
  archive.field("kind", r.kind);
  archive.field("after", r.afterKernel);
}

// Operations become two lists: names, which stay the same when the table grows, and three operands
// for each.
void fields(Writer &archive, ScalarProgram &r) {
  std::vector<std::string> names, inputKinds;
  std::vector<uint32_t> operands, inputIndices;
  for (const ScalarInput &input : r.inputs) {
    inputKinds.push_back(input.kind == ScalarInput::Kind::Step ? "step" : "hyper");
    inputIndices.push_back(input.index);
  }
  for (const ScalarOperation &op : r.operations) {
    names.push_back(scalarName(op.code));
    operands.insert(operands.end(), {op.a, op.b, op.c});
  }
  archive.field("kinds", inputKinds);
  archive.field("indices", inputIndices);
  archive.field("constants", r.constants);
  archive.field("names", names);
  archive.field("operands", operands);
  archive.field("slots", r.slots);
  archive.field("labels", r.labels);
}

void fields(Reader &archive, ScalarProgram &r) {
  std::vector<std::string> names, inputKinds;
  std::vector<uint32_t> operands, inputIndices;
  archive.field("kinds", inputKinds);
  archive.field("indices", inputIndices);
  archive.field("constants", r.constants);
  archive.field("names", names);
  archive.field("operands", operands);
  archive.field("slots", r.slots);
  archive.field("labels", r.labels);
  if (inputKinds.size() != inputIndices.size() || operands.size() != 3 * names.size())
    throw std::runtime_error("lists of different length");
  for (size_t i = 0; i < inputKinds.size(); ++i) {
    if (inputKinds[i] != "step" && inputKinds[i] != "hyper")
      throw std::runtime_error("an input of kind '" + inputKinds[i] + "'");
    bool step = inputKinds[i] == "step";
    r.inputs.push_back(
        {step ? ScalarInput::Kind::Step : ScalarInput::Kind::Hyper, inputIndices[i]});
  }
  for (size_t i = 0; i < names.size(); ++i) {
    std::optional<ScalarCode> code = findScalarCode(names[i]);
    if (!code)
      throw std::runtime_error("an unknown operation '" + names[i] + "'");
    r.operations.push_back({*code, operands[3 * i], operands[3 * i + 1], operands[3 * i + 2]});
  }
}

template <class A> void fields(A &archive, ProgramRecord &r) {
  archive.field("op", r.op);
  archive.field("op_hash", r.opHash);
  archive.field("target", r.target);
  archive.field("mode", r.mode);
  archive.list("kernels", r.kernels);
  archive.list("operands", r.operands);
  archive.list("hypers", r.hypers);
  archive.list("buffers", r.buffers);
  archive.list("exchanges", r.exchanges);
  archive.part("scalars", r.scalars);
  archive.field("uses_step", r.usesStep);
}

template <class T> std::string encodeRecord(const T &record) {
  Writer writer;
  int format = recordFormat;
  writer.field("format", format);
  fields(writer, const_cast<T &>(record)); // a writer only reads
  std::string bytes;
  json::to_cbor(writer.object, nlohmann::detail::output_adapter<char>(bytes));
  return bytes;
}

template <class T> Result<T> decodeRecord(std::string_view bytes) {
  if (bytes.size() > maxBytes)
    return damaged(std::to_string(bytes.size()) + " bytes");
  try {
    json root;
    BoundedReader parser(root);
    if (!json::sax_parse(bytes, &parser, json::input_format_t::cbor))
      return damaged("bytes that are not CBOR");
    Reader reader(root);
    int format = 0;
    reader.field("format", format);
    if (format != recordFormat)
      return damaged("format " + std::to_string(format));
    T record;
    fields(reader, record);
    return record;
  } catch (const json::exception &fault) {
    return damaged(std::string("a field that is missing or of another type (") + fault.what() +
                   ")");
  } catch (const std::runtime_error &fault) {
    return damaged(fault.what());
  }
}

/// Places that refer to other tables of the record.
Result<void> checkPlaces(const ProgramRecord &record) {
  for (const KernelRecord &kernel : record.kernels) {
    if (!isKey(kernel.key))
      return damaged("a kernel without a key");
    for (uint32_t operand : kernel.launch.operands)
      if (operand >= record.operands.size())
        return damaged("a kernel operand out of range");
    if (kernel.launch.slots < 0 || size_t(kernel.launch.slots) > record.scalars.slots.size())
      return damaged("a kernel with more scalars than the scalar program has");
  }
  for (const ScalarInput &input : record.scalars.inputs)
    if (input.kind == ScalarInput::Kind::Hyper && input.index >= record.hypers.size())
      return damaged("a scalar input out of range");
  for (const ExchangeRecord &exchange : record.exchanges)
    if (exchange.afterKernel >= record.kernels.size())
      return damaged("an exchange out of range");
  return check(record.scalars);
}

} // namespace

std::string encode(const ProgramRecord &record) { return encodeRecord(record); }
std::string encode(const LaunchRecord &record) { return encodeRecord(record); }

Result<LaunchRecord> decodeLaunchRecord(std::string_view bytes) {
  return decodeRecord<LaunchRecord>(bytes);
}

Result<ProgramRecord> decodeProgramRecord(std::string_view bytes) {
  Result<ProgramRecord> record = decodeRecord<ProgramRecord>(bytes);
  if (!record)
    return record;
  if (Result<void> sound = checkPlaces(*record); !sound)
    return sound.takeError();
  return record;
}

} // namespace fw::jit
