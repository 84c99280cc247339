// How two numbers stand to each other; a comparison accepts some of the four.
#pragma once

namespace fw::evaluator {

inline constexpr unsigned LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8;

template <class T> unsigned relation(T a, T b) {
  return a < b ? LESS : a > b ? GREATER : a == b ? EQUAL : UNORDERED;
}

} // namespace fw::evaluator
