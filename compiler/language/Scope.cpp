#include "compiler/language/Scope.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace fw::language {

Scope Scope::axes(Divisors divisors) {
  bool none = std::all_of(divisors.begin(), divisors.end(), [](uint32_t d) { return d == 0; });
  if (none)
    return tensor();
  Scope out(Level::Axes);
  out.kept = std::move(divisors);
  return out;
}

bool Scope::isElement() const {
  return rank == Level::Axes &&
         std::all_of(kept.begin(), kept.end(), [](uint32_t d) { return d == 1; });
}

Scope Scope::join(const Scope &a, const Scope &b) {
  if (a.isUniform() || b.isUniform())
    return a.rank < b.rank ? b : a;
  assert(a.kept.size() == b.kept.size() && "scopes of different ops");
  // gcd(0, d) = d, and one value per 4 and one per 6 places are both constant on 2 places.
  Scope out(Level::Axes);
  for (size_t i = 0; i < a.kept.size(); ++i)
    out.kept.push_back(std::gcd(a.kept[i], b.kept[i]));
  return out;
}

std::string Scope::print(const std::vector<std::string> &axisNames) const {
  static constexpr const char *names[] = {"const", "launch", "all", "parameters", "tensor"};
  if (isUniform())
    return names[static_cast<size_t>(rank)];
  if (isElement())
    return "element";
  std::string out;
  size_t count = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] == 0)
      continue;
    out += (count++ ? ", " : "") + axisNames[i];
    if (kept[i] > 1)
      out += "/" + std::to_string(kept[i]);
  }
  return count == 1 && out.find('/') == std::string::npos ? out : "[" + out + "]";
}

} // namespace fw::language
