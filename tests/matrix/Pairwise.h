// Pairwise selection: a few rows in which every pair of values of any two factors occurs.
#pragma once

#include <span>
#include <vector>

namespace fw::matrix {

/// `levels[f]` is the number of values of factor f (at least 1). Every row has one value per
/// factor. Deterministic. Greedy: about the product of the two largest factors, plus a few rows.
std::vector<std::vector<unsigned>> pairwise(std::span<const unsigned> levels);

} // namespace fw::matrix
