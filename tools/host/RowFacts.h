// Which facts launches of an op over rows on a GPU come with.
#pragma once

#include "compiler/Request.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fw::host {

using Facts = std::map<std::string, int64_t>;

/// Over rows or other axes: its tensors have widths.
bool isOverAxes(const ResolvedRequest &request);

/// What tensors in rows of `width` elements may come with, from dense ones on boundaries of 16
/// bytes, where rows of that width can stand there, to views that begin anywhere. Width 0: any.
std::vector<Facts> factsOfWidth(const ResolvedRequest &request, int64_t width);

/// Of dense tensors that begin on boundaries.
Facts factsOfDense(const ResolvedRequest &request, int64_t width);

} // namespace fw::host
