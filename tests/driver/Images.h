// Images that the fake driver loads: a few headers and symbols, no code.
#pragma once

#include <string>
#include <vector>

namespace fw::driver {

/// An ELF file with kernels and, beside them, a device function `helper`. CUDA 13 writes the arch
/// to another place than CUDA 12 did.
std::string cubin(int arch, const std::vector<std::string> &kernels, bool isOfCuda12 = false);

std::string ptx(const std::string &target, const std::string &version,
                const std::vector<std::string> &kernels);

} // namespace fw::driver
