// Which emitted file is which program's. Written by write_suite_kernels.
#pragma once

struct TwinName {
  const char *program, *target, *file;
};

/// Ends with a row without names.
extern const TwinName twinNames[];
