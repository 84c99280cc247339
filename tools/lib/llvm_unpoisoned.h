// Included first by a build with AddressSanitizer (tools/test). LLVM's allocators are inline: in
// our sanitized files they would poison memory that the packaged archives, not sanitized, hand out
// without unpoisoning it. Who poisons on purpose, as the guards of tools/verify do, calls the
// function by another name.
#pragma once

#include <sanitizer/asan_interface.h>

#define __asan_poison_memory_region(address, size) ((void)(address), (void)(size))
