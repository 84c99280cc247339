#include "tools/bench/TensorLists.h"

#include "tools/bench/Embedded.h"

#include <algorithm>
#include <charconv>

namespace fw::bench {

namespace {

std::vector<std::string> split(const std::string &text, char at) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

TensorList model(const std::string &name) {
  TensorList list{name, {}};
  for (const auto &tensor : embedded("models.json").at(name).at("tensors"))
    list.shapes.push_back(tensor.at(1).get<std::vector<int64_t>>());
  return list;
}

// More than anybody has.
constexpr int64_t mostElements = int64_t(1) << 40, mostTensors = 1'000'000;

Error notAList(const std::string &part) {
  std::string known;
  for (const std::string &name : modelNames())
    known += name + ", ";
  return {Code::USAGE,
          "--tensors: expected " + known + "or sizes such as 4096,1000x64, got '" + part + "'",
          "give names of models alone, or numbers of elements alone: at most " +
              std::to_string(mostTensors) + " tensors of at most " + std::to_string(mostElements) +
              " elements in a part"};
}

bool readNumber(const std::string &text, int64_t &number) {
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() && end == text.data() + text.size() && number >= 0 &&
         number <= mostElements;
}

/// Adds "64" or "1000x64".
bool addSizes(TensorList &list, const std::string &part) {
  std::vector<std::string> factors = split(part, 'x');
  int64_t count = 1, size = 0;
  if (factors.size() > 2 || !readNumber(factors.back(), size) ||
      (factors.size() == 2 && !readNumber(factors.front(), count)) || count > mostTensors)
    return false;
  list.shapes.insert(list.shapes.end(), size_t(count), {size});
  return true;
}

} // namespace

uint64_t elementsOf(const std::vector<int64_t> &shape) {
  uint64_t count = 1;
  for (int64_t size : shape)
    count *= uint64_t(size);
  return count;
}

uint64_t TensorList::elements() const {
  uint64_t count = 0;
  for (const auto &shape : shapes)
    count += elementsOf(shape);
  return count;
}

std::vector<std::string> modelNames() {
  std::vector<std::string> names;
  for (const auto &[name, model] : embedded("models.json").items())
    names.push_back(name);
  return names;
}

Result<std::vector<TensorList>> parseLists(const std::string &text) {
  const std::vector<std::string> known = modelNames();
  auto isModel = [&](const std::string &part) {
    return std::ranges::find(known, part) != known.end();
  };
  std::vector<TensorList> lists;
  std::vector<std::string> parts = split(text, ',');
  if (std::ranges::any_of(parts, isModel)) {
    for (const std::string &part : parts)
      if (isModel(part))
        lists.push_back(model(part));
      else
        return notAList(part);
    return lists;
  }
  lists.push_back({text, {}});
  for (const std::string &part : parts)
    if (!addSizes(lists.back(), part))
      return notAList(part);
  if (lists.back().elements() == 0)
    return Error{Code::USAGE, "--tensors: expected a list with elements, got '" + text + "'",
                 "name one size above 0, so that there is something to time"};
  return lists;
}

} // namespace fw::bench
