// Where a request stands in the cache, for `fusewright cache explain`.
#pragma once

#include "compiler/Builder.h"

namespace fw {

/// Looks on disk, and lowers a request whose record is missing; compiles nothing.
Result<Standing> standingOf(Builder &builder, const Subject &subject,
                            const ResolvedRequest &request);

} // namespace fw
