// Kernels that belong to no op: a plan launches them beside those of its programs.
#pragma once

#include "compiler/Builder.h"

#include <string>

namespace fw {

/// The kernel `fw_scalars`, which computes scalar programs on the device: templates/scalars.
Subject scalarsSubject(const std::string &target);
/// USAGE for a target that is no GPU arch.
Result<Lowered> lowerScalars(const std::string &target);

} // namespace fw
