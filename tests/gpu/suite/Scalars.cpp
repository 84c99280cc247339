#include "tests/gpu/suite/Arena.h"

#include <algorithm>

namespace suite {

Scalars::Scalars(const Scalars &other) {
  for (const auto &item : other.items)
    items.push_back(std::make_unique<Item>(*item));
}

Scalars::Item &Scalars::item(const std::string &name) {
  auto known = std::ranges::find_if(items, [&](auto &item) { return item->name == name; });
  if (known == items.end())
    known = items.insert(items.end(), std::make_unique<Item>());
  **known = {};
  (*known)->name = name;
  return **known;
}

Scalars &Scalars::set(const std::string &name, double value) {
  item(name).value = value;
  return *this;
}

Scalars &Scalars::set(const std::string &name, std::vector<double> values) {
  item(name).values = std::move(values);
  return *this;
}

Scalars &Scalars::setData(const std::string &name, void *data, const char *dtype, size_t count,
                          bool advance) {
  Item &changed = item(name);
  changed.data = data;
  changed.dtype = dtype;
  changed.count = count;
  changed.advance = advance;
  return *this;
}

const std::vector<fw_scalar> &Scalars::array() const {
  built.clear();
  for (const auto &item : items) {
    fw_scalar scalar = {};
    scalar.struct_size = sizeof scalar;
    scalar.name = item->name.c_str();
    scalar.value = item->value;
    scalar.values = item->values.empty() ? nullptr : item->values.data();
    scalar.count = item->data ? item->count : item->values.size();
    scalar.data = item->data;
    scalar.dtype = item->data ? item->dtype.c_str() : nullptr;
    scalar.advance = item->advance;
    built.push_back(scalar);
  }
  return built;
}

Scalars unusualScalars(const Kernel &kernel) {
  Scalars scalars;
  double next = 0.25;
  for (const ScalarInfo &info : kernel.scalars) {
    if (info.isStep)
      continue;
    if (info.kind == "bool")
      scalars.set(info.name, info.value == 0 ? 1 : 0);
    else if (info.kind == "int")
      scalars.set(info.name, info.value + 1);
    else if (info.name.starts_with("beta"))
      scalars.set(info.name, 1 - (1 - info.value) * 1.5);
    else
      scalars.set(info.name, info.value * 1.25 + (next *= 0.5));
  }
  return scalars;
}

} // namespace suite
