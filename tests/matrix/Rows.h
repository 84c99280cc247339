// The rows of the kernel matrix: requests that together have every pair of (op, option values,
// operand dtypes, features, arch).
#pragma once

#include "compiler/Request.h"

#include <span>
#include <string>
#include <vector>

namespace fw::matrix {

/// Pairwise over each shipped op, and an op of bools for each arch (nothing where `archs` is
/// empty), plus every shipped profile for `profileArch`. Deterministic.
Result<std::vector<Request>> matrixRows(std::span<const std::string> archs,
                                        const std::string &profileArch);

/// "adamw_017 sm_90 p=f32 ...": unique within a list of rows.
std::string rowName(const Request &request, size_t number);

/// The file of kernel `kernel` of the row called `row`.
std::string kernelFile(const std::string &row, size_t kernel);

} // namespace fw::matrix
